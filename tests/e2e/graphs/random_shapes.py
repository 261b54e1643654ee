"""What random graphs of either kind draw: images, windows, channels, and how large a graph may become."""

CHANNELS = [1, 1, 2, 3, 5, 7, 8, 12, 15, 16, 16, 17, 20, 24, 31, 32, 33, 40, 48, 64, 65, 80, 96]
WIDE = [127, 128, 129, 240, 255, 256, 257, 384, 511, 512, 640, 777, 960, 1000, 1023, 1024, 1280, 1537, 2047, 2048, 2049, 2050]
EXTENTS = [1, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 14, 16, 17, 23, 28]
ELEMENTS, MACS, WEIGHTS = 40_000, 3_000_000, 400_000  # of one tensor; of one operator


def product(numbers):
    result = 1
    for number in numbers:
        result *= number
    return result


class Shapes:
    """Draws from `rng` what is neither numbers nor operators."""

    def __init__(self, rng):
        self.rng = rng

    def chance(self, of):
        return self.rng.random() < of

    def channels(self):
        return self.rng.choice(WIDE if self.chance(0.08) else CHANNELS)

    def image(self):
        """[n, c, h, w]: any extents, 1 among them, but not too many elements."""
        while True:
            height = self.rng.choice(EXTENTS)
            width = height if self.chance(0.3) else self.rng.choice(EXTENTS)
            shape = self.rng.choice([1, 1, 1, 1, 2, 3]), self.channels(), height, width
            if product(shape) <= ELEMENTS // 2:
                return shape

    def pads(self, most):
        """In front and behind, at most `most` each: none, as many, on one side, any."""
        kind = self.rng.randrange(5)
        few = min(most, 4)
        if kind == 0 or not most:
            return 0, 0
        if kind == 1:
            return (most // 2,) * 2
        if kind == 2:
            return self.rng.randrange(1, few + 1), 0
        if kind == 3:
            return 0, self.rng.randrange(1, few + 1)
        return self.rng.randrange(few + 1), self.rng.randrange(few + 1)

    def axis(self, size, kernels, pool):
        """Kernel, stride, dilation and pads along one axis, so that there is a result; the window meets the image."""
        while True:
            kernel, stride = self.rng.choice(kernels), self.rng.choice([1, 1, 1, 1, 2, 2, 3, 4])
            dilation = self.rng.choice([1, 1, 1, 1, 2, 3])
            span = (kernel - 1) * dilation + 1
            front, behind = self.pads(kernel - 1 if pool else span - 1)
            if pool and dilation > size or size + front + behind < span:
                continue
            return kernel, stride, dilation, front, behind, (size + front + behind - span) // stride + 1

    def window(self, height, width, kernels=(1, 1, 2, 3, 3, 3, 4, 5, 7), pool=False, dilated=True):
        """kernel_shape and attributes over an image, and the image behind it."""
        down = self.axis(height, kernels, pool)
        across = down if height == width and self.chance(0.4) else self.axis(width, kernels, pool)
        kernel, strides, dilations, front, behind, after = zip(down, across)
        attrs = {"strides": list(strides), "pads": [*front, *behind]}
        if dilated:
            attrs["dilations"] = list(dilations)
        elif dilations != (1, 1):
            return self.window(height, width, kernels, pool, dilated)
        return kernel, attrs, after

    def groups(self, channels):
        """Outputs and groups of a convolution."""
        kind = self.rng.random()
        if kind < 0.15:
            return channels, channels
        if kind < 0.2:
            return channels * 2, channels
        divisors = [g for g in (2, 3, 4, 8, 16, 32) if channels % g == 0]
        if kind < 0.4 and divisors:
            group = self.rng.choice(divisors)
            return group * self.rng.choice([1, 2, 3, 4, 8]), group
        return self.channels(), 1

    def convolution(self, shape):
        """Outputs, groups, kernel and attributes of a convolution that is not too large."""
        batch, channels, height, width = shape
        while True:
            outputs, group = self.groups(channels)
            kernel, attrs, after = self.window(height, width)
            weights = outputs * channels // group * product(kernel)
            images = batch * product(after)
            if weights <= WEIGHTS and weights * images <= MACS and outputs * images <= ELEMENTS:
                return outputs, group, kernel, attrs

    def fits(self, shape):
        return product(shape) <= ELEMENTS

    def dense(self, inside):
        return self.rng.choice([n for n in (1, 3, 5, 10, 16, 37, 100, 1000) if n * inside <= WEIGHTS] or [1])
