"""The quantised files and the interpreter's files of the StableHLO suite: modules whose checks stand among their operations.
Constants of @main come at run time, but those that say extents; what is checked is returned, and compared here."""

import re

import numpy as np
import suite

CODES = {"i4": (4, True), "ui4": (4, False), "i2": (2, True), "ui2": (2, False)}  # bits, with a sign: a byte each
EXTENTS = {  # operands that say extents, from this one on
    "stablehlo.dynamic_broadcast_in_dim": 1,
    "stablehlo.dynamic_conv": 2,
    "stablehlo.dynamic_gather": 2,
    "stablehlo.dynamic_iota": 0,
    "stablehlo.dynamic_pad": 2,
    "stablehlo.dynamic_reshape": 1,
    "stablehlo.real_dynamic_slice": 1,
}
CHECK = re.compile(r'^\s*"check\.(\w+)"\(([^)]*)\)(.*) : \((.*)\) -> \(\)$')
EQUAL = re.compile(r'^\s*(?:%\w+ = )?"stablehlo\.custom_call"\((%[\w#]+), (%[\w#]+)\) <\{.*"check\.eq".*\}> : \((tensor<.*>), tensor<.*>\) ->')
PROBE = re.compile(r'^\s*(%\w+) = "interpreter\.probe"\((%[\w#]+)\) <\{probe_id = ("[^"]*")\}> : ')


def modules_of(path):
    return [text.strip("\n") for text in path.read_text().split("// -----\n")]


def is_distributed(text):
    return '"interpreter.run_parallel"' in text


def function_lines(text):
    """The lines of the function that is run: its head, its body; and those of all others."""
    functions, lines = [], text.splitlines()
    for k, line in enumerate(lines):
        if line.startswith('  "func.func"'):
            end = next(e for e in range(k, len(lines)) if lines[e].startswith("  }"))
            functions.append(lines[k : end + 1])
    checked = [f for f in functions if any('"check.' in line for line in f)]
    chosen = next((f for f in functions if 'sym_name = "main"' in f[0]), None)
    chosen = chosen or (functions[0] if len(functions) == 1 else checked[0] if len(checked) == 1 else None)
    if chosen is None:
        raise suite.NotRead("no function to run")
    return chosen, [line for f in functions if f is not chosen for line in f]


def dense(text, type_text):
    shape, element = suite.tensor_type(type_text)
    if element not in CODES:
        return suite.dense(text, type_text)
    plain = suite.dense(text, type_text.replace(element, "i8" if CODES[element][1] else "ui8"))
    return plain


def read_codes(raw, element):
    """The numbers of codes of a byte each, as an engine writes them."""
    bits, signed = CODES[element]
    value = raw.view(np.uint8).astype(np.int16) & ((1 << bits) - 1)
    return (value - ((value >> (bits - 1)) << bits)).astype(np.int8) if signed else value.astype(np.uint8)


def as_input(data, element):
    """The array that pb-run reads."""
    if element in CODES:
        return data.view("V1")
    return data


