"""Running pbc and pb-run from the tests: command lines, failures with what was printed.

Both run in BUILD/bin/pb-server (server.c), which is started once for each thread of a test; PB_NO_SERVER=1 starts the programs
themselves, for a debugger."""

import atexit
import hashlib
import os
import subprocess
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
MODELS = os.path.join(HERE, "..", "models")
SOURCE = os.path.abspath(os.path.join(HERE, "..", ".."))
sys.path.insert(0, MODELS)

SKIPPED = 77  # ctest's code for a test that could not run here
SERVED = "pbc", "pb-run"


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
