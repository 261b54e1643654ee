"""Copies of the tree and their builds, which take one fault at a time. For scripts/mutate and tests/conformance/rtl_mutants.py."""

import filecmp
import json
import os
import re
import shutil
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TOOLS = ["pb-server", "pbc", "pb-opt", "pb-run", "pb-tdl", "pb-objdump", "functions"]  # what tests that are scripts run
# No debugger looks at it, and LLD links in a tenth of the time.
OPTIONS = ["-DCMAKE_BUILD_TYPE=Mutate", "-DCMAKE_C_FLAGS_MUTATE=-O1", "-DCMAKE_CXX_FLAGS_MUTATE=-O1"]
OPTIONS += ["-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld", "-DCMAKE_SHARED_LINKER_FLAGS=-fuse-ld=lld"] if shutil.which("ld.lld") else []
FOLDERS = {"build": ["-DPB_RTL=OFF"], "build-rtl": ["-DPB_RTL_MODELS=8", "-DPB_RTL_OPTIMISE=-O1"],
           "build-suite": ["-DPB_RTL_MODELS=8", "-DPB_RTL_OPTIMISE=-O1"],
           "build-lines": ["-DPB_RTL=OFF", "-DCMAKE_C_FLAGS_MUTATE=-O1 --coverage"],
           "build-asan": ["-DPB_RTL=OFF", "-DPB_SANITIZE=ON", "-DCMAKE_BUILD_TYPE=RelWithDebInfo"]}
WHOLE = {"build-suite": ["pb-target-test", "simnpu_rtl_8"]}  # what is built of a folder, if not all


def run(command, timeout, **more):
    """Whether it ended well in time, and what it printed."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
                          **more) as process:
        try:
            out, _ = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            return False, process.communicate()[0] + "\ntook too long"
    return process.returncode == 0, out


class Tree:
    """A build folder of a copy."""

    def __init__(self, place, folder):
        self.place, self.copy, self.folder, self.jobs = place, place.copy, folder, place.jobs
        self.targets = WHOLE.get(folder, [])
        options = FOLDERS[folder]
        self.env = sanitisers(self.copy) if "-DPB_SANITIZE=ON" in options else {}
        self.spent = {"building": 0.0, "testing": 0.0}
        self.late = False  # what ctest asked last ran out of time
        self.timed("building", ["cmake", "-S", ".", "-B", folder, "-G", "Ninja", "-DPB_SHORT_TESTS=ON", *OPTIONS, *options], 600,
                   must="the tree is not configured")
        # All of it once: what is not there yet, ctest does not name.
        self.timed("building", ["ninja", "-C", folder, f"-j{self.jobs}", *self.targets], 3600, must="the tree does not build")
        out = subprocess.run(["ctest", "--test-dir", folder, "--show-only=json-v1"], cwd=self.copy, capture_output=True, text=True, check=True)
        self.tests = {test["name"]: test.get("command", []) for test in json.loads(out.stdout)["tests"]}

    def timed(self, what, command, timeout, must=None, **more):
        start = time.monotonic()
        good, out = run(command, timeout, cwd=self.copy, **more)
        self.spent[what] += time.monotonic() - start
        if must and not good:
            sys.exit(f"{must}:\n{out[-2000:]}")
        return good, out

    def named(self, pattern):
        return [name for name in self.tests if re.match(pattern, name)]

    def programs(self, names):
        """The targets of ninja that these tests run."""
        wanted, programs = set(), os.path.join(self.copy, self.folder, "bin")
        for name in names:
            command = ";".join(self.tests[name])
            if name.startswith(("tiles_", "conformance_", "device_")):
                return {"all"}
            if re.search(r"/bin(;|$)", command) or not self.tests[name]:
                wanted.update(TOOLS)
            wanted.update(re.findall(re.escape(programs) + "/([\\w-]+)", command))
            wanted.update(re.findall(r"/lib/(\w+)\.so", command))
            if name.startswith(("pb_run_", "test_runtime")):
                wanted.update(["make_engines", "pb_test_scale", "pb_test_parallel"])
        return wanted

    def build(self, names):
        """What these tests run. True, False, or None: it does not compile."""
        built, out = self.timed("building", ["ninja", "-C", self.folder, f"-j{self.jobs}", *sorted(self.programs(names))], 1800)
        if "ninja: error: unknown target" in out:
            sys.exit(out)
        if not built and re.search(r"error: |%Error|\bFAILED: .*\.o\b", out) and not re.search(r"\[PB\d{4}\]", out):
            return None
        return built

    def ctest(self, names, timeout=300, **more):
        """The first of the tests that fails, or None."""
        # Kernels that a fault does not change take their code from those of the runs before (tests/e2e/server/server_cache.c).
        env = {"PB_CODE_CACHE": os.path.join(self.place.folder, "code"), **os.environ, "PB_PYTHON": os.path.join(self.copy, ".venv", "bin", "python"),
               "LIT_OPTS": f"--max-failures=1 -j{self.jobs}", **self.env, **more}
        good, out = self.timed("testing", ["ctest", "--test-dir", self.folder, f"-j{self.jobs}", "--stop-on-failure", "--timeout", f"{timeout:.0f}",
                                           "-R", f"^({'|'.join(names)})$"], 60 + timeout * len(names), env=env)
        failed = [] if good else re.findall(r"#\d+: (\S+) \.*[^.*\n]*\*\*\*(?!Skipped)", out)  # "...Subprocess aborted***Exception"
        self.late = not good and ("***Timeout" in out or out.endswith("took too long"))
        return None if good else failed[0] if failed else "ctest"


def sanitisers(copy):
    """As scripts/test has them."""
    return {"ASAN_OPTIONS": "detect_leaks=1:exitcode=86", "UBSAN_OPTIONS": "print_stacktrace=1:exitcode=86",
            "LSAN_OPTIONS": f"suppressions={copy}/tests/lsan.supp:print_suppressions=0"}


class Place:
    """A copy of the tree and its builds, with room for one fault at a time."""

    def __init__(self, folder, number, jobs):
        self.folder, self.jobs = folder, jobs
        self.copy = os.path.join(folder, "tree" if number == 0 else f"tree-{number}")
        self.trees, self.passes = {}, set()  # the tests that were seen to pass without a fault
        self.renew()

    def tree(self, folder):
        """The build; the first time, with its tests' programs made without a fault."""
        if folder not in self.trees:
            self.trees[folder] = Tree(self, folder)
        return self.trees[folder]

    def spent(self):
        """Seconds of building and of testing, so far."""
        return {what: sum(tree.spent[what] for tree in self.trees.values()) for what in ("building", "testing")}

    def renew(self):
        tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
        tracked = [name for name in filter(None, tracked.split("\0")) if os.path.exists(os.path.join(ROOT, name))]
        for name in tracked:
            source, target = os.path.join(ROOT, name), os.path.join(self.copy, name)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            if not os.path.exists(target) or not filecmp.cmp(source, target, shallow=False):
                shutil.copy(source, target)
        for top in sorted({name.split("/")[0] for name in tracked}):
            for at, _, names in os.walk(os.path.join(self.copy, top)):
                for path in (os.path.join(at, name) for name in names):
                    if not os.path.exists(os.path.join(ROOT, os.path.relpath(path, self.copy))):
                        os.remove(path)  # CMake would still find what the tree has no more
        venv = os.path.join(self.copy, ".venv")
        if os.path.exists(os.path.join(ROOT, ".venv")) and not os.path.exists(venv):
            os.symlink(os.path.realpath(os.path.join(ROOT, ".venv")), venv)
