"""What of linalg is refused, by its words and its place; and damaged text: refused with a place, or right, never worse.

    tests/linalg/refusals.py --bin build/bin [--mutants N] [--seed S]"""

import argparse
import re
import sys
import tempfile

import cases
import models
import text
import tosa
from text import np

HEAD = "func.func @main(%a: tensor<4x6xf32>, %i: tensor<4xi64>) -> tensor<4x6xf32> {\n"
TAIL = "  return %r : tensor<4x6xf32>\n}\n"
EMPTY = "  %e = tensor.empty() : tensor<4x6xf32>\n"
ADD = "  ^bb0(%x: f32, %o: f32):\n    %v = arith.addf %x, %x : f32\n    linalg.yield %v : f32\n  } -> tensor<4x6xf32>\n"


def generic(maps, kinds="pp", body=ADD, ins="%a : tensor<4x6xf32>"):
    kinds = ", ".join(f'"{ {"p": "parallel", "r": "reduction"}[k]}"' for k in kinds)
    maps = ", ".join(f"affine_map<{m}>" for m in maps)
    return f"  %r = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}} ins({ins}) outs(%e : tensor<4x6xf32>) {{\n{body}"


SAME = ["(i, j) -> (i, j)", "(i, j) -> (i, j)"]


def blob(word):
    return f"{HEAD}  %w = arith.constant dense_resource<weight> : tensor<4x6xf32>\n  %r = arith.addf %a, %w : tensor<4x6xf32>\n{TAIL}{word}"


def section(value, name="weight", rest=""):
    return "{-#\n  dialect_resources: {\n    builtin: {\n      " + f"{name}: {value}{rest}\n" + "    }\n  }\n#-}\n"


GOOD = '"0x04000000' + "0000803F" * 24 + '"'


