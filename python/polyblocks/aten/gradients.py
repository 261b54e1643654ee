"""Gradients that PyTorch has as kernels alone, as functions of its own operators; and samples of volumes, as those of images."""

import math

import torch

aten = torch.ops.aten


# ---- samples at places of a grid ----


def cubic_slope(x, a=-0.75):
    near = ((a + 2) * 3 * x.abs() - 2 * (a + 3)) * x
    far = ((3 * a * x.abs() - 10 * a) * x.abs() + 8 * a) * x.sign()
    return torch.where(x.abs() <= 1, near, far)


def place_of(at, extent, align):
    """A coordinate of -1 to 1 as a place, and how fast that moves."""
    if align:
        return (at + 1) / 2 * (extent - 1), (extent - 1) / 2
    return ((at + 1) * extent - 1) / 2, extent / 2


def brought_inside(at, extent, padding, align):
    """Places beyond the ends as the padding has them (0 zeros, 1 border, 2 reflection), and their slopes."""
    slope = torch.ones_like(at)
    if padding == 2:
        low, span = (0.0, extent - 1.0) if align else (-0.5, float(extent))
        if span == 0:
            return torch.zeros_like(at), torch.zeros_like(at)
        far = (at - low).abs()
        turns, rest = (far / span).floor(), torch.fmod(far, span)
        slope = torch.where(at < low, -1.0, 1.0) * torch.where(turns % 2 == 0, 1.0, -1.0)
        at = torch.where(turns % 2 == 0, rest, span - rest) + low
    if padding:
        slope = slope * ((at > 0) & (at < extent - 1))
        at = at.clamp(0, extent - 1)
    return at, slope


def taps_along(at, extent, mode, padding, align):
    """Along one dim the neighbours of each place: where, whether there is one, by which weight, and the weight's slope."""
    place, speed = place_of(at, extent, align)
    speed = torch.full_like(place, speed)
    if mode != 2:
        place, slope = brought_inside(place, extent, padding, align)
        speed = speed * slope
    if mode == 1:
        low = place.round()
        taps = [(low, torch.ones_like(low), torch.zeros_like(low))]
    else:
        low = place.floor()
        far = place - low
        if mode == 0:
            taps = [(low, 1 - far, -speed), (low + 1, far, speed)]
        else:
            taps = [(low + k, cubic_weights(far - k), cubic_slope(far - k) * speed) for k in range(-1, 3)]
    made = []
    for where, weight, slope in taps:
        if mode == 2 and padding:
            where = brought_inside(where, extent, padding, align)[0].round()
        inside = (where >= 0) & (where <= extent - 1)
        made.append((where.clamp(0, extent - 1).to(torch.int64), inside, weight, slope))
    return made


def cubic_weights(x, a=-0.75):
    near = ((a + 2) * x.abs() - (a + 3)) * x * x + 1
    far = ((a * x.abs() - 5 * a) * x.abs() + 8 * a) * x.abs() - 4 * a
    return torch.where(x.abs() <= 1, near, far)


def corners(x, grid, mode, padding, align):
    """For each combination of neighbours: their places in a line of the image, and what is known of them by dim."""
    extents = x.shape[2:]
    taps = [taps_along(grid[..., len(extents) - 1 - d], n, mode, padding, align) for d, n in enumerate(extents)]
    parts = [[]]
    for of_dim in taps:
        parts = [part + [tap] for part in parts for tap in of_dim]
    for part in parts:
        place, inside = 0, True
        for (where, there, _, _), n in zip(part, extents):
            place, inside = place * n + where, there & inside
        yield place.flatten(1), inside, [tap[2] for tap in part], [tap[3] for tap in part]


def at_places(x, place, shape):
    line = x.flatten(2)
    return line.gather(2, place[:, None].expand(-1, x.shape[1], -1)).view(*x.shape[:2], *shape)


def grid_sampled(x, grid, mode, padding, align):
    y = 0
    for place, inside, weights, _ in corners(x, grid, mode, padding, align):
        y = y + at_places(x, place, grid.shape[1:-1]) * (math.prod(weights) * inside)[:, None]
    return y


