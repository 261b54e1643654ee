"""Random programs of linalg on tensors: nests of any maps (turned, spread, along diagonals, windows), bodies and types, with
results that are read as they are and of several numbers; reductions onto anything; products of any dims; slices, pads and
reshapes between them; loops over rows. Compared with NumPy, whole numbers by their bits.

    random_programs.py --bin BUILD/bin [--count 60] [--seed 1] [--first K] [--bisect EVERY] [--targets cpu:v3,cpu:avx512]
                       [--keep DIR] [--refused N]
"""

import random
import shutil
import sys
import tempfile
from pathlib import Path

import text
from random_bodies import FLOATS, NEAR, WHOLE, Body, holds, wrapped
from text import NAMES, np, tensor, tools

SIZES = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 40]
MOST = 40000  # turns of a nest


class Value:
    def __init__(self, name, kind, array, near):
        self.name, self.kind, self.array, self.near = name, kind, array, near

    @property
    def type(self):
        return tensor(self.array.shape, self.kind)


def map_of(loops, results):
    return f"affine_map<({', '.join(f'd{k}' for k in range(loops))}) -> ({', '.join(results)})>"


class Program:
    def __init__(self, seed):
        self.draw, self.numbers = random.Random(seed), np.random.default_rng(seed)
        self.lines, self.inputs, self.values, self.said = [], [], [], []

    # ---- values ----

    def given(self, shape, kind=None):
        kind = kind or self.draw.choice(["f32"] * 6 + ["i32", "i64", "i8", "f64", "f16", "i16"])
        if kind in FLOATS:
            array = (np.clip(self.numbers.standard_normal(shape), -2, 2) * self.draw.choice([0.5, 1])).astype(NAMES[kind])
        else:
            array = self.numbers.integers(-100, 100, shape).astype(NAMES[kind])
        name = f"%arg{len(self.inputs)}"
        self.inputs.append(array)
        self.values.append(Value(name, kind, array.astype(holds(kind)), 0))
        return self.values[-1]

    def shape(self):
        rank = self.draw.choice([1, 2, 2, 3, 3, 4])
        while True:
            shape = tuple(self.draw.choice(SIZES) for _ in range(rank))
            if np.prod(shape) <= 6000:
                return shape

    def any(self, fits=lambda v: True):
        found = [v for v in self.values if fits(v)]
        return self.draw.choice(found[-6:]) if found else None

    def name(self):
        return f"%t{len(self.lines)}"

    def add(self, line, kind, array, near):
        value = Value(self.name(), kind, np.array(array), near)
        self.lines.append(f"{value.name} = {line}")
        self.values.append(value)
        return value

    def round(self, kind, array):
        return np.asarray(array, np.float64).astype(NAMES[kind]).astype(np.float64) if kind == "f16" else array

    def begun(self, shape, kind, number):
        """A tensor of one number, as outs."""
        c, e = self.name(), f"%e{len(self.lines)}"
        shown = f"{number:.6f}" if kind in FLOATS else str(number)
        self.lines += [f"{c} = arith.constant {shown} : {kind}", f"{e} = tensor.empty() : {tensor(shape, kind)}"]
        of = tensor(shape, kind)
        return self.add(f"linalg.fill ins({c} : {kind}) outs({e} : {of}) -> {of}", kind, np.full(shape, number, holds(kind)), 0)

    def empty(self, shape, kind):
        name = self.name()
        self.lines.append(f"{name} = tensor.empty() : {tensor(shape, kind)}")
        return name

    # ---- nests ----

    def reading(self, value, loops, turns):
        """A map by which a nest of such loops reads the value, and what it reads in each turn; None: none."""
        results, index = [], []
        for size in value.array.shape:
            fits = [d for d, n in enumerate(loops) if n == size]
            windows = [(d, e) for d in range(len(loops)) for e in range(len(loops)) if d != e and loops[d] + loops[e] - 1 <= size]
            if size == 1 and self.draw.random() < 0.7:
                results.append("0")
                index.append(np.zeros(loops, np.int64))
            elif fits:
                d = self.draw.choice(fits)
                results.append(f"d{d}")
                index.append(turns[d])
            elif windows and self.draw.random() < 0.5:
                d, e = self.draw.choice(windows)
                results.append(f"d{d} + d{e}")
                index.append(turns[d] + turns[e])
            else:
                return None
        return map_of(len(loops), results), value.array[tuple(index)] if index else np.broadcast_to(value.array, loops)

    def operands(self, loops, most, covered):
        """Values that a nest of such loops reads, with their maps; covered: which are to name each loop alone."""
        turns = np.indices(loops)
        found = []
        for value in self.draw.sample(self.values, len(self.values)):
            if len(found) == most:
                break
            read = self.reading(value, loops, turns)
            if read:
                found.append((value, *read))
        names = self.plain(found)
        return found if not covered or all(any(f"d{d}" in said for said in names) for d in range(len(loops))) else None

    @staticmethod
    def plain(reads):
        """The loops that are an index alone: the extents of each loop are to be known from them."""
        return [[part.strip() for part in said[said.index("->") :].strip("->() <").rstrip(")>").split(",")] for _, said, _ in reads]

    def nest(self, loops, kinds, reads, outs, maps, body, yields):
        """Adds a linalg.generic; outs: (name, type text); yields: (element's name, element's type)."""
        shown = ", ".join([m for _, m, _ in reads] + maps)
        kinds = ", ".join(f'"{k}"' for k in kinds)
        ins = f" ins({', '.join(v.name for v, _, _ in reads)} : {', '.join(v.type for v, _, _ in reads)})" if reads else ""
        results, types = ", ".join(n for n, _ in outs), ", ".join(t for _, t in outs)
        name = self.name()
        arguments = ", ".join([f"%in{k}: {v.kind}" for k, (v, _, _) in enumerate(reads)] + [f"%out{k}: {kind}" for k, (_, kind) in enumerate(yields)])
        count = f":{len(outs)}" if len(outs) > 1 else ""
        self.lines.append(f"{name}{count} = linalg.generic {{indexing_maps = [{shown}], iterator_types = [{kinds}]}}{ins} outs({results} : {types}) {{")
        self.lines += [f"^bb0({arguments}):", *body.lines]
        self.lines.append(f"linalg.yield {', '.join(n for n, _ in yields)} : {', '.join(k for _, k in yields)}")
        self.lines.append(f"}} -> {types if len(outs) == 1 else f'({types})'}")
        return [name] if len(outs) == 1 else [f"{name}#{k}" for k in range(len(outs))]

    def loops_of(self):
        """Loops of a value's dims in any order, and of one more at times."""
        loops = list(self.any().array.shape)
        if self.draw.random() < 0.4:
            self.draw.shuffle(loops)
        if self.draw.random() < 0.25 or not loops:
            loops.insert(self.draw.randrange(len(loops) + 1), self.draw.choice([1, 2, 3, 5, 8]))
        return loops if np.prod(loops) <= MOST and len(loops) <= 5 else None

    def pointwise(self):
        loops = self.loops_of()
        reads = loops and self.operands(loops, self.draw.choice([1, 2, 2, 3]), False)
        if not reads:
            return
        body = Body(self.draw, tuple(loops))
        for k, (value, _, array) in enumerate(reads):
            body.take(f"%in{k}", value.kind, array, value.near)
        if self.draw.random() < 0.15:
            body.turn(loops)
        order = self.draw.sample(range(len(loops)), len(loops)) if self.draw.random() < 0.3 else list(range(len(loops)))
        shape, outs, yields, arrays = tuple(loops[d] for d in order), [], [], []
        for k in range(self.draw.choice([1, 1, 1, 2])):
            kind = self.draw.choice([v[1] for v in body.values if v[1] != "i1"] + ["f32"])
            into = self.any(lambda v: v.kind == kind and v.array.shape == shape) if self.draw.random() < 0.3 else None
            if into:
                body.take(f"%out{k}", kind, np.transpose(into.array, np.argsort(order)), into.near)
            outs.append((into.name if into else None, kind))
        yields = [body.drawn(kind, self.draw.randrange(1, 6)) for _, kind in outs]
        outs = [(name or self.empty(shape, kind), tensor(shape, kind)) for name, kind in outs]
        maps = [map_of(len(loops), [f"d{d}" for d in order])] * len(outs)
        names = self.nest(loops, ["parallel"] * len(loops), reads, outs, maps, body, [(v[0], v[1]) for v in yields])
        for name, (_, kind, array, near) in zip(names, yields):
            self.values.append(Value(name, kind, np.array(np.transpose(self.round(kind, array), order)), max(near, NEAR["f16"] if kind == "f16" else 0)))

    def onto(self, loops, kept, kind, number):
        """What a reduction begins with: a tensor of one number, or any of the result's shape."""
        shape = tuple(loops[d] for d in kept)
        into = self.any(lambda v: v.kind == kind and v.array.shape == shape) if self.draw.random() < 0.3 else None
        return into or self.begun(shape, kind, number)

    def reduction(self):
        loops = self.loops_of()
        reads = loops and self.operands(loops, self.draw.choice([1, 1, 2]), True)
        if not reads or len(loops) < 1:
            return
        reduced = self.draw.sample(range(len(loops)), self.draw.randrange(1, min(len(loops), 3) + 1))
        kept = [d for d in range(len(loops)) if d not in reduced]
        self.draw.shuffle(kept)
        body = Body(self.draw, tuple(loops))
        for k, (value, _, array) in enumerate(reads):
            body.take(f"%in{k}", value.kind, array, value.near)
        kind = self.draw.choice([v.kind for v, _, _ in reads])
        x = body.drawn(kind, self.draw.randrange(0, 3))
        many = int(np.prod([loops[d] for d in reduced]))
        ways = {"maximumf": -9.0, "minimumf": 9.0, "maxnumf": -9.0, "minnumf": 9.0, "addf": 0.0} if kind in FLOATS else \
               {"addi": 0, "maxsi": -100, "minsi": 100, "andi": -1, "ori": 0, "xori": 0, "muli": 1}
        if kind == "f16":
            del ways["addf"]
        way = self.draw.choice(list(ways))
        into = self.onto(loops, kept, kind, ways[way])
        sides = [f"%out0", x[0]]
        self.draw.shuffle(sides)
        name = body.name()
        body.lines.append(f"{name} = arith.{way} {', '.join(sides)} : {kind}")
        kinds = ["reduction" if d in reduced else "parallel" for d in range(len(loops))]
        maps = [map_of(len(loops), [f"d{d}" for d in kept])]
        got = self.nest(loops, kinds, reads, [(into.name, into.type)], maps, body, [(name, kind)])[0]
        array = np.transpose(x[2], kept + reduced).reshape(*[loops[d] for d in kept], many)
        how = {"addf": np.add, "maximumf": np.maximum, "minimumf": np.minimum, "maxnumf": np.fmax, "minnumf": np.fmin, "addi": np.add, "maxsi": np.maximum,
               "minsi": np.minimum, "andi": np.bitwise_and, "ori": np.bitwise_or, "xori": np.bitwise_xor, "muli": np.multiply}[way]
        if kind in FLOATS:
            want = how(how.reduce(array, axis=-1), into.array)
        else:
            want = wrapped(how(how.reduce(array.astype(object), axis=-1), into.array.astype(object)), kind)
        self.values.append(Value(got, kind, np.array(want), max(x[3], into.near, NEAR[kind] if way == "addf" else 0)))

    def product(self):
        """A sum of products over any dims of two tensors that are given now."""
        kinds = self.draw.choice([("f32", "f32"), ("f32", "f32"), ("f64", "f64"), ("i8", "i32"), ("f16", "f32"), ("i32", "i32")])
        size = {"b": self.draw.choice([1, 2, 3]), "m": self.draw.choice(SIZES), "n": self.draw.choice(SIZES), "k": self.draw.choice(SIZES),
                "l": self.draw.choice([1, 2, 3])}
        letters = self.draw.choice(["mnk", "mnk", "bmnk", "mk", "nk", "mnkl", "bmnkl", "bmk"])
        of_x = [c for c in letters if c != "n"]
        of_w = [c for c in letters if c != "m"]
        of_y = [c for c in letters if c not in "kl"]
        for of in of_x, of_w, of_y:
            if self.draw.random() < 0.4:
                self.draw.shuffle(of)
        order = self.draw.sample(letters, len(letters))
        if np.prod([size[c] for c in letters]) > MOST:
            return
        x = self.any(lambda v: v.kind == kinds[0] and v.array.shape == tuple(size[c] for c in of_x)) or self.given(tuple(size[c] for c in of_x), kinds[0])
        w = self.given(tuple(size[c] for c in of_w), kinds[0])
        into = self.begun(tuple(size[c] for c in of_y), kinds[1], 0 if kinds[1] in WHOLE else 0.0)
        body = Body(self.draw, ())
        wide = {("i8", "i32"): "extsi", ("f16", "f32"): "extf"}.get(kinds)
        names = ["%in0", "%in1"]
        for k in range(2 if wide else 0):
            body.lines.append(f"%w{k} = arith.{wide} %in{k} : {kinds[0]} to {kinds[1]}")
            names[k] = f"%w{k}"
        f = "f" if kinds[1] in FLOATS else "i"
        body.lines += [f"%p = arith.mul{f} {names[0]}, {names[1]} : {kinds[1]}", f"%s = arith.add{f} %out0, %p : {kinds[1]}"]
        at = {c: f"d{k}" for k, c in enumerate(order)}
        maps = [map_of(len(order), [at[c] for c in of]) for of in (of_x, of_w, of_y)]
        kinds_of = ["reduction" if c in "kl" else "parallel" for c in order]
        reads = [(x, maps[0], None), (w, maps[1], None)]
        got = self.nest([size[c] for c in order], kinds_of, reads, [(into.name, into.type)], maps[2:], body, [("%s", kinds[1])])[0]
        wide_of = object if kinds[1] in WHOLE else np.float64
        want = np.einsum(f"{''.join(of_x)},{''.join(of_w)}->{''.join(of_y)}", x.array.astype(wide_of), w.array.astype(wide_of))
        want = wrapped(want, kinds[1]) if kinds[1] in WHOLE else want / 1.0
        self.values.append(Value(got, kinds[1], np.array(want), max(x.near, NEAR[kinds[1]] if kinds[1] in FLOATS else 0)))

    # ---- tensors in other places ----

    def slice(self):
        v = self.any(lambda v: v.array.ndim)
        if not v:
            return
        steps = [self.draw.choice([1, 1, 1, 2, 3]) for _ in v.array.shape]
        first = [self.draw.randrange(n) if self.draw.random() < 0.5 else 0 for n in v.array.shape]
        sizes = [self.draw.randrange(1, (n - 1 - f) // s + 2) for n, f, s in zip(v.array.shape, first, steps)]
        want = v.array[tuple(np.s_[f : f + (n - 1) * s + 1 : s] for f, n, s in zip(first, sizes, steps))]
        if 1 in sizes and self.draw.random() < 0.4 and len(sizes) > 1:
            want = want.reshape([n for k, n in enumerate(sizes) if k != sizes.index(1)])
        self.add(f"tensor.extract_slice {v.name}{first} {sizes} {steps} : {v.type} to {tensor(want.shape, v.kind)}", v.kind, want, v.near)

    def insert(self):
        v = self.any(lambda v: v.array.ndim)
        if not v:
            return
        into = self.any(lambda u: u.kind == v.kind and u.array.ndim == v.array.ndim and all(a >= b for a, b in zip(u.array.shape, v.array.shape)) and u is not v)
        if not into:
            return
        first = [self.draw.randrange(a - b + 1) for a, b in zip(into.array.shape, v.array.shape)]
        want = into.array.copy()
        want[tuple(np.s_[f : f + n] for f, n in zip(first, v.array.shape))] = v.array
        sizes = list(v.array.shape)
        self.add(f"tensor.insert_slice {v.name} into {into.name}{first} {sizes} {[1] * len(sizes)} : {v.type} into {into.type}", v.kind, want, max(v.near, into.near))

    def pad(self):
        v = self.any(lambda v: v.array.ndim and v.array.size < 3000)
        if not v:
            return
        low = [self.draw.choice([0, 0, 1, 2]) for _ in v.array.shape]
        high = [self.draw.choice([0, 0, 1, 3]) for _ in v.array.shape]
        number = self.draw.choice([0, 1, -2])
        want = np.pad(v.array, list(zip(low, high)), constant_values=number)
        c = self.name()
        self.lines.append(f"{c} = arith.constant {f'{number}.0' if v.kind in FLOATS else number} : {v.kind}")
        places = ", ".join(f"%p{k}: index" for k in range(v.array.ndim))
        name = self.name()
        self.lines += [f"{name} = tensor.pad {v.name} low{low} high{high} {{", f"^bb0({places}):", f"tensor.yield {c} : {v.kind}",
                       f"}} : {v.type} to {tensor(want.shape, v.kind)}"]
        self.values.append(Value(name, v.kind, want, v.near))

    def collapse(self):
        v = self.any(lambda v: v.array.ndim > 1)
        if not v:
            return
        at = self.draw.randrange(v.array.ndim - 1)
        shape = list(v.array.shape)
        shape[at : at + 2] = [shape[at] * shape[at + 1]]
        groups = [[k] for k in range(at)] + [[at, at + 1]] + [[k] for k in range(at + 2, v.array.ndim)]
        self.add(f"tensor.collapse_shape {v.name} {groups} : {v.type} into {tensor(shape, v.kind)}", v.kind, v.array.reshape(shape), v.near)

    def expand(self):
        v = self.any(lambda v: v.array.ndim and v.array.ndim < 5)
        if not v:
            return
        at = self.draw.randrange(v.array.ndim)
        n = v.array.shape[at]
        part = self.draw.choice([k for k in range(1, n + 1) if n % k == 0])
        shape = [*v.array.shape[:at], n // part, part, *v.array.shape[at + 1 :]]
        groups = [[k] for k in range(at)] + [[at, at + 1]] + [[k + 1] for k in range(at + 1, v.array.ndim)]
        self.add(f"tensor.expand_shape {v.name} {groups} output_shape {shape} : {v.type} into {tensor(shape, v.kind)}", v.kind, v.array.reshape(shape), v.near)

    def concat(self):
        v = self.any(lambda v: v.array.ndim)
        if not v:
            return
        dim = self.draw.randrange(v.array.ndim)
        rest = lambda u: u.array.shape[:dim] + u.array.shape[dim + 1 :]  # noqa: E731
        u = self.any(lambda u: u.kind == v.kind and u.array.ndim == v.array.ndim and rest(u) == rest(v))
        want = np.concatenate([v.array, u.array], dim)
        if want.size <= 6000:
            self.add(f"tensor.concat dim({dim}) {v.name}, {u.name} : ({v.type}, {u.type}) -> {tensor(want.shape, v.kind)}", v.kind, want, max(v.near, u.near))

    def turn(self):
        v = self.any(lambda v: v.array.ndim > 1)
        if not v:
            return
        order = self.draw.sample(range(v.array.ndim), v.array.ndim)
        want = np.transpose(v.array, order)
        e = self.empty(want.shape, v.kind)
        of = tensor(want.shape, v.kind)
        self.add(f"linalg.transpose ins({v.name} : {v.type}) outs({e} : {of}) permutation = {order}", v.kind, want, v.near)

    def rows(self):
        """A loop that changes a tensor row by row, each by what the row before it has become."""
        v = self.any(lambda v: v.array.ndim == 2 and v.kind in ("f32", "i32") and 1 < v.array.shape[0] <= 40)
        if not v:
            return
        n, m = v.array.shape
        row, s = tensor((1, m), v.kind), len(self.lines)
        op = "maximumf" if v.kind == "f32" else "addi"
        self.lines += [f"%z{s} = arith.constant 0 : index", f"%o{s} = arith.constant 1 : index", f"%n{s} = arith.constant {n} : index"]
        name = self.name()
        self.lines += [
            f"{name} = scf.for %i = %o{s} to %n{s} step %o{s} iter_args(%t = {v.name}) -> ({v.type}) {{",
            f"%b = arith.subi %i, %o{s} : index",
            f"%x = tensor.extract_slice %t[%b, 0] [1, {m}] [1, 1] : {v.type} to {row}",
            f"%y = tensor.extract_slice %t[%i, 0] [1, {m}] [1, 1] : {v.type} to {row}",
            f"%s = arith.{op} %x, %y : {row}",
            f"%u = tensor.insert_slice %s into %t[%i, 0] [1, {m}] [1, 1] : {row} into {v.type}",
            f"scf.yield %u : {v.type}",
            "}",
        ]
        want = v.array.copy()
        for i in range(1, n):
            want[i] = np.maximum(want[i - 1], want[i]) if op == "maximumf" else wrapped(want[i - 1].astype(object) + want[i].astype(object), v.kind)
        self.values.append(Value(name, v.kind, want, v.near))

    # ---- a program ----

    def grow(self, steps):
        for _ in range(self.draw.choice([1, 2, 2, 3])):
            self.given(self.shape())
        base = self.values[0].array.shape  # others that fit beside it
        if base and self.draw.random() < 0.6:
            self.given(base[-1:], self.values[0].kind)
        ways = [self.pointwise] * 7 + [self.reduction] * 4 + [self.product] * 2 + [self.slice, self.insert, self.insert, self.pad, self.collapse, self.expand,
                self.concat, self.turn, self.rows]
        for _ in range(steps):
            way = self.draw.choice(ways)
            before = len(self.values)
            way()
            if len(self.values) > before:
                self.said.append(way.__name__)

    def results(self):
        made = [v for v in self.values if not v.name.startswith("%arg")]
        if not made:
            return {}
        last = [made[-1]] + [v for v in made[:-1] if self.draw.random() < 0.2]
        return {v.name: v for v in last}


def apart(value, got):
    """What is wrong with a result; None: nothing."""
    want = value.array
    if got.shape != want.shape or got.dtype != NAMES[value.kind]:
        return f"is {got.dtype}{list(got.shape)}, not {value.kind}{list(want.shape)}"
    if value.kind in WHOLE:
        bad = got != want
    else:
        bad = ~(np.abs(got.astype(np.float64) - want) <= max(value.near, NEAR[value.kind]) * max(1e-3, np.abs(want).max(initial=0)))
    if not bad.any():
        return None
    at = tuple(int(i) for i in np.argwhere(bad)[0])
    return f"{bad.sum()} of {bad.size} differ, the first at {list(at)}: {got[at]!r}, not {want[at]!r}"


def tried(options, seed, folder, target, bisect):
    """right, refused or wrong, and why."""
    program = Program(seed)
    program.grow(program.draw.randrange(2, 8))
    results = program.results()
    if not results:
        return "right", ""
    model = folder / "m.mlir"
    model.write_text(text.module(program.inputs, program.lines, {n: v.type for n, v in results.items()}))
    what = f"{seed} ({', '.join(program.said)}) for {target}"
    done = tools.call([f"{options.bin}/pbc", str(model), f"--target={target}", "-o", str(folder / "m.pbe"), *(["--bisect"] if bisect else [])])
    if done.returncode:
        first = (done.stderr.strip().splitlines() or ["nothing said"])[0]
        clear = done.returncode == 1 and "a bug in the compiler" not in done.stderr and "PB" in first
        return ("refused" if clear else "wrong"), f"{what}: exit code {done.returncode}: {first}"
    if not options.runs[target]:
        return "right", ""
    args = []
    for k, data in enumerate(program.inputs):
        np.save(folder / f"{k}.npy", data)
        args += ["--input", f"arg{k}={folder / f'{k}.npy'}"]
    for k in range(len(results)):
        args += ["--output", f"out{k}={folder / f'y{k}.npy'}"]
    done = tools.call([f"{options.bin}/pb-run", str(folder / "m.pbe"), *args])
    if done.returncode:
        return "wrong", f"{what}: {done.stderr.strip()[:300]}"
    for k, (name, value) in enumerate(results.items()):
        wrong = apart(value, np.load(folder / f"y{k}.npy"))
        if wrong:
            return "wrong", f"{what}: {name}: {wrong}"
    return "right", ""


def main():
    parser = tools.drawing(60)
    parser.add_argument("--bisect", type=int, default=0, help="the IR is run after every pass for each so many-th program")
    parser.add_argument("--targets", default="cpu")
    parser.add_argument("--refused", type=int, default=0, help="so many may be refused")
    options = parser.parse_args()
    targets = options.targets.split(",")
    options.runs = {target: tools.runs_here(options.bin, target) for target in targets}
    counts = {"right": 0, "refused": 0, "wrong": 0}
    with tempfile.TemporaryDirectory() as folder:
        for n in range(options.first, options.first + options.count):
            target = targets[n % len(targets)]
            how, why = tried(options, options.seed * 100003 + n, Path(folder), target, options.bisect and n % options.bisect == 0)
            counts[how] += 1
            if how != "right":
                print(f"{'FAILED' if how == 'wrong' else how} {n}: {why}", flush=True)
            if how != "right" and options.keep:
                options.keep.mkdir(parents=True, exist_ok=True)
                shutil.copy(Path(folder) / "m.mlir", options.keep / f"linalg-{options.seed}-{n}.mlir")
    print(f"{options.count} programs of seed {options.seed}: " + ", ".join(f"{n} {how}" for how, n in counts.items()))
    return 1 if counts["wrong"] or counts["refused"] > options.refused else 0


if __name__ == "__main__":
    sys.exit(main())