def refusals(bench):
    bench.say(bench.compile(blob(section(GOOD))).returncode == 0, "a blob that fits")
    quoted = blob(section(GOOD, '"a b"')).replace("<weight>", '<"a b">')
    bench.say(bench.compile(quoted).returncode == 0, "a blob whose name stands between quotation marks")
    for what, model, *words in (
        (
            "operators that are not read, all at once",
            f"{HEAD}{EMPTY}  %s, %u = math.sincos %a : tensor<4x6xf32>\n"
            '  %t = "foo.bar"(%s) : (tensor<4x6xf32>) -> tensor<4x6xf32>\n  %r = "arithx.addf"(%t) : (tensor<4x6xf32>) -> tensor<4x6xf32>\n' + TAIL,
            "m.mlir:3:12: error: operator 'math.sincos' is not read",
            "m.mlir:4:8: error: operator 'foo.bar' is not read",
            "m.mlir:5:8: error: operator 'arithx.addf' is not read",
            "perhaps arith.addf",
        ),
        ("an operator that linalg has not", f'{HEAD}  %r = "linalg.matmull"(%a) : (tensor<4x6xf32>) -> tensor<4x6xf32>\n{TAIL}', "m.mlir:2:8: error: unregistered operation 'linalg.matmull'"),
        ("text that is none", f"{HEAD}  %r = arith.addf %a, %b : tensor<4x6xf32>\n{TAIL}", "m.mlir:2:23: error", "undeclared SSA value"),
        ("MLIR's rules", f"{HEAD}{EMPTY}{generic(SAME[:1])}{TAIL}", "m.mlir:3:8: error", "PB2001"),
        ("what MLIR's own builders make of types that do not fit", "func.func @main(%a: tensor<1x6x6x1x3xui64>, %b: tensor<1x4x2x2x3xui64>, %z: i32, %e: tensor<1x5x5x1x4xi32>) -> tensor<1x5x5x1x4xi32> {\n"
         "  %n = arith.constant 0 : index\n  %r = linalg.conv_2d_nhwgc_gfhwc_q ins(%a, %b, %z, %z : tensor<1x6x6x1x3xui64>, tensor<1x4x2x2x3xui64>, i32, i32) outs(%e : tensor<1x5x5x1x4xi32>) -> tensor<1x5x5x1x4xi32>\n"
         "  return %r : tensor<1x5x5x1x4xi32>\n}\n", "m.mlir:3:3: error: 'arith.trunci' op", "PB2001"),
        ("a map that is no sum", f"{HEAD}{EMPTY}{generic(['(i, j) -> (i, j floordiv 1 mod 6)', SAME[1]])}{TAIL}", "m.mlir:3:8: error", "PB2110"),
        ("an extent that is not known", HEAD.replace("4x6", "?x6") + "  %r = arith.addf %a, %a : tensor<?x6xf32>\n" + TAIL.replace("4x6", "?x6"), "m.mlir:", "values of tensor<?x6xf32> are not supported"),
        ("memrefs", "func.func @main(%a: memref<4xf32>) {\n  %c = arith.constant 0.0 : f32\n  linalg.fill ins(%c : f32) outs(%a : memref<4xf32>)\n  return\n}\n", "m.mlir:1:1: error: func.func: values of memref<4xf32> are not supported"),
        ("what a tensor.empty holds", f"{HEAD}{EMPTY}  %r = arith.addf %a, %e : tensor<4x6xf32>\n{TAIL}", "m.mlir:3:8: error: arith.addf: it reads a tensor.empty"),
        (
            "a result that its loops write several times",
            f"{HEAD}{EMPTY}{generic(['(i, j, k) -> (i, j)', '(i, j, k) -> (k, j)', '(i, j, k) -> (i, j)'], 'ppr', ADD.replace('%x: f32, %o', '%x: f32, %y: f32, %o'), '%a, %a : tensor<4x6xf32>, tensor<4x6xf32>')}{TAIL}",
            "a result that its loops write several times",
        ),
        ("a tensor from outside in a body", f"{HEAD}{EMPTY}{generic(SAME, body=ADD.replace('%v = arith.addf %x, %x : f32', '%u = arith.addf %a, %a : tensor<4x6xf32> %v = arith.addf %x, %x : f32').replace('> %v', '>%cut').replace('%cut', chr(10) + '    %v'))}{TAIL}".replace("linalg.yield %v", "%q = tensor.extract %u[%n, %n] : tensor<4x6xf32>\n    linalg.yield %q").replace("    %u =", "    %n = arith.constant 0 : index\n    %u ="), "m.mlir:6:10: error: arith.addf: in the body of another operator"),
        ("a slice at a place where it does not fit", f"{HEAD}  %n = arith.constant 2 : index\n  %s = tensor.extract_slice %a[%n, 0] [4, 6] [1, 1] : tensor<4x6xf32> to tensor<4x6xf32>\n  %r = arith.addf %s, %s : tensor<4x6xf32>\n{TAIL}", "m.mlir:3:8: error: tensor.extract_slice: a slice that does not fit"),
        ("a slice of a size that an operand says", f"{HEAD}  %n = arith.constant 0 : index\n  %s = tensor.extract_slice %a[0, 0] [%n, 6] [1, 1] : tensor<4x6xf32> to tensor<?x6xf32>\n  %r = arith.addf %a, %a : tensor<4x6xf32>\n{TAIL}", "m.mlir:3:8: error: tensor.extract_slice"),
        ("a blob that is not there", blob(""), "m.mlir:2:8: error: arith.constant: dense_resource<weight>", "no such blob"),
        ("a blob of another size", blob(section(GOOD[:-3] + '"')), "m.mlir:2:8: error", "of another size"),
        ("a blob of letters", blob(section('"0x04000000zz"')), "m.mlir:9:16: error: a blob of something else than digits"),
        ("a blob without its alignment", blob(section('"0x0400"')), "m.mlir:9:16: error: a blob is 0x"),
        ("a blob twice", blob(section(GOOD, rest=f",\n      weight: {GOOD}")), "m.mlir:10:16: error: a second blob of this name"),
        ("a blob behind one whose bytes are ends of lines", blob(section(GOOD.replace("0000803F", "0A0A0A0A"), rest=',\n      other: "0x04000000zz"')), "m.mlir:10:15: error: a blob of something else than digits"),
        ("a section that does not end", blob(section(GOOD)).replace("#-}", ""), "m.mlir:13:1: error: '#-}' is missing"),
        ("a string that does not end", blob(section(GOOD[:-1])), "m.mlir:9:15: error: a string that does not end"),
        ("no @main", "func.func @a() {\n  return\n}\nfunc.func @b() {\n  %c = arith.constant 1 : i32\n  return\n}\n", "there is no function 'main'"),
        ("a global", "ml_program.global private @g(dense<0> : tensor<i64>) : tensor<i64>\nfunc.func @main() -> tensor<i64> {\n  %r = ml_program.global_load @g : tensor<i64>\n  %s = arith.addi %r, %r : tensor<i64>\n  return %s : tensor<i64>\n}\n", "m.mlir:3:8: error: operator 'ml_program.global_load' is not read"),
        ("control flow", f"{HEAD}  %r = scf.execute_region -> tensor<4x6xf32> {{\n    scf.yield %a : tensor<4x6xf32>\n  }}\n{TAIL}", "m.mlir:2:8: error: operator 'scf.execute_region' is not read"),
    ):
        bench.refuses(what, model, *words)


