"""Models that once went wrong, found by random graphs of operators in every form; regressions.py runs them."""

import numpy as np
from onnx import TensorProto, helper
from regression_cases import CASES, F32, I8, I64, Maker, case

CORES = ("cpu:v3", "cpu:avx512")


def drawn(m, *shape):
    return m.rng.standard_normal(shape).astype(F32)


def reshaped_output(shape, to):
    """An output in another shape, whose dims have no borders in common with what was computed: it was read beyond a dim."""
    label = "reshaped_output_" + "x".join(map(str, shape)) + "_to_" + "x".join(map(str, to))
    m = Maker(label)
    x = m.input("x", *shape)
    return m.done(m.op("Reshape", x, m.const(np.array(to, I64))),
                  m.op("Reshape", m.op("Sin", x), m.const(np.array(to, I64))), targets=CORES, bisect=True)


@case
def reshaped_output_2x8_to_8x2():
    return reshaped_output((2, 8), (8, 2))


@case
def reshaped_output_4x6_to_2x3x4():
    return reshaped_output((4, 6), (2, 3, 4))


@case
def reshaped_output_of_a_product():
    """Behind a copy that other passes took for the output's own, half of it was never written."""
    m = Maker("reshaped_output_of_a_product", 18)
    sums = m.op("ReduceSum", m.input("x", 2, 3, 7, 1, 13), m.const(np.array([4, -5, 3, 1], I64)), keepdims=0)
    product = m.op("MatMul", m.const(drawn(m, 2, 8, 7)), m.op("ReduceMax", sums, noop_with_empty_axes=1))
    return m.done(m.op("Reshape", product, m.const(np.array([8, 2], I64))), targets=CORES, bisect=True)


@case
def bias_of_runs():
    """Lanes over two channels of an image of half a register: both had the first one's bias."""
    m = Maker("bias_of_runs")
    y = m.op("Conv", m.input("x", 2, 48, 4, 4), m.const(drawn(m, 2, 24, 1, 5)), m.const(drawn(m, 2)), group=2, pads=[0, 2, 0, 2],
             strides=[3, 1])
    return m.done(m.op("MatMul", m.op("Flatten", y), m.const(drawn(m, 16, 3))), targets=CORES, bisect=True)


@case
def bias_of_runs_of_two():
    m = Maker("bias_of_runs_of_two")
    x = m.op("Conv", m.input("x", 7, 4, 2), m.const(drawn(m, 8, 1, 3)), m.const(drawn(m, 8)), group=4, pads=[2, 0])
    return m.done(x, targets=CORES, bisect=True)


@case
def one_value_of_two_names():
    """The output t1 went by the name of what moves nothing behind it."""
    m = Maker("one_value_of_two_names")
    x = m.op("Reshape", m.op("Relu", m.input("x", 1, 18, 28)), m.const(np.array([2, 252], I64)))
    return m.done(x, m.op("Sin", m.op("Tile", x, m.const(np.array([1, 1], I64)))), targets=CORES)


@case
def two_outputs_of_one_value():
    m = Maker("two_outputs_of_one_value")
    x = m.op("Reshape", m.op("Relu", m.input("x", 1, 18, 28)), m.const(np.array([2, 252], I64)))
    return m.done(x, m.op("Tile", x, m.const(np.array([1, 1], I64))), targets=CORES)


def larger_window(kind, shape, **attrs):
    """A window that is larger than the padded image, and where the number of windows is rounded up there is one."""
    m = Maker(f"larger_window_{kind}_{len(shape)}", 18)
    window = [3, 2][: len(shape) - 2] + [1] * (len(shape) - 4)
    x = m.op(kind, m.input("x", *shape), kernel_shape=window, strides=window, ceil_mode=1, **attrs)
    return m.done(x, targets=CORES, bisect=True)


