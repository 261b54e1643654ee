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


def other_programs(s):
    """Programs that write engines to run them: signals while they do."""
    for what, command in (("pb-target-test", [f"{s.bin}/pb-target-test", "simnpu", "--random=0"]),
                          ("pb-tdl sweep", [f"{s.bin}/pb-tdl", "sweep", "simnpu", "--set", "SPAD.Bytes=64K,128K,256K", "--run", MODEL, MODEL])):
        temporary = s.folder / "temporary"
        for how in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env={**os.environ, "TMPDIR": str(temporary)})
            seen = False
            while process.poll() is None and not seen:
                seen = any(p.name.startswith("pb-") for p in temporary.iterdir())
                time.sleep(0.002)
            process.send_signal(how)
            _, err = process.communicate(timeout=120)
            s.say(seen and process.returncode == -how and not s.left(), f"{what}, {how.name}: exit code {process.returncode}, left {s.left()} {err[-200:]}")


WITHOUT = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>
int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  int mode = va_arg(more, int);
  va_end(more);
  if ((flags & O_TMPFILE) == O_TMPFILE) return errno = EOPNOTSUPP, -1;
  return ((int (*)(const char*, int, ...))dlsym(RTLD_NEXT, "open"))(path, flags, mode);
}
int rename(const char* from, const char* to) {
  const char* how = getenv("WAIT");
  if (how) pause();
  return ((int (*)(const char*, const char*))dlsym(RTLD_NEXT, "rename"))(from, to);
}
"""


def named_parts(s):
    """Where files have names from the start: what a signal or KILL leaves of an engine that was being written."""
    if "ASAN_OPTIONS" in os.environ:
        print("not run: engines with names from the start: sanitizers want to be loaded first")
        return
    source, shim = s.folder / "without.c", s.folder / "without.so"
    source.write_text(WITHOUT)
    if subprocess.run(["cc", "-shared", "-fPIC", "-o", str(shim), str(source), "-ldl"], capture_output=True).returncode:
        print("not run: engines with names from the start: no C compiler")
        return

    def waiting(how):
        process = s.start(s.folder / "m.pbe", "simnpu", LD_PRELOAD=str(shim), WAIT="1")
        while process.poll() is None and not list(s.folder.glob("*.part")):
            time.sleep(0.002)
        time.sleep(0.05)
        process.send_signal(how)
        process.communicate(timeout=120)
        return process.returncode

    for how in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
        code = waiting(how)
        s.say(code == -how and not s.left(), f"an engine that has its name, {how.name}: exit code {code}, left {s.left()}")
    waiting(signal.SIGKILL)
    left = [name for name in s.left() if name.endswith(".part")]
    others = [s.folder / f"m.pbe.{os.getpid()}.part", s.folder / "m.pbe.999999999.parts", s.folder / "other.pbe.999999999.part"]
    for path in others:
        path.touch()
    process = s.start(s.folder / "m.pbe", "simnpu", LD_PRELOAD=str(shim))
    process.communicate(timeout=120)
    now = [p for p in s.folder.glob("m.pbe.*") if p.name in left]
    s.say(len(left) == 1 and process.returncode == 0 and not now and all(path.exists() for path in others), f"KILL left {left}, the next run {[p.name for p in now]}")
    for path in others:
        path.unlink(missing_ok=True)


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

    place = s.folder / "theirs"
    place.mkdir()
    os.chmod(place, 0o777)
    for target in "cpu", "simnpu":
        command = [f"{s.bin}/pbc", MODEL, f"--target={target}", "-o", str(place / "m.pbe")]
        done = subprocess.run(command, capture_output=True, text=True, preexec_fn=limited, env={**os.environ, "TMPDIR": str(place), "PB_CODE_CACHE": ""})
        good = done.returncode == 0 or (done.returncode == 1 and "[PB" in done.stderr)
        s.say(good and "LLVM ERROR" not in done.stderr, f"few threads to compile for {target} with: exit code {done.returncode} {done.stderr[-200:]}")
    done = subprocess.run([f"{s.bin}/pb-run", str(s.folder / "m.pbe"), f"--input={images}", "--threads=16"], capture_output=True, text=True, preexec_fn=limited)
    whole = tools.run([f"{s.bin}/pb-run", str(s.folder / "m.pbe"), f"--input={images}"])
    s.say(done.returncode == 0 and done.stdout == whole, f"few threads: exit code {done.returncode} {done.stderr}")


sys.exit(tools.run_checks(Runs, no_room, signals, other_programs, named_parts, few_threads))