class Module:
    """text for the compiler; `inputs`: (array, element type); `outputs`: element types; `checks`: (how, output, the array
    that is expected or the number of another output, tolerance)."""

    def __init__(self, text):
        (head, *body), self.others = function_lines(text)
        self.inputs, self.checks, self.outputs = [], [], []
        self.returned, self.arguments, kept = [], [], []
        self.fixed = self.extents(body)
        probes = {}
        for line in body[:-1]:
            constant, probe = suite.CONSTANT.match(line), PROBE.match(line)
            if line.lstrip().startswith("^bb0") and line.startswith("  ^"):
                for name, kind in re.findall(r"(%\w+): (tensor<.*?>)(?=, %|\):$)", line):
                    shape, element = suite.tensor_type(kind)
                    self.take(name, kind, np.zeros(shape, suite.TYPES[element]))
            elif line.startswith('    "func.return"'):
                continue
            elif probe and line.startswith("    %"):
                probes[probe.group(3)] = probe.group(2)
                kept.append(line.replace('"interpreter.probe"', '"stablehlo.optimization_barrier"').replace(f" <{{probe_id = {probe.group(3)}}}>", ""))
            elif constant and line.startswith("    %") and constant.group(1) not in self.fixed and self.element(constant.group(3)):
                self.take(constant.group(1), constant.group(3), dense(constant.group(2), constant.group(3)))
            elif not self.take_check(line, probes):
                kept.append(line)
        if not self.returned:  # compiled and run, that is all
            self.return_unread(kept)
        self.text = self.module(kept)

    @staticmethod
    def element(kind):
        m = re.search(r"(?:x|<)((?:complex<f\d+>|[a-z]+\d+))>$", kind)
        return m and (m.group(1) in suite.TYPES or m.group(1) in CODES)

    @staticmethod
    def extents(body):
        found = set()
        for line in body:
            m = suite.OP.match(line)
            if m and m.group(3) in EXTENTS:
                found.update(name.strip() for name in m.group(4).split(",")[EXTENTS[m.group(3)] :])
        return found

    def take(self, name, kind, data):
        self.arguments.append((name, kind))
        self.inputs.append((data, suite.tensor_type(kind)[1]))

    def output(self, name, kind):
        if (name, kind) not in self.returned:
            self.returned.append((name, kind))
            self.outputs.append(suite.tensor_type(kind)[1])
        return self.returned.index((name, kind))

    def take_check(self, line, probes):
        equal, check = EQUAL.match(line), CHECK.match(line)
        if equal:
            a, b, kind = equal.groups()
            constants = [k for k, (name, _) in enumerate(self.arguments) if name in (a, b)]
            expected = next((k for k in constants[::-1] if self.arguments[k][0] == a), constants[-1] if constants else None)
            if expected is None:
                self.checks.append(("near", self.output(a, kind), self.output(b, kind), 1e-4))
            else:
                actual = b if self.arguments[expected][0] == a else a
                self.checks.append(("near", self.output(actual, kind), self.inputs[expected][0], 1e-4))
            return True
        if not check:
            return False
        how, operands, attributes, kinds = check.groups()
        names = [name.strip() for name in operands.split(",")]
        kind = re.match(r"tensor<[^<>]*(?:<[^<>]*>)?[^<>]*>", kinds).group()
        tolerance = re.search(r"(?:tolerance|atol) = ([-+.\dEe]+)", attributes)
        ulps = re.search(r"max_ulp_difference = (\d+)", attributes)
        value = re.search(r"value = dense<(.*)> : (tensor<[^{}]*>)\}>$", attributes)
        if how == "expect_serialized_eq":
            probe = probes.get(re.search(r'probe_id = ("[^"]*")', attributes).group(1))
            if probe is None:
                raise suite.NotRead("probe inside of a loop")
            expected = self.output(probe, kind)
        else:
            expected = dense(*value.groups()) if value else self.output(names[1], kind)
        limit = float(tolerance.group(1)) if tolerance else int(ulps.group(1)) if ulps else 1 if how == "expect_close" else 1e-4
        word = {"expect_close": "ulps", "expect_almost_eq": "near", "expect_almost_eq_const": "near"}.get(how, "equal")
        self.checks.append((word, self.output(names[0], kind), expected, limit))
        return True

    def return_unread(self, kept):
        read = " ".join(line.split("= ", 1)[-1] for line in kept)
        for line in kept:
            m = re.match(r"    (%\w+) = .* -> (tensor<[^<>]*(?:<[^<>]*>)?[^<>]*>)$", line)
            if m and self.element(m.group(2)) and not re.search(re.escape(m.group(1)) + r"\b", read):
                self.output(m.group(1), m.group(2))
        for name, kind in self.arguments if not self.returned else []:
            self.output(name, kind)

    def module(self, kept):
        results = ", ".join(kind for _, kind in self.returned)
        made = results if len(self.returned) == 1 else f"({results})"
        out = ['"builtin.module"() ({']
        out.append(f'  "func.func"() <{{function_type = ({", ".join(kind for _, kind in self.arguments)}) -> {made}, sym_name = "main"}}> ({{')
        if self.arguments:
            out.append("  ^bb0(" + ", ".join(f"{name}: {kind}" for name, kind in self.arguments) + "):")
        out += kept
        out.append(f'    "func.return"({", ".join(name for name, _ in self.returned)}) : ({results}) -> ()')
        return "\n".join([*out, "  }) : () -> ()", *self.others, "}) : () -> ()"]) + "\n"

    def judge(self, outputs):
        """Why the outputs do not pass, or None."""
        values = [read_codes(raw, element) if element in CODES else raw for raw, element in zip(outputs, self.outputs)]
        for how, k, expected, limit in self.checks:
            want = values[expected] if isinstance(expected, int) else expected
            good, why = compare(how, values[k], want, self.outputs[k], limit)
            if not good:
                return f"out{k} ({self.outputs[k]}, {how}): {why}"
        return None


def compare(how, actual, expected, element, limit):
    if actual.shape != expected.shape:
        return False, f"shape {actual.shape}, not {expected.shape}"
    a, e = suite.widened(actual, element), suite.widened(expected, element)
    is_float = np.iscomplexobj(e) or e.dtype.kind == "f"
    if how == "ulps":
        apart = suite.ulps(np.atleast_1d(a), np.atleast_1d(e))
        return bool((apart <= limit).all()), f"{int(apart.max())} ULP away, {limit} allowed"
    if how == "equal" or not is_float:
        same = np.asarray(a == e)
        return bool(same.all()), f"{int((~same).sum())} of {same.size} differ, the first {np.asarray(a)[~same][:1]}, not {np.asarray(e)[~same][:1]}"
    for x, y in zip(suite.parts(a), suite.parts(e)):
        with np.errstate(all="ignore"):
            good = (x == y) | (np.isnan(x) & np.isnan(y)) | (np.abs(x.astype(np.float64) - y.astype(np.float64)) <= limit)
        if not np.all(good):
            return False, f"{int(np.sum(~good))} of {good.size} differ by more than {limit:g}, the first {np.asarray(x)[~good][:1]}, not {np.asarray(y)[~good][:1]}"
    return True, ""