def larger_window_of_codes(kind):
    m = Maker(f"larger_window_of_codes_{kind}")
    x = m.codes(m.input("x", 2, 20, 2, 1), F32(0.05))
    return m.done(m.codes(m.op(kind, x, kernel_shape=[3, 2], strides=[3, 2], ceil_mode=1), F32(0.05)), step=0.05,
                  targets=("cpu:v3", "cpu:avx512", "simnpu"), bisect=True)


for kind in "MaxPool", "AveragePool":
    CASES[f"larger_window_of_codes_{kind}"] = lambda kind=kind: larger_window_of_codes(kind)
for kind, attrs in (("MaxPool", {}), ("AveragePool", {}), ("AveragePool", {"count_include_pad": 1}), ("LpPool", {})):
    for shape in ((2, 3, 2), (2, 3, 2, 1), (2, 3, 1, 1, 5)):
        label = f"larger_window_{kind}_{len(shape)}" + "_counted" * bool(attrs)
        CASES[label] = lambda kind=kind, shape=shape, attrs=attrs: larger_window(kind, shape, **attrs)


def turned_single_channel(shape, perm):
    """Batch and channels change places, one of them 1 long: that one's dim became lanes, and the other tensor was read as far."""
    m = Maker("turned_single_channel_" + "x".join(map(str, shape)))
    y = m.op("Transpose", m.codes(m.input("x", *shape), F32(0.05)), perm=perm)
    return m.done(m.codes(y, F32(0.05)), step=0.05, targets=("cpu:v3", "simnpu", "simnpu:8"), bisect=True)


for shape, perm in ((1, 32, 3, 2), [1, 0, 2, 3]), ((1, 1, 3, 2), [1, 0, 3, 2]), ((1, 16, 2, 5), [3, 0, 1, 2]), ((48, 1, 2, 3), [1, 0, 2, 3]):
    CASES["turned_single_channel_" + "x".join(map(str, shape))] = lambda shape=shape, perm=perm: turned_single_channel(shape, perm)


@case
def codes_from_behind():
    """A slice of codes with steps below 0 was refused, one of floats was not."""
    m = Maker("codes_from_behind")
    box = [m.const(np.array(part, I64)) for part in ([-1, 5], [-(2**31), -7], [1, 3], [-2, -1])]
    return m.done(m.codes(m.op("Slice", m.codes(m.input("x", 1, 20, 3, 7), F32(0.05)), *box), F32(0.05)), step=0.05,
                  targets=CORES, bisect=True)


def walked_reshape(shape, to, kind):
    """A reshape of finer or coarser dims, or of none in common, that is read element by element: past its tensor's end it was."""
    m = Maker(f"walked_reshape_{len(shape)}_{kind}", 19)
    x = m.op("Cos", m.input("x", *shape))
    x = m.op("Reshape", x, m.const(np.array(to, I64)))
    if kind == "codes":
        return m.done(m.codes(x, F32(0.05)), step=0.05, targets=CORES, bisect=True)
    y = m.input("y", *to) if kind in ("Add", "PRelu") else None
    return m.done(m.op(kind, *((x, y) if y else (x,))), targets=CORES, bisect=True)


for number, (shape, to) in enumerate((((2, 3), (6,)), ((2, 3, 4), (6, 4)), ((6, 4), (2, 3, 4)), ((2, 12), (2, 3, 4)), ((2, 3, 4, 5), (4, 5, 6)))):
    for kind in "Relu", "Tanh", "Add", "PRelu", "codes":
        CASES[f"walked_reshape_{number}_{kind}"] = lambda shape=shape, to=to, kind=kind: walked_reshape(shape, to, kind)


@case
def channels_in_a_row_of_all():
    """Channels lay in lanes though the row of all elements that they are copied to is walked by them too, and was written past its end."""
    m = Maker("channels_in_a_row_of_all")
    y = m.codes(m.op("Transpose", m.codes(m.input("x", 1, 20, 7, 11), F32(0.02)), perm=[0, 2, 1, 3]), F32(0.02))
    y = m.codes(m.op("ReduceMax", y, axes=[2, 1, 3]), F32(0.02))
    return m.done(y, step=0.02, targets=CORES, bisect=True)


