"""The files of the StableHLO suite as models: @inputs' constants become arguments, @expected's stay outside, checks are
taken out. No MLIR here: the suite's files are generic text, an operation a line."""

import re
import tarfile
from pathlib import Path

import numpy as np

TYPES = {
    "f32": np.float32,
    "f64": np.float64,
    "f16": np.float16,
    "bf16": np.uint16,  # its bits
    "i1": np.bool_,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "ui8": np.uint8,
    "ui16": np.uint16,
    "ui32": np.uint32,
    "ui64": np.uint64,
    "complex<f32>": np.complex64,
    "complex<f64>": np.complex128,
}


class NotRead(Exception):
    pass


def unpacked(folder):
    """The suite's files in folder, and where there. Python has filters of archives from 3.11.4 on, Debian 12 has 3.11.2."""
    with tarfile.open(Path(__file__).parent / "data" / "stablehlo-dev.tar.xz") as archive:
        archive.extractall(folder, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    return Path(folder) / "stablehlo"


def tensor_type(text):
    """tensor<2x3xf32> -> ((2, 3), "f32")"""
    inner = re.fullmatch(r"tensor<(.*)>", text.strip()).group(1)
    shape = []
    while m := re.match(r"(\d+)x", inner):
        shape.append(int(m.group(1)))
        inner = inner[m.end() :]
    return tuple(shape), inner


def to_bf16(values):
    bits = np.asarray(values, np.float32).view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def number(text, element):
    text = text.strip()
    if text in ("true", "false"):
        return text == "true"
    if text.startswith("0x") and element in ("f32", "f64", "f16", "bf16"):
        width = {"f32": np.uint32, "f64": np.uint64, "f16": np.uint16, "bf16": np.uint16}[element]
        bits = np.array([int(text, 16)], width)
        return bits[0] if element == "bf16" else bits.view(TYPES[element])[0]
    if element in ("f32", "f64", "f16"):
        return float(text)
    if element == "bf16":
        return to_bf16([float(text)])[0]
    return int(text, 0)


def dense(text, type_text):
    """The elements of dense<...> : tensor<...>."""
    shape, element = tensor_type(type_text)
    if element not in TYPES:
        raise NotRead(f"elements of {element}")
    dtype = np.dtype(TYPES[element])
    count = int(np.prod(shape, dtype=np.int64))
    if text.startswith('"0x'):
        raw = bytes.fromhex(text[3:-1])
        if element == "i1":
            packed = np.frombuffer(raw, np.uint8)
            if len(packed) == count:
                return (packed != 0).reshape(shape)
            return np.unpackbits(packed, bitorder="little")[:count].astype(bool).reshape(shape)
        return np.frombuffer(raw, dtype).reshape(shape).copy()
    if element.startswith("complex"):
        part = element[8:-1]
        pairs = re.findall(r"\(([^(),]+),([^(),]+)\)", text)
        items = [complex(number(a, part), number(b, part)) for a, b in pairs]
    else:
        items = [number(t, element) for t in re.findall(r"[^\[\],\s]+", text)]
    out = np.array(items, dtype)
    return (np.full(shape, out[0], dtype) if len(out) == 1 else out.reshape(shape)).astype(dtype)


OP = re.compile(r'^\s*(?:(%[\w]+)(?::(\d+))? = )?"([\w.]+)"\((.*?)\)(.*)$')
CONSTANT = re.compile(r'^\s*(%\w+) = "stablehlo.constant"\(\) <\{value = dense<(.*)> : (tensor<[^{}]*>)\}> :')


def constants_of(lines, name):
    """What a function of constants returns."""
    start = next((k for k, line in enumerate(lines) if f'sym_name = "{name}"' in line), None)
    if start is None:
        return []
    found = {}
    for line in lines[start:]:
        if m := CONSTANT.match(line):
            found[m.group(1)] = (m.group(2), m.group(3))
        if '"func.return"' in line:
            names = re.search(r'"func.return"\(([^)]*)\)', line).group(1)
            return [found[n.strip()] for n in names.split(",") if n.strip()]
    return []


class Case:
    """A static file: text for the compiler, inputs, and a check for each output: (how, expected, type)."""

    def __init__(self, path):
        lines = path.read_text().splitlines()
        main = next(k for k, line in enumerate(lines) if 'sym_name = "main"' in line)
        end = next(k for k in range(main, len(lines)) if '"func.return"' in lines[k])
        inputs, wanted = constants_of(lines, "inputs"), constants_of(lines, "expected")
        self.inputs = [dense(*c) for c in inputs]
        self.checks = []
        body, input_name, expected_name, actual = [], None, None, []
        for line in lines[main + 1 : end]:
            if "callee = @inputs}" in line:
                input_name = re.match(r"\s*(%\w+)", line).group(1)
            elif "callee = @expected}" in line:
                expected_name = re.match(r"\s*(%\w+)", line).group(1)
            elif '"check.expect' in line:
                m = re.search(r"custom_call\"\(([^,]+), ([^)]+)\).*target_name = \"(check\.\w+)\".*: \(([^)]*)\) ->", line)
                which = int(m.group(2).split("#")[1]) if "#" in m.group(2) else 0
                kind = re.findall(r"tensor<[^,]*?>(?:>)?(?=,|$)", m.group(4))[0]
                self.checks.append((m.group(3), dense(*wanted[which]), tensor_type(kind)[1]))
                actual.append((m.group(1), kind))
            else:
                body.append(line)
        if not self.checks:
            raise NotRead("no check")
        kinds = [c[1] for c in inputs]

        def renamed(text):
            if input_name is None:
                return text
            text = re.sub(re.escape(input_name) + r"#(\d+)", r"%model_arg\1", text)
            return re.sub(re.escape(input_name) + r"(?![\w#])", "%model_arg0", text)

        out = ['"builtin.module"() ({']
        results = ", ".join(k for _, k in actual)
        made = results if len(actual) == 1 else f"({results})"
        out.append(f'  "func.func"() <{{function_type = ({", ".join(kinds)}) -> {made}, sym_name = "main"}}> ({{')
        if kinds:
            out.append("  ^bb0(" + ", ".join(f"%model_arg{k}: {t}" for k, t in enumerate(kinds)) + "):")
        out += [renamed(line) for line in body]
        out.append(f'    "func.return"({", ".join(renamed(a) for a, _ in actual)}) : ({results}) -> ()')
        out.append("  }) : () -> ()")
        out += self.others(lines)
        out.append("}) : () -> ()")
        self.text = "\n".join(out) + "\n"

    @staticmethod
    def others(lines):
        """The functions that main calls."""
        out, keep = [], False
        for line in lines:
            if line.startswith('  "func.func"'):
                keep = not re.search(r'sym_name = "(main|inputs|expected)"', line)
            if keep and line.startswith("  "):
                out.append(line)
        return out


def widened(values, element):
    """Codes of bf16 as f32, to look at."""
    return (values.astype(np.uint32) << 16).view(np.float32) if element == "bf16" else values


def parts(values):
    return (values.real, values.imag) if np.iscomplexobj(values) else (values,)


def ulps(a, b):
    """By how many numbers of their type two arrays of floats differ; -1 where one is not finite and they differ."""
    width = {2: np.int16, 4: np.int32, 8: np.int64}[a.dtype.itemsize]
    raw = [np.ascontiguousarray(v).view(width).astype(object) for v in (a, b)]
    least = int(np.iinfo(width).min)
    line = [np.vectorize(lambda v: v if v >= 0 else least - v, otypes=[object])(v) for v in raw]
    return np.abs(line[0] - line[1])


def passes(how, actual, expected, element):
    """Whether the check holds, and by how much not."""
    if actual.shape != expected.shape:
        return False, f"shape {actual.shape}, not {expected.shape}"
    if element == "bf16":
        a, e = widened(actual, element), widened(expected, element)
    else:
        a, e = actual, expected
    is_float = element in ("f32", "f64", "f16", "bf16") or element.startswith("complex")
    if how in ("check.expect_eq", "check.eq") or not is_float:
        same = a == e
        return bool(np.all(same)), f"{int(np.sum(~same))} of {same.size} differ"
    worst = 0
    for x, y in zip(parts(a), parts(e)):
        if not x.size:
            continue
        both_nan = np.isnan(x) & np.isnan(y)
        if how == "check.expect_almost_eq":
            with np.errstate(all="ignore"):
                good = both_nan | (x == y) | (np.abs(x.astype(np.float64) - y.astype(np.float64)) <= 1e-3)
            if not np.all(good):
                return False, f"{int(np.sum(~good))} of {good.size} differ by more than 0.001"
            continue
        odd = ~(np.isfinite(x) & np.isfinite(y)) & ~both_nan & ~(x == y)
        if np.any(odd):
            return False, f"{int(np.sum(odd))} of {odd.size} not finite and different"
        codes = [v if element != "bf16" else (v.view(np.uint32) >> 16).astype(np.uint16).view(np.int16) for v in (x, y)]
        away = ulps(np.atleast_1d(codes[0]), np.atleast_1d(codes[1])) if x.size else np.zeros(1)
        away = np.where(np.atleast_1d(both_nan), 0, away)
        worst = max(worst, int(np.max(away)))
    return worst <= 3, f"{worst} ULP away"
