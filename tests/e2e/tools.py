"""Running pbc and pb-run from the tests: command lines, failures with what was printed.

Both run in BUILD/bin/pb-server (server.c), which is started once for each thread of a test; PB_NO_SERVER=1 starts the programs
themselves, for a debugger."""

import argparse
import atexit
import functools
import hashlib
import os
import re
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

HERE = os.path.dirname(os.path.abspath(__file__))
MODELS = os.path.join(HERE, "..", "models")
SOURCE = os.path.abspath(os.path.join(HERE, "..", ".."))
FOLDERS = "cases", "graphs", "operators", "pins", "plans", "networks", "damage", "server"  # modules of each are found by name
sys.path[:0] = [MODELS, *(os.path.join(HERE, folder) for folder in FOLDERS)]

SKIPPED = 77  # ctest's code for a test that could not run here
SERVED = "pbc", "pb-run"
TRAPPED = "trapped"  # the folder of a pb-run that carries these out itself (tests/cpu/trap.c), on any processor
CARRIED_OUT = "avx512bf16", "amxtile", "amxint8", "amxbf16"


class Failed(Exception):
    """A command ended with another code than 0; str() is its command line and what it printed."""

    def __init__(self, command, result):
        super().__init__(f"{' '.join(command)}\nexit code {result.returncode}\n{result.stdout}{result.stderr}")
        self.code, self.out, self.err = result.returncode, result.stdout, result.stderr


def require(*modules):
    """Leaves with the skip code when a Python package is missing."""
    for name in modules:
        try:
            __import__(name)
        except ImportError:
            print(f"skipped: the Python package {name} is not installed (scripts/setup installs it)")
            sys.exit(SKIPPED)


def plain(feature):
    """Compilers and kernels differ in punctuation alone: avx512-vnni, avx512_vnni."""
    return re.sub(r"[^a-z0-9]", "", feature.lower())


@functools.lru_cache(None)
def processor():
    """What this processor can do, as the system lists it."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        lists = (line.split(":")[1].split() for line in file if line.startswith(("flags", "Features")))
        return {plain(feature) for feature in next(lists, [])}


@functools.lru_cache(None)
def lacks(bin_dir, target):
    """The first feature that machine code for the target needs and this processor has not, or None."""
    trapped = os.path.basename(os.path.normpath(bin_dir)) == TRAPPED
    facts = run([os.path.join(bin_dir, os.pardir if trapped else "", "pb-tdl"), "print", target])
    needs = re.search(r"^its code needs of the processor: (.*)", facts, re.MULTILINE)
    has = processor().union(CARRIED_OUT if trapped else ())
    return next((name for name in (needs.group(1).split(",") if needs else ())  # state comes with the feature that has it
                 if plain(name) not in has and not name.startswith("state-")), None)


@functools.lru_cache(None)
def runs_here(bin_dir, target):
    """Whether this processor can run the target's machine code; says so once if it cannot: scripts/test lists such lines."""
    missing = lacks(bin_dir, target)
    if missing:
        print(f"not run: code for {target}: this processor lacks {missing}", flush=True)
    return not missing


def skip_without(bin_dir, *targets):
    """Leaves with the skip code when none of the targets' code runs here."""
    if not any([runs_here(bin_dir, target) for target in targets]):
        print(f"skipped: this processor lacks {lacks(bin_dir, targets[0])}, which code for {targets[0]} needs")
        sys.exit(SKIPPED)


def turn(choices, number, here):
    """The number's choice, and whether its code runs here; where it does not, also the next one whose code does."""
    first, *others = choices[number % len(choices):] + choices[: number % len(choices)]
    if here(first):
        return [(first, True)]
    return [(first, False), *[(other, True) for other in others if here(other)][:1]]


def fill_memory():
    """From here on glibc gives no program memory of zeros, as it is at first: what reads elements that nothing wrote differs."""
    os.environ["MALLOC_PERTURB_"] = "165"


class Server:
    """A running pb-server and the folder that it stands for."""

    def __init__(self, path):
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        atexit.register(self.stop)

    def stop(self):
        """At the end of the test, which fails when what ran left memory behind."""
        self.process.stdin.close()
        if self.process.wait():
            print(f"pb-server ends with {self.process.returncode}", flush=True)
            os._exit(1)

    def run(self, command, timeout):
        lines = [f"{int(timeout)} {len(command)}", *command]
        self.process.stdin.write(("\n".join(lines) + "\n").encode())
        self.process.stdin.flush()
        code, *sizes = self.process.stdout.readline().split()
        out, err = (self.process.stdout.read(int(size)).decode(errors="replace") for size in sizes)
        if code == b"timeout":
            raise subprocess.TimeoutExpired(command, timeout, out, err)
        return subprocess.CompletedProcess(command, int(code), out, err)