@case
def channels_of_columns():
    """Columns that are no sum's: lanes of the result, and as many columns more of the image were read as fill a row of them."""
    m = Maker("channels_of_columns", 20)
    y = m.op("Einsum", m.input("x", 1, 32, 2, 9), m.const(drawn(m, 1, 32, 9, 2)), equation="abcd,pbdc->dapc")
    return m.done(m.op("Softmax", y, axis=2), y, targets=CORES, bisect=True)


def sum_of_products(name, weights):
    """A sum of two products lay where the first of them did, and the second one's sum in parts was put there too, before it was read."""
    m = Maker(name, 17)
    x, real, imaginary = m.input("x", 1, 64, 384, 2), weights(m), weights(m)
    a, b = (m.op("Gather", x, m.const(np.array(k, I64)), axis=3) for k in (0, 1))
    y = m.op("Add", m.op("MatMul", a, real), m.op("MatMul", b, imaginary))
    z = m.op("Add", m.op("Neg", m.op("MatMul", a, imaginary)), m.op("MatMul", b, real))
    y, z = (m.op("Unsqueeze", part, m.const(np.array([-1], I64))) for part in (y, z))
    return m.done(m.op("Concat", y, z, axis=-1), targets=CORES, bisect=True)


CASES["sum_of_products"] = lambda: sum_of_products("sum_of_products", lambda m: m.const(drawn(m, 384, 384)))
CASES["sum_of_products_of_inputs"] = lambda: sum_of_products("sum_of_products_of_inputs", lambda m: m.input(f"w{len(m.inputs)}", 384, 384))


@case
def large_constants_where_they_lie():
    """Of a large constant whose bytes in the file are not aligned a copy is read; pages of it were given back as if they were the file's."""
    m = Maker("large_constants_where_they_lie", 17)
    y = [m.input("x", 130, 130)]
    for k in range(4):  # whatever a tensor takes in front of its bytes, some begin at no multiple of 4
        m.const(np.zeros(k, np.int8))
        c = m.const(drawn(m, 130, 130))
        y += [m.op("Sin", c), m.op("Cos", c)]
    return m.done(m.op("Concat", *y, axis=0), targets=CORES)


def pool_to_one_column(shape, window, strides, dilations, pads):
    """Largest codes of an image of one channel, of which one column is left: they are no numbers of rows."""
    label = "pool_to_one_column_" + "x".join(map(str, (*shape, *window)))
    m = Maker(label)
    x = m.codes(m.input("x", 1, 1, *shape), F32(0.031), I8(0))
    y = m.op("MaxPool", x, kernel_shape=window, strides=strides, dilations=dilations, pads=pads)
    return m.done(m.codes(y, F32(0.031), I8(0)), step=0.031, targets=("cpu", "simnpu", "simnpu:8"), bisect=True)


for shape, window, strides, dilations, pads in (((16, 3), (5, 3), (1, 4), (3, 1), (0, 1, 0, 0)), ((16, 1), (3, 1), (2, 1), (1, 1), (0, 0, 0, 0)),
                                                ((18, 3), (3, 3), (1, 1), (1, 1), (0, 0, 0, 0))):
    CASES["pool_to_one_column_" + "x".join(map(str, (*shape, *window)))] = lambda of=(shape, window, strides, dilations, pads): pool_to_one_column(*of)


@case
def no_rows():
    """A program without operators, since no tensor has an element."""
    m = Maker("no_rows")
    return m.done(m.op("Relu", m.input("x", 0, 8)))


@case
def softmax_beside_a_domain_named_ai():
    """The opset is that of ONNX's own operators; opset 1 of a domain whose name begins as theirs would go over both dims."""
    m = Maker("softmax_beside_a_domain_named_ai")
    made = m.done(m.op("Softmax", m.input("x", 2, 3, 4), axis=1), targets=("cpu",))
    made.model.opset_import.add(domain="ai", version=1)
    return made