def grid_gradients(gradient, x, grid, mode, padding, align, mask):
    of_x, of_grid = torch.zeros_like(x).flatten(2), [0] * grid.shape[-1]
    for place, inside, weights, slopes in corners(x, grid, mode, padding, align):
        share = gradient * (math.prod(weights) * inside)[:, None]
        of_x = of_x.scatter_add(2, place[:, None].expand(-1, x.shape[1], -1), share.flatten(2))
        value = (at_places(x, place, grid.shape[1:-1]) * gradient).sum(1) * inside
        for d, slope in enumerate(slopes):
            others = math.prod(w for k, w in enumerate(weights) if k != d)
            of_grid[len(slopes) - 1 - d] = of_grid[len(slopes) - 1 - d] + value * slope * others
    return of_x.view(x.shape) if mask[0] else None, torch.stack(of_grid, -1)


# ---- embeddings ----


def bags_of(indices, offsets):
    return (torch.arange(indices.shape[0])[:, None] >= offsets[None]).sum(1) - 1


def bag_gradient(gradient, indices, bags, sizes, maxima, count, by_frequency, mode, weights=None, padding_idx=-1):
    if mode == 2:  # to the rows that the maxima came from; bags of nothing have none
        shares = torch.where((sizes > 0)[:, None], gradient, 0.0)
        return gradient.new_zeros(count, gradient.shape[1]).scatter_add(0, torch.where((sizes > 0)[:, None], maxima, 0), shares)
    rows = gradient.index_select(0, bags)
    if mode == 1:
        rows = rows / sizes.index_select(0, bags).to(rows.dtype)[:, None]
    rows = rows if weights is None else rows * weights[:, None]
    return aten.embedding_dense_backward(rows, indices, count, padding_idx, by_frequency)


def bag_gradient_by_offsets(gradient, indices, offsets, bags, sizes, maxima, count, by_frequency, mode, sparse, weights=None, padding_idx=-1):
    if sparse:
        return NotImplemented
    bags = bags if bags.shape[0] else bags_of(indices, offsets)
    return bag_gradient(gradient, indices, bags, sizes, maxima, count, by_frequency, mode, weights, padding_idx)


def bag_weights_gradient(gradient, table, indices, offsets, bags, mode, padding_idx=-1):
    bags = bags if bags.shape[0] else bags_of(indices, offsets)
    made = (gradient.index_select(0, bags) * table.index_select(0, indices)).sum(1)
    return made if padding_idx < 0 else made * (indices != padding_idx)


# ---- distances and norms ----


def pair_distance_gradient(gradient, x, p, distance):
    """Of the distances of a row's to those behind it, as of a matrix of distances."""
    n = x.shape[0]
    first, second = torch.triu_indices(n, n, 1).unbind(0)
    whole = torch.zeros(2, n, n, dtype=x.dtype)
    slopes = whole[0].index_put((first, second), gradient).index_put((second, first), gradient)
    far = whole[1].index_put((first, second), distance).index_put((second, first), distance)
    return distance_gradient(slopes, x, x, p, far)


def distance_gradient(gradient, x, y, p, distance):
    far, gradient = x.unsqueeze(-2) - y.unsqueeze(-3), gradient.unsqueeze(-1)
    distance = distance.unsqueeze(-1)
    if p == 0:
        return torch.zeros_like(x)
    if p == 1:
        made = gradient * far.sign()
    elif p == math.inf:
        made = gradient * far.sign() * (far.abs() == distance)
    else:
        by = far if p == 2 else far.sign() * far.abs().pow(p - 1)
        made = torch.where(distance == 0, 0.0, gradient * by / torch.where(distance == 0, 1.0, distance).pow(p - 1))
        made = torch.where(far == 0, 0.0, made) if p < 2 else made
    return made.sum(-2)


def weight_norm_gradients(gradient, v, g, norms, dim):
    rest = [d for d in range(v.dim()) if d != dim]
    along = (gradient * v).sum(rest, keepdim=True)
    norms = norms.to(g.dtype).view(g.shape)
    return g / norms * (gradient - v * along / (norms * norms)), along / norms