servers = threading.local()


def server_for(program):
    """The server that can stand in for the program, or None."""
    folder, name = os.path.split(os.path.realpath(program))
    path = os.path.join(folder, "pb-server")
    if name not in SERVED or os.environ.get("PB_NO_SERVER") or not os.path.exists(path):
        return None
    mine = servers.__dict__.setdefault("by_path", {})
    if path not in mine:
        mine[path] = Server(path)
    return mine[path]


def call(command, timeout=600):
    """Runs a command: its exit code, or minus the signal that ended it, and what it printed."""
    server = server_for(command[0])
    if server and not any("\n" in word for word in command):  # the server's words end with a line
        return server.run(command, timeout)
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout)


class Checks:
    """Checks that are said one by one, of what the tools in `bin` make in a folder."""

    def __init__(self, bin_dir, folder):
        self.bin, self.folder, self.cases, self.failed = bin_dir, Path(folder), 0, 0
        self.every, self.turns = 1, 0

    def takes_next(self):
        """Whether the next of many alike is judged: each `every`-th is."""
        self.turns += 1
        return self.turns % self.every == 0

    def say(self, good, what):
        self.cases += 1
        self.failed += not good
        print(f"{'ok    ' if good else 'FAILED'} {what}", flush=True)


def drawing(count):
    """The options of a script that draws so many programs by a seed: which of them, and where those that fail are kept."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=Path, required=True)
    parser.add_argument("--count", type=int, default=count)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--keep", type=Path)
    return parser


def run_parts(make, *parts, sampled=False):
    """What a script's parts, each of which takes it, leave of make(BIN, FOLDER). sampled: it has --every, for what asks takes_next."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    if sampled:
        parser.add_argument("--every", type=int, default=1, help="each so many-th of them")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        made = make(os.path.abspath(options.bin), folder)
        if sampled:
            made.every = options.every
        for part in parts:
            part(made)
    return made


def run_checks(make, *parts, sampled=False):
    """What a script exits with whose parts each take make(BIN, FOLDER), some Checks."""
    return run_parts(make, *parts, sampled=sampled).failed > 0


def written_to_outputs(bin_dir, engine):
    """Of an engine with donated inputs: the bytes that its steps place in outputs, and how often one copies a whole output."""
    steps = run([os.path.join(bin_dir, "pb-objdump"), str(engine), "--headers"])
    placed = re.findall(r"place\(output\d.*\) (\d+) times (\d+) bytes", steps)
    return sum(int(times) * int(size) for times, size in placed), len(re.findall(r"move\(output", steps))


def run(command, timeout=600):
    """Runs a command and returns its standard output."""
    result = call(command, timeout)
    if result.returncode != 0:
        raise Failed(command, result)
    return result.stdout


def compile_model(bin_dir, model, target, engine, *options):
    run([os.path.join(bin_dir, "pbc"), model, f"--target={target}", "-o", engine, *options])


def run_engine(bin_dir, engine, device, inputs, output):
    """inputs: a .npy file for the one input; output: where the one output goes."""
    run([os.path.join(bin_dir, "pb-run"), engine, f"--device={device}", "--input", inputs, "--output", output])


def network(bin_dir, net, kind, size, classes=10, **more):
    """The file of a seeded network, made once for all tests of a build and as long as its makers stay as they are."""
    makers = [os.path.join(MODELS, name) for name in ("networks.py", "net.py", "qdq.py")]
    what = "-".join([net, kind, str(size), str(classes), *(f"{key}{value}" for key, value in sorted(more.items()))])
    digest = hashlib.sha256(b"".join(open(path, "rb").read() for path in makers)).hexdigest()[:16]
    folder = os.path.join(bin_dir, "..", "networks")
    path = os.path.join(folder, f"{what}-{digest}.onnx")
    if not os.path.exists(path):
        os.makedirs(folder, exist_ok=True)
        mine = f"{path}.{os.getpid()}"
        run([sys.executable, makers[0], "--net", net, "--type", kind, "--size", str(size), "--classes", str(classes),
             *(f"--{key}={value}" for key, value in more.items()), "--out", mine])
        os.replace(mine, path)
    return path
