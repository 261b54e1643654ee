"""Bodies of random linalg programs: lines of arith and math on elements, and what they come to of whole arrays. Floats are f64 in
NumPy whatever their type is; whole numbers wrap around as theirs do."""

import math

import numpy as np

from text import NAMES

FLOATS, WHOLE = ("f32", "f64", "f16"), ("i8", "i16", "i32", "i64")
NEAR = {"f32": 3e-5, "f64": 1e-11, "f16": 2e-2}  # of the largest: how far results of several roundings may be away
BITS = {"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64}
erf = np.vectorize(math.erf, otypes=[np.float64])


def holds(kind):
    """What NumPy holds the type in."""
    return np.float64 if kind in FLOATS else NAMES[kind]


def towards_zero(a, n):
    return np.sign(a) * (np.abs(a) // abs(n)) * (1 if n > 0 else -1)


class Body:
    """`values`: (name, type, array, near) by turns; near: how far it may be away, of the largest. 0: no rounding was before it, so
    that a comparison is the same everywhere."""

    def __init__(self, draw, turns):
        self.draw, self.turns, self.lines, self.values = draw, turns, [], []

    def name(self):
        return f"%b{len(self.lines)}"

    def take(self, name, kind, array, near):
        self.values.append((name, kind, array, near))

    def add(self, line, kind, array, near):
        name = self.name()
        self.lines.append(f"{name} = {line}")
        if kind in FLOATS:
            array = np.broadcast_to(np.asarray(array, np.float64), self.turns)
        else:
            array = np.broadcast_to(np.asarray(array).astype(holds(kind)), self.turns)
        self.take(name, kind, array, near)
        return self.values[-1]

    def constant(self, kind, value):
        if kind in FLOATS:
            value = round(float(value) * 64) / 64  # the same in each of them
            return self.add(f"arith.constant {value:.6f} : {kind}", kind, value, 0)
        return self.add(f"arith.constant {int(value)} : {kind}", kind, int(value), 0)

    def turn(self, loops):
        """The turn of a loop, as a number of a type."""
        loop, kind = self.draw.randrange(len(loops)), self.draw.choice(("f32", "i32", "i64"))
        at = np.indices(loops)[loop] if loops else np.zeros(())
        name = self.name()
        self.lines.append(f"{name} = linalg.index {loop} : index")
        whole = self.add(f"arith.index_cast {name} : index to {'i64' if kind == 'i64' else 'i32'}", "i64" if kind == "i64" else "i32", at, 0)
        if kind != "f32":
            return whole
        number = self.add(f"arith.sitofp {whole[0]} : i32 to f32", "f32", at, 0)
        return self.of_floats("mulf", number, self.constant("f32", 1 / 64))

    def of_floats(self, op, x, z):
        how = {"addf": np.add, "subf": np.subtract, "mulf": np.multiply, "maximumf": np.maximum, "minimumf": np.minimum,
               "maxnumf": np.fmax, "minnumf": np.fmin}[op]
        near = max(x[3], z[3], 0 if op[:3] in ("max", "min") else NEAR[x[1]])
        return self.add(f"arith.{op} {x[0]}, {z[0]} : {x[1]}", x[1], how(x[2], z[2]), near)

    def unary_float(self, x):
        name, kind, v, near = x
        ops = {
            "arith.negf": (lambda: -v, 0), "math.absf": (lambda: np.abs(v), 0), "math.tanh": (lambda: np.tanh(v), NEAR[kind]),
            "math.sin": (lambda: np.sin(v), NEAR[kind]), "math.cos": (lambda: np.cos(v), NEAR[kind]), "math.erf": (lambda: erf(v), NEAR[kind]),
            "math.atan": (lambda: np.arctan(v), NEAR[kind]),
        }
        if not near:
            ops |= {"math.floor": (lambda: np.floor(v), 0), "math.ceil": (lambda: np.ceil(v), 0), "math.roundeven": (lambda: np.rint(v), 0),
                    "math.trunc": (lambda: np.trunc(v), 0)}
        if np.abs(v).max(initial=0) < 4:
            ops |= {"math.exp": (lambda: np.exp(v), NEAR[kind]), "math.expm1": (lambda: np.expm1(v), NEAR[kind])}
        if v.min(initial=1) >= 0.25:
            ops |= {"math.sqrt": (lambda: np.sqrt(v), NEAR[kind]), "math.rsqrt": (lambda: 1 / np.sqrt(v), NEAR[kind]), "math.log": (lambda: np.log(v), NEAR[kind])}
        op = self.draw.choice(list(ops))
        return self.add(f"{op} {name} : {kind}", kind, ops[op][0](), max(near, ops[op][1]))

    def unary_whole(self, x):
        name, kind, v, near = x
        n = self.draw.choice([-7, -3, -2, 2, 3, 5, 16])
        shift = self.draw.randrange(BITS[kind])
        ops = {
            "divsi": lambda: (n, towards_zero(v.astype(object), n)), "remsi": lambda: (n, v.astype(object) - towards_zero(v.astype(object), n) * n),
            "floordivsi": lambda: (n, v.astype(object) // n), "ceildivsi": lambda: (n, -(-v.astype(object) // n)),
            "shrsi": lambda: (shift, v.astype(object) >> shift), "shli": lambda: (shift, v.astype(object) << shift),
            "muli": lambda: (n, v.astype(object) * n), "andi": lambda: (n, v.astype(object) & n), "xori": lambda: (n, v.astype(object) ^ n),
        }
        op = self.draw.choice(list(ops))
        n, want = ops[op]()
        other = self.constant(kind, n)
        return self.add(f"arith.{op} {name}, {other[0]} : {kind}", kind, wrapped(want, kind), near)

    def binary(self, x, z):
        if x[1] in FLOATS:
            return self.of_floats(self.draw.choice(["addf", "subf", "mulf", "mulf", "maximumf", "minimumf", "maxnumf", "minnumf"]), x, z)
        a, b = x[2].astype(object), z[2].astype(object)
        ops = {"addi": lambda: a + b, "subi": lambda: a - b, "muli": lambda: a * b, "maxsi": lambda: np.maximum(a, b), "minsi": lambda: np.minimum(a, b),
               "andi": lambda: a & b, "ori": lambda: a | b, "xori": lambda: a ^ b}
        op = self.draw.choice(list(ops))
        return self.add(f"arith.{op} {x[0]}, {z[0]} : {x[1]}", x[1], wrapped(ops[op](), x[1]), max(x[3], z[3]))

    def compared(self, x, z):
        how = self.draw.choice(["lt", "le", "gt", "ge", "eq", "ne"])
        want = {"lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal, "eq": np.equal, "ne": np.not_equal}[how](x[2], z[2])
        if x[1] in FLOATS:
            how, op = (("u" if how == "ne" else "o") + how), "cmpf"
        else:
            how, op = (how if how in ("eq", "ne") else "s" + how), "cmpi"
        return self.add(f"arith.{op} {how}, {x[0]}, {z[0]} : {x[1]}", "i1", want, 0)

    def chosen(self, x, z):
        exact = [v for v in self.values if not v[3] and v[1] != "i1"]
        pairs = [(a, b) for a in exact for b in exact if a[1] == b[1] and a is not b]
        if not pairs:
            return self.binary(x, z)
        c = self.compared(*self.draw.choice(pairs))
        return self.add(f"arith.select {c[0]}, {x[0]}, {z[0]} : {x[1]}", x[1], np.where(c[2], x[2], z[2]), max(x[3], z[3]))

    def turned(self, x, kind):
        """As a number of another type."""
        name, of, v, near = x
        if of == kind:
            return x
        if of in FLOATS and kind in FLOATS:
            wider = FLOATS.index(of) != 1 and (kind == "f64" or of == "f16")
            return self.add(f"arith.{'extf' if wider else 'truncf'} {name} : {of} to {kind}", kind, v.astype(NAMES[kind]), max(near, 0 if wider else NEAR[kind]))
        if of in WHOLE and kind in WHOLE:
            wider = BITS[kind] > BITS[of]
            op = self.draw.choice(["extsi", "extui"]) if wider else "trunci"
            v = v.view(f"u{v.dtype}") if op == "extui" else v
            return self.add(f"arith.{op} {name} : {of} to {kind}", kind, wrapped(v.astype(object), kind), near)
        if of == "i1":
            op = {"f": "uitofp", "i": "extui"}[kind[0]]
            return self.add(f"arith.{op} {name} : i1 to {kind}", kind, v, near)
        if of in WHOLE:
            small = self.add(f"arith.andi {name}, {self.constant(of, 63)[0]} : {of}", of, v & 63, near)
            return self.add(f"arith.sitofp {small[0]} : {of} to {kind}", kind, small[2], near)
        if near:  # a number beside a whole one may be cut to either
            return self.constant(kind, 3)
        return self.add(f"arith.fptosi {name} : {of} to {kind}", kind, np.clip(np.trunc(v), -128, 127), 0)

    def drawn(self, kind, steps):
        """So many steps, and a number of the type behind them."""
        for _ in range(steps):
            x = self.draw.choice([v for v in self.values if v[1] != "i1"] or [self.constant("f32", 0.5)])
            same = [v for v in self.values if v[1] == x[1]]
            z, turn = self.draw.choice(same), self.draw.random()
            if turn < 0.35:
                (self.unary_float if x[1] in FLOATS else self.unary_whole)(x)
            elif turn < 0.45:
                self.binary(x, self.constant(x[1], self.draw.uniform(-2, 2) * (1 if x[1] in FLOATS else 5)))
            elif turn < 0.6:
                self.chosen(x, z)
            elif turn < 0.7 and x[1] != kind:
                self.turned(x, kind)
            else:
                self.binary(x, z)
        of_kind = [v for v in self.values if v[1] == kind]
        last = of_kind[-1] if of_kind else self.turned(self.values[-1], kind)
        if kind in FLOATS and np.abs(last[2]).max(initial=0) > 8:  # numbers stay of one size
            last = self.add(f"math.tanh {last[0]} : {kind}", kind, np.tanh(last[2]), NEAR[kind])
        return last


def wrapped(numbers, kind):
    """Whole numbers of any size as the type keeps them."""
    low = np.vectorize(lambda n: (int(n) + (1 << (BITS[kind] - 1))) % (1 << BITS[kind]) - (1 << (BITS[kind] - 1)), otypes=[object])
    return (low(numbers) if np.size(numbers) else np.asarray(numbers)).astype(NAMES[kind])
