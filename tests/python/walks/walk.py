"""Gives every function of a module that eager takes some plain arguments with those arguments to the compiler, and compares.

What lists by hand leave out is found so: names come of dir(), arguments of a fixed set of which each function takes what it can.
A case is right, wrong, refused (an error of ours that says what and why) or failed (any other error). What differs for a reason
stands in known.txt, and is known: a line has the framework, the function with a case of it, and the reason. What ENDLESS begins is not run."""

import argparse
import collections
import contextlib
import math
import os
import threading
import time
import warnings
from pathlib import Path

import numpy as np


def near(got, want, loose):
    """Which elements are those of `want`, which is of f64 or exact; of one shape."""
    if want.dtype.kind not in "fc":
        return got == want
    got, want = got.astype(np.complex128), want.astype(np.complex128)
    finite = want[np.isfinite(want)]
    scale = float(np.abs(finite).max()) if finite.size else 1.0
    parts = ((got.real, want.real), (got.imag, want.imag))
    return np.logical_and(*[np.where(np.isfinite(b), np.abs(a - b) <= loose * (np.abs(b) + 0.1 * min(scale, 10.0)) + 1e-30, (a == b) | (np.isnan(a) & np.isnan(b))) for a, b in parts])


def differs(got, wants, loose):
    """Why an array is none of those, or None: each element is that of one of them."""
    same = np.zeros(got.shape, bool)
    for want in wants:
        same |= near(got, want, loose)
    if same.all():
        return None
    at = tuple(int(k) for k in np.argwhere(~same)[0])
    return f"{got[at]} at {at}, not {wants[-1][at]} ({int((~same).sum())} of {same.size})"