# ---- pads, masks, pools ----


def replicated_gradient(gradient, x, padding):
    """What stands for an end goes back to it."""
    for k in range(len(padding) // 2):
        dim, n = x.dim() - 1 - k, x.shape[x.dim() - 1 - k]
        low, high = padding[2 * k : 2 * k + 2]
        if low < 0 or high < 0:  # cut off
            gradient = aten.constant_pad_nd(gradient, [0, 0] * k + [max(0, -low), max(0, -high)])
            low, high = max(0, low), max(0, high)
        if n == 1:
            gradient = gradient.sum(dim, keepdim=True)
            continue
        first, last = gradient.narrow(dim, 0, low + 1), gradient.narrow(dim, low + n - 1, high + 1)
        gradient = torch.cat([first.sum(dim, keepdim=True), gradient.narrow(dim, low + 1, n - 2), last.sum(dim, keepdim=True)], dim)
    return gradient


def masked_scatter_gradient(gradient, mask, sizes):
    count = math.prod(sizes)
    mask = mask.expand(gradient.shape).flatten()
    at = (mask.to(torch.int64).cumsum(0) - 1).clamp(0, max(0, count - 1))
    return gradient.new_zeros(count).index_add(0, at, gradient.flatten() * mask).view(sizes)


def adaptive_maxima(x, out):
    """The greatest of each share of an image, and where it is: shares are filled up by their own last elements."""
    spatial = len(out)
    front, extents = x.shape[: x.dim() - spatial], x.shape[x.dim() - spatial :]
    y, places, rank = x, torch.zeros((), dtype=torch.int64), len(front)
    for d, (n, o) in enumerate(zip(extents, out)):
        number = torch.arange(o)
        starts, ends = number * n // o, ((number + 1) * n + o - 1) // o
        most = max(-(-(k + 1) * n // o) - k * n // o for k in range(o))
        table = torch.minimum(starts[:, None] + torch.arange(most), ends[:, None] - 1)
        y = y.index_select(rank + 2 * d, table.flatten()).unflatten(rank + 2 * d, (o, most))
        places = places[..., None, None] * n + table
    order = [2 * d for d in range(spatial)] + [2 * d + 1 for d in range(spatial)]
    y = y.permute(*range(rank), *[rank + k for k in order]).flatten(rank + spatial)
    places = places.permute(order).flatten(spatial)
    values, at = y.max(-1)
    return values, places.expand(y.shape).gather(-1, at.unsqueeze(-1)).squeeze(-1)


def maxima_gradient(spatial):
    def gradient_of(gradient, x, places):
        front = x.dim() - spatial
        return torch.zeros_like(x).flatten(front).scatter_add(-1, places.flatten(front), gradient.flatten(front)).view(x.shape)

    return gradient_of


GRADIENTS = {
    aten.grid_sampler_2d_backward.default: grid_gradients,
    aten.grid_sampler_3d_backward.default: grid_gradients,
    aten.grid_sampler_3d.default: grid_sampled,
    aten._embedding_bag_backward.default: bag_gradient_by_offsets,
    aten._embedding_bag_dense_backward.default: bag_gradient,
    aten._embedding_bag_per_sample_weights_backward.default: bag_weights_gradient,
    aten._cdist_backward.default: distance_gradient,
    aten._pdist_backward.default: pair_distance_gradient,
    aten._weight_norm_interface_backward.default: weight_norm_gradients,
    aten.replication_pad1d_backward.default: replicated_gradient,
    aten.replication_pad2d_backward.default: replicated_gradient,
    aten.replication_pad3d_backward.default: replicated_gradient,
    aten.masked_scatter_backward.default: masked_scatter_gradient,
    aten.adaptive_max_pool2d.default: adaptive_maxima,
    aten.adaptive_max_pool3d.default: adaptive_maxima,
    aten.adaptive_max_pool2d_backward.default: maxima_gradient(2),
    aten.adaptive_max_pool3d_backward.default: maxima_gradient(3),
}
