"""Arguments that lie in one memory, of a call that writes one of them: a graph knows its tensors by name alone, so these are views of one
tensor in it, which is that memory."""

import torch

from .errors import ArgumentError


def span(tensor):
    """The bytes between a tensor's first element and its last."""
    first = tensor.data_ptr()
    return first, first + tensor.element_size() * (1 + sum((n - 1) * step for n, step in zip(tensor.shape, tensor.stride())))


class Memory:
    """What several leaves lie in; `views`: of each its number, extents, steps and where it begins."""

    def __init__(self, numbers, leaves):
        tensors = [leaves[k] for k in numbers]
        low, high = min(span(t)[0] for t in tensors), max(span(t)[1] for t in tensors)
        size = tensors[0].element_size()
        if any(t.dtype != tensors[0].dtype or (t.data_ptr() - low) % size for t in tensors):
            raise ArgumentError("arguments of two types lie in one memory that the call writes\n  hint: .clone() gives one of them a memory of its own")
        self.views = tuple((k, t.shape, t.stride(), (t.data_ptr() - low) // size) for k, t in zip(numbers, tensors))
        self.count, self.numbers = (high - low) // size, numbers

    def of(self, leaves):
        """All of it, as one row."""
        first, _, _, begin = self.views[0]
        tensor = leaves[first]
        try:
            return tensor.detach().as_strided((self.count,), (1,), tensor.storage_offset() - begin)
        except RuntimeError:
            raise ArgumentError("arguments lie in one memory that the call writes, and no tensor has all of it\n  hint: .clone()") from None


def shared(leaves, written):
    """Memories that two leaves or more lie in of which one is written."""
    spans = sorted((*span(leaf), k) for k, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor) and leaf.numel())
    groups, end = [], 0
    for low, high, k in spans:
        if low < end:
            groups[-1].append(k)
        else:
            groups.append([k])
        end = max(end, high)
    return [Memory(sorted(group), leaves) for group in groups if len(group) > 1 and not written.isdisjoint(group)]


def refuse_shared(leaves, written, held, held_written):
    """A tensor of the module's that an argument lies in, where either is written: nothing says that they are one."""
    for k, leaf in enumerate(leaves):
        if not isinstance(leaf, torch.Tensor) or not leaf.numel():
            continue
        low, high = span(leaf)
        for tensor in held if k in written else held_written:
            if tensor.numel():
                first, last = span(tensor)
                if first < high and low < last:
                    raise ArgumentError(
                        f"argument {k} lies in the memory of a tensor of {tuple(tensor.shape)} that is the module's or closed over, and the call writes "
                        "one of them\n  hint: .clone() gives it a memory of its own"
                    )
