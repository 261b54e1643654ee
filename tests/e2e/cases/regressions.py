"""The models of regression_cases.py: each is compiled, run, and compared with ONNX Runtime without its optimisations
of graphs. f32 within 1e-5 of the largest number, NaN where ONNX Runtime has it; codes within one. What nobody could run is refused, with its
code and within a second of its own time (--within: sanitizers make ten of one). What this processor cannot run is compiled alone.

    regressions.py --bin BUILD/bin [--only TEXT] [--bisect] [--within SECONDS] [--list]
"""

import argparse
import concurrent.futures
import contextlib
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import tools  # noqa: E402

tools.require("numpy", "onnx", "onnxruntime")
tools.fill_memory()
import numpy as np  # noqa: E402
import onnx  # noqa: E402
from float_graph import expected_of  # noqa: E402
import box_cases  # noqa: E402, F401  (registers its cases)
import cast_cases  # noqa: E402, F401  (the same)
import code_cases  # noqa: E402, F401  (the same)
import control_cases  # noqa: E402, F401  (the same)
import edge_cases  # noqa: E402, F401  (the same)
import empty_cases  # noqa: E402, F401  (the same)
import file_cases  # noqa: E402, F401  (the same)
import folded_cases  # noqa: E402, F401  (the same)
import half_cases  # noqa: E402, F401  (the same)
import image_cases  # noqa: E402, F401  (the same)
import qoperator_cases  # noqa: E402, F401  (the same)
import rank_cases  # noqa: E402, F401  (the same)
import integer_cases  # noqa: E402, F401  (the same)
import many_cases  # noqa: E402, F401  (the same)
import nan_cases  # noqa: E402, F401  (the same)
import order_cases  # noqa: E402, F401  (the same)
import place_cases  # noqa: E402, F401  (the same)
import product_cases  # noqa: E402, F401  (the same)
import recurrent_cases  # noqa: E402, F401  (the same)
import short_row_cases  # noqa: E402, F401  (the same)
import shuffle_cases  # noqa: E402, F401  (the same)
import token_cases  # noqa: E402, F401  (the same)
import volume_cases  # noqa: E402, F401  (the same)
import window_cases  # noqa: E402, F401  (the same)
from random_codes import layers_apart  # noqa: E402
from reference import Reference  # noqa: E402
from regression_cases import CASES  # noqa: E402

DEVICES = {"cpu": "native", "simnpu": "machine"}
TOLERANCE = 1e-5


def apart(expected, actual, step):
    """What is wrong with an output, or None."""
    if expected.shape != actual.shape or expected.dtype != actual.dtype:
        return f"is {actual.dtype}{list(actual.shape)}, not {expected.dtype}{list(expected.shape)}"
    finite = np.abs(expected[np.isfinite(expected)])
    most = 1.001 * step if step else TOLERANCE * max(finite.max(initial=0), 1e-30)
    with np.errstate(invalid="ignore"):
        same = (expected == actual) | (np.isnan(expected) & np.isnan(actual)) | (np.abs(expected - actual) <= most)
    if same.all():
        return None
    at = tuple(int(i) for i in np.argwhere(~same)[0])
    return f"{(~same).sum()} of {same.size} differ, the first at {list(at)}: {actual[at]!r}, not {expected[at]!r}"


def busy(server):
    """Seconds that the process which does the server's jobs has used of processors, or None where the system does not say."""
    with contextlib.suppress(OSError):
        total, pid = 0, server.process.pid
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            workers = file.read().split()
        for worker in workers:
            with open(f"/proc/{worker}/stat", encoding="utf-8", errors="replace") as file:
                total += sum(map(int, file.read().rsplit(")", 1)[1].split()[11:15]))  # its own and its children's
        return total / os.sysconf("SC_CLK_TCK")
    return None


def timed(command):
    """The exit code, what was printed, and the seconds of the command's own time. pb-server's worker is warm: a process of its own
    reads description and libraries first."""
    server = tools.server_for(command[0])
    start = busy(server) if server else None
    if start is not None:
        result = tools.call(command, 120)
        return result.returncode, result.stdout + result.stderr, (busy(server) or 0) - start
    with tempfile.TemporaryFile("w+") as told:
        process = subprocess.Popen(command, stdout=told, stderr=told)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        told.seek(0)
        return process.returncode, told.read(), usage.ru_utime + usage.ru_stime


