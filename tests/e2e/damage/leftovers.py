"""What goes wrong around a compiler: $TMPDIR and the place of an engine full, not there or not to be written, signals in the
middle. Each is an error with a code, or the signal; nothing is left, and of what was killed the next run removes it.

    leftovers.py --bin BUILD/bin
"""

import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import tools  # noqa: E402

MODEL = os.path.join(tools.MODELS, "digits.onnx")


class Runs(tools.Checks):
    def start(self, engine, target="cpu", shell="exec", **environment):
        """pbc as a process; shell: the command line that it is the end of."""
        temporary = self.folder / "temporary"
        temporary.mkdir(exist_ok=True)
        command = f"{shell} {self.bin}/pbc {MODEL} --target={target} -o {engine}"
        return subprocess.Popen(["bash", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env={**os.environ, "TMPDIR": str(temporary), **environment})

    def left(self):
        return sorted(str(p.relative_to(self.folder)) for p in [*self.folder.rglob("*.part"), *(self.folder / "temporary").iterdir()])

    def refused(self, what, process, *words):
        _, err = process.communicate(timeout=120)
        good = process.returncode == 1 and all(word in err for word in words) and "LLVM ERROR" not in err and not self.left()
        self.say(good, what if good else f"{what}: exit code {process.returncode}, left {self.left()}, {err[-400:]}")


def no_room(s):
    """A disk that is full: one of so many bytes, in a name space of its own, where this system has such for everybody."""
    full = s.folder / "temporary"
    full.mkdir()
    disk = f"exec unshare -rm bash -c 'mount -t tmpfs -o size=%s tmpfs {full} && shift 0; exec \"$@\"' --"
    if subprocess.run(["bash", "-c", (disk % "64k") + " true"], capture_output=True).returncode:
        print("not run: full disks: this system has no name spaces for users")
    else:
        for size in "4k", "16k", "40k":
            s.refused(f"$TMPDIR of {size}", s.start(s.folder / "m.pbe", shell=disk % size, PB_CODE_CACHE=""), "cannot be written: No space left on device", "PB4202")
        s.refused("an engine on a full disk", s.start(full / "m.pbe", "simnpu", disk % "16k"), "m.pbe: error: cannot write the engine: No space left", "PB5011")
    s.refused("no such $TMPDIR", s.start(s.folder / "m.pbe", TMPDIR=str(s.folder / "nowhere")), "nowhere: error: no folder can be made in it", "PB4202")
    s.refused("no such folder for the engine", s.start(s.folder / "nowhere" / "m.pbe", "simnpu"), "cannot write the engine: No such file", "PB5011")
    s.refused("a device that is full", s.start("/dev/full", "simnpu"), "cannot write the engine: No space left", "PB5011")


def running(s, how):
    """A compilation that has made its folder, or None: it was over before that was seen."""
    process = s.start(s.folder / "m.pbe")
    while process.poll() is None:
        if s.left():
            process.send_signal(how)
            break
        time.sleep(0.002)
    process.communicate(timeout=120)
    return process.returncode


def signals(s):
    for how in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
        codes = [running(s, how) for _ in range(3)]
        s.say(set(codes) <= {-how, 0} and -how in codes and not s.left(), f"{how.name}: exit codes {codes}, left {s.left()}")
    for _ in range(5):
        if running(s, signal.SIGKILL) == -signal.SIGKILL and s.left():
            break
    left = s.left()
    alive = s.folder / "temporary" / f"pb-{os.getpid()}-abcdef"  # of a process that lives, and others' files
    others = [alive, s.folder / "temporary" / "pb-999999999-abcde", s.folder / "temporary" / "pb-999999999x-abcdef"]
    for path in others:
        path.mkdir()
    process = s.start(s.folder / "m.pbe")
    process.communicate(timeout=120)
    s.say(left and process.returncode == 0 and s.left() == sorted(f"temporary/{p.name}" for p in others), f"KILL left {left}, the next run {s.left()}")
    for path in others:
        path.rmdir()
    ignored = s.start(s.folder / "m.pbe", shell="trap '' HUP; exec")
    while ignored.poll() is None and not s.left():
        time.sleep(0.002)
    ignored.send_signal(signal.SIGHUP)
    ignored.communicate(timeout=120)
    s.say(ignored.returncode == 0 and not s.left(), f"HUP that is ignored: exit code {ignored.returncode}")


def others_reach(path):
    """Whether a user without rights comes to the file."""
    return all(folder.stat().st_mode & 0o001 for folder in Path(path).resolve().parents)


def few_threads(s):
    """A user who may have three processes more: the engine runs on as many threads as there can be."""
    if os.geteuid() or "ASAN_OPTIONS" in os.environ:  # sanitizers start threads of their own
        print("not run: few threads: only root can be a user who has no other processes")
        return
    tools.run([f"{s.bin}/pbc", MODEL, "--target=cpu", "-o", str(s.folder / "m.pbe")])
    os.chmod(s.folder, 0o755)
    if "TMPDIR" in os.environ:  # scripts/test's own, for this user alone
        os.chmod(os.environ["TMPDIR"], os.stat(os.environ["TMPDIR"]).st_mode | 0o011)
    images = os.path.join(tools.MODELS, "digits_images.npy")
    hidden = [path for path in (f"{s.bin}/pb-run", s.folder / "m.pbe", images) if not others_reach(path)]
    if hidden:
        print(f"not run: few threads: other users do not come to {hidden[0]}")
        return

    def limited():
        resource.setrlimit(resource.RLIMIT_NPROC, (3, 3))
        os.setgid(65534)
        os.setuid(65534)

    done = subprocess.run([f"{s.bin}/pb-run", str(s.folder / "m.pbe"), f"--input={images}", "--threads=16"], capture_output=True, text=True, preexec_fn=limited)
    whole = tools.run([f"{s.bin}/pb-run", str(s.folder / "m.pbe"), f"--input={images}"])
    s.say(done.returncode == 0 and done.stdout == whole, f"few threads: exit code {done.returncode} {done.stderr}")


sys.exit(tools.run_checks(Runs, no_room, signals, few_threads))
