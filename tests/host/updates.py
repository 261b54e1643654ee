"""Loops whose turns update a part of what they carry, against NumPy: updated where it lies if nobody reads what was there, copied
if somebody does. Rows and columns, starts that leave the tensor, other types, several updated values, one that changes places
with another, an update in a branch, loops inside loops; known turns, few and many, and turns that data end.

    tests/host/updates.py --bin build/bin"""

import argparse
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "e2e"))
import tools  # noqa: E402

tools.require("numpy")
import numpy as np  # noqa: E402
from run import execute  # noqa: E402

ELEMENTS = {"float32": "f32", "float64": "f64", "float16": "f16", "int32": "i32", "int64": "i64", "int8": "i8", "bool": "i1"}


def kind(shape, dtype="float32"):
    return f"tensor<{''.join(f'{n}x' for n in shape)}{ELEMENTS[dtype]}>"


class Text:
    """A function of x, w and a number of turns n: while i < n. Lines say names; `carried` are (name, kind, first value)."""

    def __init__(self):
        self.lines, self.count = [], 0

    def op(self, name, operands, kinds, result, attributes=""):
        made = f"%v{self.count}"
        self.count += 1
        self.lines.append(f'{made} = "stablehlo.{name}"({", ".join(operands)}) {attributes} : ({", ".join(kinds)}) -> {result}')
        return made

    def number(self, value):
        return self.op("constant", [], [], "tensor<i32>", f"<{{value = dense<{value}> : tensor<i32>}}>")

    def row(self, x, shape, dtype, at, size, axis=0):
        """dynamic_slice along one axis."""
        zero = self.number(0)
        starts = [at if r == axis else zero for r in range(len(shape))]
        sizes = [size if r == axis else n for r, n in enumerate(shape)]
        return self.op("dynamic_slice", [x, *starts], [kind(shape, dtype)] + ["tensor<i32>"] * len(shape), kind(sizes, dtype),
                       f"<{{slice_sizes = array<i64: {', '.join(map(str, sizes))}>}}>")

    def put(self, x, shape, u, part, dtype, at, axis=0):
        zero = self.number(0)
        starts = [at if r == axis else zero for r in range(len(shape))]
        return self.op("dynamic_update_slice", [x, u, *starts], [kind(shape, dtype), kind(part, dtype)] + ["tensor<i32>"] * len(shape), kind(shape, dtype))

    def same(self, name, a, b, shape, dtype="float32"):
        return self.op(name, [a, b], [kind(shape, dtype)] * 2, kind(shape, dtype))


def module(carried, body, turns="%n"):
    """carried: kinds; body(text, names) gives what each is next. The loop's number is carried first."""
    kinds = ["tensor<i32>", *carried]
    text = Text()
    names = ["%i"] + [f"%c{k}" for k in range(len(carried))]
    after = body(text, names)
    one = text.number(1)
    after = [text.op("add", ["%i", one], ["tensor<i32>"] * 2, "tensor<i32>"), *after]
    arguments = [f"%x{k}: {one}" for k, one in enumerate(carried)]
    listed = ", ".join(kinds)
    lines = "\n      ".join(text.lines)
    results = ", ".join(kinds[1:])
    return f""""builtin.module"() ({{
  "func.func"() <{{function_type = ({results}, tensor<i32>) -> ({results}), sym_name = "main"}}> ({{
  ^bb0({", ".join(arguments)}, %n: tensor<i32>):
    %zero = "stablehlo.constant"() <{{value = dense<0> : tensor<i32>}}> : () -> tensor<i32>
    {"" if turns == "%n" else f'%turns = "stablehlo.constant"() <{{value = dense<{turns}> : tensor<i32>}}> : () -> tensor<i32>'}
    %r:{len(kinds)} = "stablehlo.while"(%zero, {", ".join(f"%x{k}" for k in range(len(carried)))}) ({{
    ^bb0({", ".join(f"{n.replace('%', '%t')}: {k}" for n, k in zip(names, kinds))}):
      %go = "stablehlo.compare"(%ti, {"%n" if turns == "%n" else "%turns"}) <{{comparison_direction = #stablehlo<comparison_direction LT>}}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%go) : (tensor<i1>) -> ()
    }}, {{
    ^bb0({", ".join(f"{n}: {k}" for n, k in zip(names, kinds))}):
      {lines}
      "stablehlo.return"({", ".join(after)}) : ({listed}) -> ()
    }}) : ({listed}) -> ({listed})
    "func.return"({", ".join(f"%r#{k + 1}" for k in range(len(carried)))}) : ({results}) -> ()
  }}) : () -> ()
}}) : () -> ()
"""


def clamped(at, extent, size):
    return min(max(at, 0), extent - size)


# ---- programs: the carried values, what a turn makes of them as text and in NumPy; whether it is in place ----