def refused(command, code, says, within):
    """In so many seconds of the process's own time: that it ends, not how fast the machine is."""
    try:
        exit_code, printed, took = timed(command)
    except subprocess.TimeoutExpired:
        return ["no end"]
    if exit_code != 1 or f"[{code}]" not in printed:
        return [f"not refused with {code}: exit code {exit_code}, {printed.strip()[-300:]}"]
    for pattern in says:
        if not re.search(pattern, printed):
            return [f"refused without {pattern!r}: {printed.strip()[-300:]}"]
    return [f"refused only after {took:.1f} s"] if took > within else []


def out_of_order(folder, engine, graph):
    """Inputs and outputs stand as the model lists them, without the initialisers that it lists as inputs."""
    told, initialisers = tools.run([os.path.join(folder, "pb-run"), engine, "--info"]), {c.name for c in graph.initializer}
    wanted = {"input": [i.name for i in graph.input if i.name not in initialisers], "output": [o.name for o in graph.output]}
    found = {kind: re.findall(rf"^ *{kind} +(.*?): ", told, re.M | re.S) for kind in wanted}
    return [f"{kind}s are {found[kind]}, not {wanted[kind]}" for kind in wanted if found[kind] != wanted[kind] and all(name.isprintable() for name in wanted[kind])]


def run_on(args, stem, case, target):
    model, engine = stem + ".onnx", f"{stem}-{target}.pbe"
    command = [os.path.join(args.bin, "pbc"), model, f"--target={target}", "-o", engine, *(["--bisect"] if case.bisect or args.bisect else [])]
    if case.refused:
        return refused(command, case.refused, case.says, args.within)
    result = tools.call(command, 120)
    if result.returncode:
        return [f"exit code {result.returncode}: {result.stderr.strip()[-300:]}"]
    left = len(re.findall(" // ", tools.run([*command[:3], "--emit=s1"]))) if case.operators else None
    if left != case.operators:
        return [f"{left} operators are left, not {case.operators}"]
    problems = [f"compiled without {code}: {result.stderr.strip()[-300:]}" for code in case.says if f"[{code}]" not in result.stderr]
    problems += [f"compiled with {code}" for code in case.unsaid if f"[{code}]" in result.stderr]
    problems += out_of_order(args.bin, engine, case.model.graph)
    if not tools.runs_here(args.bin, target):
        return problems
    expected = expected_of(case.same_as or case.model, case.feeds)
    if case.by_layers:
        codes, layer = layers_apart(case.model, case.feeds)
        if codes > 1:
            problems.append(f"the reference is {codes} codes from ONNX Runtime in {layer}")
        own = Reference(case.model).run(case.feeds)
        expected = {name: own[name].reshape(value.shape) for name, value in expected.items()}
    files = {name: f"{stem}-{target}-out{k}.npy" for k, name in enumerate(expected)}
    try:
        tools.run([os.path.join(args.bin, "pb-run"), engine, f"--device={DEVICES[target.split(':')[0]]}",
                   *(f"--input={name}={stem}-in{k}.npy" for k, name in enumerate(case.feeds)),
                   *(f"--output={name}={file}" for name, file in files.items())])
    except tools.Failed as error:
        return problems + [str(error)[-400:]]
    found = {name: apart(expected[name], np.load(file), case.step) for name, file in files.items()}
    return problems + [f"{name} {wrong}" for name, wrong in found.items() if wrong]


def run_case(args, folder, number, name):
    case, stem = CASES[name](), os.path.join(folder, str(number))
    targets = case.targets
    if not any(tools.runs_here(args.bin, target) for target in targets):
        targets += ("cpu",)  # what this processor has
    onnx.save(case.model, stem + ".onnx")
    for k, value in enumerate(case.feeds.values()):
        np.save(f"{stem}-in{k}.npy", value)
    return [f"FAILED {name} on {target}: {problem}" for target in targets for problem in run_on(args, stem, case, target)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--every", type=int, default=1, help="each so many-th of them")
    parser.add_argument("--bisect", action="store_true", help="run the IR after every pass of all of them")
    parser.add_argument("--within", type=float, default=1, help="seconds that a refusal may take")
    parser.add_argument("--list", action="store_true")
    args = parser.parse_args()
    names = [name for name in CASES if args.only in name][:: args.every]
    if args.list:
        print("\n".join(names))
        return 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        problems = list(pool.map(lambda k: run_case(args, folder, k, names[k]), range(len(names))))
    for lines in problems:
        if lines:
            print("\n".join(lines))
    failed = sum(bool(lines) for lines in problems)
    print(f"{len(names)} models: {failed} failed")
    return int(failed > 0 or not names)


if __name__ == "__main__":
    sys.exit(main())
