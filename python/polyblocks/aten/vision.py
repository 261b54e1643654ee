"""Operators of torchvision, taken apart; it is imported by who uses it."""

import torch

from ..errors import NotSupported


def places(start, size, bins, taps, extent):
    """Of each box, bin and tap along one dim: the two pixels between which it lies, and how much of each it takes, nothing outside of the image."""
    steps = (torch.arange(bins).view(-1, 1) + (torch.arange(taps) + 0.5) / taps) / bins
    at = start.view(-1, 1, 1) + steps.to(start.dtype) * size.view(-1, 1, 1)
    inside = ((at >= -1) & (at <= extent)).to(at.dtype)
    at = at.clamp(0, extent - 1)
    low = at.floor()
    high = (low + 1).clamp(max=extent - 1)
    return (low.long(), (1 - at + low) * inside), (high.long(), (at - low) * inside)


def roi_align(x, boxes, spatial_scale, pooled_height, pooled_width, sampling_ratio, aligned):
    """The mean of so many points in each bin of a box, each point between four pixels."""
    if sampling_ratio <= 0:
        raise NotSupported("torchvision.roi_align without a sampling_ratio: how many points a bin has only data say", None, "sampling_ratio=2, as detectors have it")
    boxes, offset = boxes.to(x.dtype), 0.5 if aligned else 0.0
    start, end = boxes[:, 1:3] * spatial_scale - offset, boxes[:, 3:5] * spatial_scale - offset
    size = end - start if aligned else (end - start).clamp(min=1)
    image = boxes[:, 0].long().view(-1, 1, 1, 1, 1)
    rows = places(start[:, 1], size[:, 1], pooled_height, sampling_ratio, x.shape[2])
    columns = places(start[:, 0], size[:, 0], pooled_width, sampling_ratio, x.shape[3])
    pixels, made = x.permute(0, 2, 3, 1), 0
    for row, by_row in rows:
        for column, by_column in columns:
            weight = by_row[:, :, :, None, None] * by_column[:, None, None, :, :]
            made = made + pixels[image, row[:, :, :, None, None], column[:, None, None, :, :]] * weight.unsqueeze(-1)
    return made.mean((2, 4)).permute(0, 3, 1, 2)


def of_torchvision():
    """What is taken apart of it, where it is there."""
    ops = torch.ops.torchvision
    return {ops.roi_align.default: roi_align} if hasattr(ops, "roi_align") else {}