def summed_by_letters(label, equation, *shapes):
    """Without an arrow a letter that stands twice in one operand is summed over as well: the diagonal's sum, not the diagonal."""
    m = Maker(label)
    return m.done(m.op("Einsum", *(m.input(f"x{k}", *shape) for k, shape in enumerate(shapes)), equation=equation), targets=("cpu",))


for equation, *shapes in (("ii", (4, 4)), ("iij", (3, 3, 5)), ("iij,jk", (3, 3, 5), (5, 2)), ("...ii", (2, 3, 3)), ("ii->i", (4, 4)), ("ii,i", (4, 4), (4,)),
                          ("iji->ij", (5, 3, 5)), ("iji->j", (17, 2, 17)), ("ijij->ji", (3, 4, 3, 4)), ("iii->i", (7, 7, 7)), ("biij->bji", (2, 6, 6, 1)),
                          ("iajb,ii->ab", (4, 2, 3, 5), (4, 4)), ("ii->i", (1, 1))):
    label = f"einsum_of_{equation}_{shapes[0][0]}"
    CASES[label] = lambda label=label, equation=equation, shapes=shapes: summed_by_letters(label, equation, *shapes)


@case
def stack_of_single_rows():
    """The loop over the one row of each stood between the others: elements were not walked as they lie, and it was refused."""
    m = Maker("stack_of_single_rows")
    return m.done(m.codes(m.input("x", 7, 1, 20), F32(0.05)), step=0.05)