def running(axis, shape, size, dtype, offset=0):
    """A part of y becomes that part of x, once more; x stays."""
    part = [size if r == axis else n for r, n in enumerate(shape)]

    def text(t, names):
        i, y, x = names
        at = t.op("add", [i, t.number(offset)], ["tensor<i32>"] * 2, "tensor<i32>")
        u = t.row(x, shape, dtype, at, size, axis)
        u = t.same("or" if dtype == "bool" else "add", u, u, part, dtype)
        return [t.put(y, shape, u, part, dtype, at, axis), x]

    def numpy(i, y, x):
        at = clamped(i + offset, shape[axis], size)
        where = tuple(slice(at, at + size) if r == axis else slice(None) for r in range(len(shape)))
        y = y.copy()
        y[where] = x[where] | x[where] if dtype == "bool" else x[where] + x[where]
        return y, x

    return [(shape, dtype)] * 2, text, numpy, True


def read_too(shape=(6, 4)):
    """What was there is added to another value: no place of its own."""

    def text(t, names):
        i, y, s = names
        u = t.row(s, shape, "float32", i, 1)
        after = t.put(y, shape, u, (1, shape[1]), "float32", i)
        return [after, t.same("add", s, y, shape)]

    def numpy(i, y, s):
        after = y.copy()
        after[clamped(i, shape[0], 1)] = s[clamped(i, shape[0], 1)]
        return after, s + y

    return [(shape, "float32")] * 2, text, numpy, False


def read_behind(shape=(6, 4)):
    """What has been updated is read as it is then."""

    def text(t, names):
        i, y, s = names
        u = t.row(s, shape, "float32", i, 1)
        after = t.put(y, shape, u, (1, shape[1]), "float32", i)
        return [after, t.same("add", s, after, shape)]

    def numpy(i, y, s):
        after = y.copy()
        after[clamped(i, shape[0], 1)] = s[clamped(i, shape[0], 1)]
        return after, s + after

    return [(shape, "float32")] * 2, text, numpy, True


def swapped(shape=(5, 3)):
    """Two values change places behind the update of one."""

    def text(t, names):
        i, y, z = names
        u = t.row(z, shape, "float32", i, 1)
        return [z, t.put(y, shape, u, (1, shape[1]), "float32", i)]

    def numpy(i, y, z):
        after = y.copy()
        after[clamped(i, shape[0], 1)] = z[clamped(i, shape[0], 1)]
        return z, after

    return [(shape, "float32")] * 2, text, numpy, True


def twice(how="", shape=(8, 2)):
    """Two updates of one value, the second of the first's; which is read behind it perhaps: added to another value, carried on as one, or
    all there is, as nobody takes the second's."""

    def text(t, names):
        i, y, x = names
        u = t.row(x, shape, "float32", i, 1)
        first = t.put(y, shape, u, (1, shape[1]), "float32", i)
        back = t.op("subtract", [t.number(7), i], ["tensor<i32>"] * 2, "tensor<i32>")
        whole = kind(shape, "float32")
        behind = t.op("optimization_barrier", [first], [whole], whole) if how == "added behind a barrier" else first
        second = t.put(behind, shape, t.same("add", u, u, (1, shape[1])), (1, shape[1]), "float32", back)
        other = t.same("add", x, first, shape) if how.startswith("added") else first if how == "carried" else x
        return [first if how == "alone" else second, other]

    def numpy(i, y, x):
        first, u = y.copy(), x[clamped(i, shape[0], 1)].copy()
        first[clamped(i, shape[0], 1)] = u
        second = first.copy()
        second[clamped(7 - i, shape[0], 1)] = u + u
        return first if how == "alone" else second, x + first if how.startswith("added") else first if how == "carried" else x

    return [(shape, "float32")] * 2, text, numpy, True


def corner(shape=(6, 5)):
    """Narrower in two dims."""

    def text(t, names):
        i, y, x = names
        u = t.row(t.row(x, shape, "float32", i, 2), (2, 5), "float32", i, 3, 1)
        kinds = [kind(shape), kind((2, 3)), "tensor<i32>", "tensor<i32>"]
        return [t.op("dynamic_update_slice", [y, u, i, i], kinds, kind(shape)), x]

    def numpy(i, y, x):
        y, a, b = y.copy(), clamped(i, 6, 2), clamped(i, 5, 3)
        y[a:a + 2, b:b + 3] = x[a:a + 2, b:b + 3]
        return y, x

    return [(shape, "float32")] * 2, text, numpy, False


def of_itself(shape=(7, 3)):
    """The part that is put there is read from the same value."""

    def text(t, names):
        i, y, x = names
        u = t.row(y, shape, "float32", t.number(0), 1)
        return [t.put(y, shape, t.same("add", u, u, (1, 3)), (1, 3), "float32", i), t.same("add", x, x, shape)]

    def numpy(i, y, x):
        after = y.copy()
        after[clamped(i, 7, 1)] = y[0] + y[0]
        return after, x + x

    return [(shape, "float32")] * 2, text, numpy, False