def changed(random, data):
    """Up to three edits, most of them in front of the blobs."""
    data = bytearray(data)
    end = data.find(b"{-#")
    for _ in range(int(random.integers(1, 4))):
        at = int(random.integers(0, end if end > 0 and random.random() < 0.9 else len(data)))
        how = int(random.integers(0, 5))
        if how == 0:
            data[at] = int(random.integers(32, 127))
        elif how == 1:
            del data[at : at + int(random.integers(1, 20))]
        elif how == 2:
            found = list(re.finditer(rb"\b\d+\b", data[:end]))
            if found:
                m = found[int(random.integers(0, len(found)))]
                data[m.start() : m.end()] = str(int(random.choice([0, 1, 2, 7, -1, 1 << 31, 1 << 40]))).encode()
        elif how == 3:
            words = list(re.finditer(rb"[a-z_]+\.[a-z_0-9]+|%\w+|#map\d*|[fi]\d\d", data[:end]))
            a, b = (words[int(random.integers(0, len(words)))] for _ in range(2))
            data[a.start() : a.end()] = b.group()
        else:
            lines = data.split(b"\n")
            k = int(random.integers(0, len(lines)))
            lines.insert(k, lines[int(random.integers(0, len(lines)))]) if random.random() < 0.5 else lines.pop(k)
            data = bytearray(b"\n".join(lines))
            end = data.find(b"{-#")
    return bytes(data)


def damaged(bench, count, seed):
    random = np.random.default_rng(seed)
    whole = models.draw("bert")[0]
    small = blob(section(GOOD)) + ""
    layers = whole[: whole.index("{-#")]
    loop = cases.LOOP.replace("FROM", "0").replace("STEP", "1").replace("TO", "4").replace("BOUND", "%n")
    rescale = next(tosa.rescales())
    codes = text.module(rescale.inputs, rescale.lines, {"%r": text.tensor(rescale.want)})
    sources = [t.encode() for t in (layers, small, loop, codes, cases.WHILE, small, cases.BRANCH)]
    refused = good = unplaced = 0
    for k in range(count):
        model = changed(random, sources[k % len(sources)])
        done = bench.compile(model)
        placed = re.search(r"m\.mlir:\d+:\d+: error: .*\[PB\d{4}\]", done.stderr)
        named = re.search(r"m\.mlir.*error: .*\[PB\d{4}\]", done.stderr)
        refused, good = refused + (done.returncode == 1), good + (done.returncode == 0)
        unplaced += done.returncode == 1 and not placed
        if done.returncode not in (0, 1) or (done.returncode == 1 and not named):
            bench.say(False, f"mutant {k} of seed {seed}: exit code {done.returncode}, {done.stderr[:300]!r}")
    bench.say(refused > count / 4, f"{count} damaged texts: {refused} refused, {unplaced} of them as a whole, {good} compiled")
    bench.say(unplaced <= count / 10, "what is refused has a place")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", default="build/bin")
    parser.add_argument("--mutants", type=int, default=200)
    parser.add_argument("--seed", type=int, default=4)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = text.Bench(args.bin, folder)
        refusals(bench)
        damaged(bench, args.mutants, args.seed)
    return 1 if bench.failed else 0


if __name__ == "__main__":
    sys.exit(main())