def read_known(framework):
    """The cases of a framework in known.txt: reasons by the function's name and the case."""
    known = {}
    for line in (Path(__file__).parent / "known.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            case, _, reason = line.partition(": ")
            whose, name, label = case.split(" ", 2)
            if whose == framework:
                known[name, label] = reason
    return known


HALVES = {"bfloat16": 1e-2, "float16": 2e-3}
WIDE = [{"f": "f8", "V": "f8", "c": "c16"}]  # by NumPy's kinds
WIDE.append({**WIDE[0], "i": "f8", "u": "f8"})
ENDLESS = "never ends"  # a loop of it, in numbers of its type; as a reason
LONGEST = 240  # seconds of processors, for all that one function is compiled to


def looseness(values):
    """How far numbers may be off that are made of these."""
    return max([2e-5, *(HALVES.get(str(v.dtype).rpartition(".")[2], 0) for v in values)])


class Framework:
    """What a framework has: functions by name, and cases of (group, label, arguments), of which a function gets the first `most` of a group that it
    takes. The framework's own class says how it is called:

    taken(call, args, kwargs): a function, the arrays for it and eager's results, None where those are no plain arrays, or an error
    run(calls, arguments): the results of all in one program of ours
    eager(call, arguments), exact(call, arguments, whole): eager's result, and the same of f64, `whole`: in place of integers too, or an error
    leaves(result), array(leaf): its arrays, and one as NumPy's"""

    HEAVY = ()  # functions that take the compilers seconds a case: they get a third of the cases

    def __init__(self, functions, cases, most):
        self.functions, self.all, self.most = functions, cases, most

    def names(self):
        return list(self.functions)

    def cases(self, name, left_out=()):
        found, counts, share = [], dict.fromkeys(self.most, 0), 3 if name in self.HEAVY else 1
        for group, label, args in self.all:
            if label in left_out or share * counts[group] >= self.most[group] or (name.startswith("fft.") and label.startswith("s")):
                continue
            args, kwargs = args if group == "named" else (args, {})
            try:
                taken = self.taken(self.functions[name], args, kwargs)
            except Exception:
                continue
            if taken:
                counts[group] += 1
                found.append((label, *taken))
        return found

    def compare(self, got, call, arguments, want):
        """What is wrong with our result, or None. Eager's own steps are no measure: where it differs f64's are."""
        got = self.leaves(got)
        if len(got) != len(want):
            return f"{len(got)} results, not {len(want)}"
        for a, b in zip(got, want):
            if a.dtype != b.dtype:
                return f"{a.dtype}, not {b.dtype}"
        loose = looseness([*got, *self.leaves(arguments)])
        got, wants = list(map(self.array, got)), [list(map(self.array, want))]
        if any(a.shape != b.shape for a, b in zip(got, wants[0])):
            return "shapes " + ", ".join(f"{a.shape}, not {b.shape}" for a, b in zip(got, wants[0]))
        for whole in (False, True):
            why = [differs(a, b, loose) for a, *b in zip(got, *wants)]
            if not any(why) or (whole and any(a.dtype.kind not in "fc" for a in got)):
                break
            try:
                exact = list(map(self.array, self.leaves(self.exact(call, arguments, whole))))
                wants.append([b.astype(a.dtype).reshape(a.shape) for a, b in zip(got, exact)])
            except Exception:
                pass
        why = [differs(a, b, loose) for a, *b in zip(got, *wants)]
        return next((w for w in why if w), None)


@contextlib.contextmanager
def ended(name):
    """Gives up where what is in it does not end: a program that runs cannot be stopped otherwise."""
    done, start = threading.Event(), time.process_time()

    def watch():
        while not done.wait(2):
            if time.process_time() - start > LONGEST:
                print(f"failed   {name} does not end in {LONGEST} s of processors", flush=True)
                os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
    try:
        yield
    finally:
        done.set()


class Walk:
    """A framework's functions, one after the other: what each case came to."""

    def __init__(self, framework, known):
        self.framework, self.known, self.totals = framework, known, collections.Counter()

    def judge(self, cases):
        """What each case is, and why: in one program, where one of them is refused in two halves."""
        try:
            results = self.framework.run([call for _, call, _, _ in cases], [arguments for _, _, arguments, _ in cases])
        except Exception as error:
            if len(cases) > 1:
                half = len(cases) // 2
                return self.judge(cases[:half]) + self.judge(cases[half:])
            said = " ".join(str(error).split())[:200]
            return [("refused", said) if isinstance(error, self.framework.REFUSED) else ("failed", f"{type(error).__name__}: {said}")]
        why = [self.framework.compare(got, *rest) for (_, *rest), got in zip(cases, results)]
        return [("wrong", w) if w else ("right", "") for w in why]

    def name(self, name, verbose):
        said, endless = collections.defaultdict(list), [label for (function, label), why in self.known.items() if function == name and why.startswith(ENDLESS)]
        with ended(name):  # what eager does not end, either
            cases = self.framework.cases(name, endless)
            judged = self.judge(cases) if cases else []
        self.totals["known"] += len(endless)
        if not cases:
            self.totals["not taken"] += 1
            return
        for (label, *_), (kind, why) in zip(cases, judged):
            if kind in ("wrong", "failed") and (name, label) in self.known:
                kind, why = "known", self.known[name, label]
            self.totals[kind] += 1
            if kind != "right" or verbose:
                said[kind, why].append(label)
        for (kind, why), labels in said.items():
            print(f"{kind:8} {name}({' | '.join(labels)}) {why}", flush=True)


def main(name, framework):
    parser = argparse.ArgumentParser()
    parser.add_argument("--part", default="0/1")
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    part, parts = map(int, options.part.split("/"))
    names = [name for name in framework.names() if not options.only or name in options.only]
    walk, start = Walk(framework, read_known(name)), time.time()
    for k, function in enumerate(names):
        if k % parts != part:
            continue
        if options.list:
            print(function, [label for label, _, _ in framework.cases(function)], flush=True)
            continue
        walk.name(function, options.verbose)
    print(f"{len(names)} names; {dict(walk.totals)}; {time.time() - start:.0f} s")
    return 1 if walk.totals["wrong"] or walk.totals["failed"] else 0


def specials(dtype=np.float32):
    return np.array([math.nan, math.inf, -math.inf, 0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -2.5, 1e-4, 3e4, -1.0, 1.0, 3.25, -7.75], dtype).reshape(2, 8)