def in_a_branch(shape=(6, 4)):
    """Updated in every second turn alone."""

    def text(t, names):
        i, y, x = names
        bit = t.op("and", [i, t.number(1)], ["tensor<i32>"] * 2, "tensor<i32>")
        odd = t.op("compare", [bit, t.number(1)], ["tensor<i32>"] * 2, "tensor<i1>", "<{comparison_direction = #stablehlo<comparison_direction EQ>}>")
        inner = Text()
        inner.count = 1000
        u = inner.row(x, shape, "float32", i, 1)
        after = inner.put(y, shape, u, (1, 4), "float32", i)
        made = f"%v{t.count}"
        t.count += 1
        lines = "\n        ".join(inner.lines)
        t.lines.append(f'''{made} = "stablehlo.if"({odd}) ({{
        {lines}
        "stablehlo.return"({after}) : ({kind(shape)}) -> ()
      }}, {{
        "stablehlo.return"({y}) : ({kind(shape)}) -> ()
      }}) : (tensor<i1>) -> {kind(shape)}''')
        return [made, x]

    def numpy(i, y, x):
        y = y.copy()
        if i & 1:
            y[clamped(i, 6, 1)] = x[clamped(i, 6, 1)]
        return y, x

    return [(shape, "float32")] * 2, text, numpy, False


CASES = {
    "rows": running(0, (6, 4), 1, "float32"),
    "several rows": running(0, (9, 4), 3, "float32", -2),
    "columns": running(1, (4, 7), 2, "float32"),
    "the middle": running(1, (3, 5, 2), 1, "float64", 1),
    "one dim": running(0, (8,), 1, "float32"),
    "f16": running(0, (6, 4), 1, "float16"),
    "i8": running(0, (6, 4), 2, "int8"),
    "i64": running(1, (6, 4), 1, "int64", -1),
    "truths": running(0, (6, 4), 1, "bool"),
    "all of it": running(0, (3, 4), 3, "float32"),
    "read too": read_too(),
    "read behind": read_behind(),
    "swapped": swapped(),
    "twice": twice(),
    **{f"twice, the first {how}": twice(how) for how in ("added", "added behind a barrier", "carried", "alone")},
    "a corner": corner(),
    "of itself": of_itself(),
    "in a branch": in_a_branch(),
}


def drawn(rng, shape, dtype):
    if dtype == "bool":
        return rng.random(shape) < 0.5
    return rng.integers(-9, 9, shape).astype(dtype)


def problems(bin_dir, folder, case, known, turns, rng, many):
    carried, body, numpy, in_place = case
    values = [drawn(rng, shape, dtype) for shape, dtype in carried]
    text = module([kind(shape, dtype) for shape, dtype in carried], body, turns=turns if known else "%n")
    (folder / "m.mlir").write_text(text)
    for loops in "steps", "kernels":
        done = tools.call([f"{bin_dir}/pbc", str(folder / "m.mlir"), "--target=cpu", f"--loops={loops}", "-o", str(folder / f"{loops}.pbe")])
        if done.returncode:
            return f"refused: {done.stderr.strip()}"
    want = values
    for i in range(turns):
        want = numpy(i, *want)
    for loops in "steps", "kernels":
        got = execute(bin_dir, folder / f"{loops}.pbe", [*values, np.int32(turns)], len(want), 2, folder)
        for k, (a, b) in enumerate(zip(got, want)):
            if a.shape != b.shape or not np.array_equal(a, b.astype(a.dtype)):
                return f"result {k} is {a.tolist()} by {loops}, expected {b.tolist()}"[:400]
    if "unless(" in tools.run([f"{bin_dir}/pb-objdump", str(folder / "kernels.pbe"), "--headers"]):
        return "its loop is no kernel"
    steps = tools.run([f"{bin_dir}/pb-objdump", str(folder / "steps.pbe"), "--headers"])
    if in_place and not known and "place(" not in steps:
        return "is not updated where it lies"
    if many and "unless(" not in steps:
        return "many turns are written out"
    return ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--every", type=int, default=1, help="each so many-th case")
    options = parser.parse_args()
    failed = count = 0
    rng = np.random.default_rng(7)
    np.seterr(over="ignore")  # of sums that double 700 times
    with tempfile.TemporaryDirectory() as folder:
        turns_of = [(*case, known, turns) for case in CASES.items() for known, turns in ((False, 5), (False, 0), (True, 4), (True, 700))]
        for name, case, known, turns in turns_of[:: options.every]:
            why = problems(options.bin, Path(folder), case, known, turns if name != "of itself" or turns < 9 else 4, rng, turns == 700 and name != "of itself")
            failed += bool(why)
            count += 1
            if why:
                print(f"FAILED {name}, {'known' if known else 'data ends'}, {turns} turns: {why}", flush=True)
    print(f"{count - failed} of {count} right")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