def rotary_inside_rows(head, turned):
    """Rotary embeddings of some columns of a head, by halves that begin inside a row of lanes: what products take in rows is taken
    apart, and put together, by copies beside it. Less columns leave queries and keys put together inside rows, too."""
    m = Maker(f"rotary_inside_rows_{head}_{turned}", opset=17)
    heads, tokens, s = 2, 24, F32(0.05)
    places, angles = lambda *v: m.const(np.array(v, np.int64)), np.outer(np.arange(tokens), np.tile(0.3 ** np.arange(turned // 2), 2))
    part = lambda x, a, b: m.codes(m.op("Slice", x, places(a), places(b), places(3)), s)
    cos, sin = (m.weights(np.round(v * 127).astype(I8).reshape(1, 1, tokens, turned), F32(1 / 127), I8(0)) for v in (np.cos(angles), np.sin(angles)))

    def turn(x):
        a, b = part(x, 0, turned), part(x, turned, head)
        halves = m.codes(m.op("Neg", part(a, turned // 2, turned)), s), part(a, 0, turned // 2)
        r = m.codes(m.op("Concat", *halves, axis=3), s, I8(1))
        y = m.codes(m.op("Add", m.codes(m.op("Mul", a, cos), s), m.codes(m.op("Mul", r, sin), s)), s)
        return m.codes(m.op("Concat", y, b, axis=3), s, I8(2))

    w = m.weights(m.rng.integers(-127, 128, (96, heads * head * 3)).astype(I8), F32(0.003), I8(0))
    x = m.codes(m.op("MatMul", m.codes(m.input("x", 1, tokens, 96), s), w), s)
    x = m.codes(m.op("Transpose", m.codes(m.op("Reshape", x, places(1, tokens, heads, 3 * head)), s), perm=[0, 2, 1, 3]), s)
    q, k, v = turn(part(x, 0, head)), turn(part(x, head, 2 * head)), part(x, 2 * head, 3 * head)
    scores = m.codes(m.op("MatMul", q, m.codes(m.op("Transpose", k, perm=[0, 1, 3, 2]), s, I8(2))), F32(0.2))
    p = m.codes(m.op("Softmax", scores, axis=-1), F32(1 / 255), I8(-128))
    return m.done(m.codes(m.op("MatMul", p, v), s), targets=("cpu", "simnpu", "simnpu:8"), by_layers=True, bisect=True)


for head, turned in (64, 16), (64, 8), (48, 20):
    CASES[f"rotary_inside_rows_{head}_{turned}"] = lambda head=head, turned=turned: rotary_inside_rows(head, turned)


def codes_of_a_column(rows):
    """One column of codes fills no rows of lanes: it stays as it comes."""
    m = Maker(f"codes_of_a_column_{rows}")
    return m.done(m.codes(m.op("Relu", m.codes(m.input("x", 1, rows, 1), F32(0.05))), F32(0.05)), step=0.05, bisect=True)


for rows in 5, 64:
    CASES[f"codes_of_a_column_{rows}"] = lambda rows=rows: codes_of_a_column(rows)


def norm_of_stacked_rows(*shape):
    """A norm of each row of a stack, with a factor and a shift for each: numbers of rows in a constant."""
    m = Maker(f"norm_of_stacked_rows_{'_'.join(map(str, shape))}", opset=17)
    gain, shift = m.const(np.linspace(0.5, 2, shape[1], dtype=F32)), m.const(np.linspace(-1, 1, shape[1], dtype=F32))
    return m.done(m.codes(m.op("InstanceNormalization", m.codes(m.input("x", *shape), F32(0.05)), gain, shift), F32(0.05)), step=0.05, bisect=True)


for shape in (1, 32, 50), (1, 5, 7), (1, 8, 48):
    CASES[f"norm_of_stacked_rows_{'_'.join(map(str, shape))}"] = lambda shape=shape: norm_of_stacked_rows(*shape)


def shifted_by_a_pad(*edges):
    """A pad with edges below 0 cuts rows off, as where each token is beside the one before it: no element looks for its place."""
    m = Maker(f"shifted_by_a_pad_{'_'.join(str(e).replace('-', 'minus_') for e in edges)}")
    x = m.codes(m.input("x", 1, 24, 48), F32(0.05))
    y = m.op("Pad", x, m.const(np.array([0, *edges[:2], 0, *edges[2:]], I64)), m.const(F32(0.5)))
    return m.done(m.codes(y, F32(0.05)), m.codes(m.op("Mul", y, m.const(F32(0.7))), F32(0.05)), step=0.05, bisect=True)


for edges in (1, 0, -1, 0), (-2, 0, 0, 0), (-3, 16, 5, -16):
    CASES[f"shifted_by_a_pad_{'_'.join(str(e).replace('-', 'minus_') for e in edges)}"] = lambda edges=edges: shifted_by_a_pad(*edges)


@case
def flattened_without_elements():
    """A reshape of extents that never meet: 16 and 0."""
    m = Maker("flattened_without_elements")
    x = m.codes(m.input("x", 3, 16, 2, 0), F32(0.05))
    return m.done(m.codes(m.op("Flatten", x), F32(0.05)), step=0.05)


@case
def codes_without_elements():
    """Codes of a tensor without elements, read as floats: the compiler had crashed."""
    m = Maker("codes_without_elements")
    return m.done(m.op("Relu", m.codes(m.input("x", 3, 16, 2, 0), F32(0.05))))


@case
def codes_without_elements_summed():
    """The reduction of a form had read codes that nothing had made: text that did not verify."""
    m = Maker("codes_without_elements_summed")
    x, w = m.codes(m.input("x", 2, 0, 32), F32(0.05)), m.codes(m.const(drawn(m, 32, 16)), F32(0.02))
    y = m.codes(m.op("MatMul", x, w), F32(0.1))
    axis = m.const(np.array([1], I64))
    return m.done(m.codes(m.op("ReduceSum", y, axis, keepdims=0), F32(0.1)), m.op("ReduceMax", x, axes=[1]))


@case
def rows_that_end_early():
    """Rows padded to lanes that a nest sets to their last element alone, since what it adds ends there: another read them to
    their ends."""
    m = Maker("rows_that_end_early")
    rows = m.op("Add", m.op("MatMul", m.input("x", 17, 1, 1), m.const(drawn(m, 1, 8))), m.op("Relu", m.input("b", 8)))
    row = m.op("Slice", rows, *(m.const(np.array([at], I64)) for at in (15, 16, 0)))
    return m.done(m.op("Add", row, m.op("MatMul", m.op("Tanh", row), m.const(drawn(m, 8, 8)))), bisect=True, targets=("cpu:avx512", "cpu:v3"))


@case
def single_channel_beside_rows_of_another_dim():
    """An image's only channel meets rows along its width: as lanes it was read where there is no channel."""
    m = Maker("single_channel_beside_rows_of_another_dim")
    x = m.codes(m.op("Transpose", m.codes(m.input("x", 1, 1, 8, 6), F32(0.05), I8(-5)), perm=[2, 1, 0, 3]), F32(0.05), I8(-5))
    x = m.codes(m.op("Concat", x, m.codes(m.op("Relu", x), F32(0.05), I8(-5)), axis=3), F32(0.05), I8(-5))
    pooled = m.codes(m.op("GlobalAveragePool", x), F32(0.05), I8(-5))
    gate = m.op("Conv", pooled, m.weights(m.rng.integers(-127, 128, (1, 1, 1, 1)).astype(I8), F32(0.02), I8(0)))
    gate = m.codes(m.op("Sigmoid", m.codes(gate, F32(0.05), I8(-5))), F32(1 / 256), I8(-128))
    gated = m.codes(m.op("Mul", x, gate), F32(0.05), I8(-5))
    turned = m.codes(m.op("Transpose", gated, perm=[3, 0, 1, 2]), F32(0.05), I8(-5))
    dense = m.op("MatMul", m.op("Flatten", turned), m.weights(m.rng.integers(-127, 128, (8, 16)).astype(I8), F32(0.02), I8(0)))
    return m.done(m.codes(dense, F32(0.1)), gated, step=0.1, bisect=True)


@case
def batches_that_are_channels():
    """A product whose batches walk the channels of an image in blocks: the loop over them stayed whole and left the blocks."""
    m = Maker("batches_that_are_channels")
    x = m.input("x", 4, 32, 8, 1)
    wide = m.op("Conv", x, m.const(drawn(m, 32, 32, 3, 1)), pads=[1, 0, 1, 0])
    y = m.op("Einsum", wide, m.const(drawn(m, 32, 4, 2)), equation="abcd,bap->dbcp")
    return m.done(m.op("Conv", y, m.const(drawn(m, 3, 32, 4, 3)), pads=[0, 2, 2, 0]), bisect=True, targets=("cpu:avx512", "cpu:v3"))


@case
def pads_of_other_types():
    """Nothing said what is around them: around codes without sign, which lie 128 less, it was 128."""
    m, rows = Maker("pads_of_other_types"), []
    x, edges = m.input("x", 2, 3, values=[0, 1, 7, 4, 2, 90]), m.const(np.array([0, 1, 1, 2], I64))
    for kind in (np.uint8, np.int8, np.int32, np.int64):
        typed = m.op("Cast", x, to=helper.np_dtype_to_tensor_dtype(np.dtype(kind)))
        rows += [m.op("Pad", typed, edges), m.op("Pad", typed, edges, m.const(kind(5)))]
    rows = [m.op("Cast", row, to=TensorProto.FLOAT) for row in rows]
    return m.done(m.op("Concat", *rows, axis=0), targets=CORES, bisect=True)


@case
def mask_of_one_element():
    """A number stood in the first lane of a row alone, and whole rows were read."""
    m = Maker("mask_of_one_element")
    mask = m.op("EyeLike", m.const(np.zeros((1, 1), I64)), k=1, dtype=TensorProto.BOOL)
    return m.done(m.op("Where", mask, m.input("x", 1, 1), m.input("y", 1, 1)), bisect=True)


@case
def product_of_one_element():
    m = Maker("product_of_one_element")
    return m.done(m.op("Min", m.op("ReduceProd", m.input("x", 1, 5, 1), axes=[1], keepdims=0), m.const(F32(1.5))), bisect=True)
