"""pb-server itself: what a job prints and ends with is told of that job, whatever became of those in front of it; and the
code and the chips that it keeps are what would be made anew.

    server.py --bin BUILD/bin [--leaks]

--leaks: the build has LeakSanitizer, which must see what a job leaves behind.
"""

import argparse
import os
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import tools  # noqa: E402

DIGITS = os.path.join(tools.MODELS, "digits.onnx")


def compiled(keep, target, program, path, folder):
    """The engine of the digits that a server of its own makes, or what it says instead; `keep`: its PB_CODE_CACHE."""
    os.environ["PB_CODE_CACHE"] = keep
    server, engine = tools.Server(program), os.path.join(folder, "m.pbe")
    result = server.run([os.path.join(os.path.dirname(path), "pbc"), DIGITS, f"--target={target}", "-o", engine], 100)
    server.stop()
    if result.returncode:
        return f"pbc ends with {result.returncode}: {result.stderr}"
    with open(engine, "rb") as file:
        return file.read()


def kept_code(path):
    """What is wrong with the code that servers keep: an engine is the same with it as without, another target or other IR
    has its own, what lies there is what is taken, and another file of the program takes it too: one that is linked anew."""
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        cache, linked_anew = os.path.join(folder, "code"), os.path.join(folder, "pb-server")
        shutil.copy(path, linked_anew)

        def compile_it(keep, target="cpu:v3", program=path):
            return compiled(keep, target, program, path, folder)

        def files():
            return {name: os.stat(os.path.join(cache, name)).st_ino for name in os.listdir(cache)}

        anew, first = compile_it(""), compile_it(cache)
        one = files()
        again = compile_it(cache)
        if not anew == first == again or not one or one != files():
            wrong.append("an engine by code that was kept is another, or nothing was kept")
        if compile_it(cache, program=linked_anew) != anew or one != files():
            wrong.append("a program that is linked anew makes the same code again")
        if compile_it("", "cpu:avx512") != compile_it(cache, "cpu:avx512") or len(files()) == len(one):
            wrong.append("another target took the code of the first")
        for name in one:
            with open(os.path.join(cache, name), "r+b") as file:
                file.write(b"damaged")
        if compile_it(cache) == anew:
            wrong.append("what was kept is not what is taken")
    return wrong


def kept_descriptions(path):
    """What is wrong with what is kept of llvm-tblgen's: engines of it are the same, what lies there is what is taken, and
    another text, or another of a file that it includes, is read anew. In a tree of its own, of which the program is a part."""
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        cache, chip, base = (os.path.join(folder, name) for name in ("code", "share/pb/targets/own.td", "share/pb/targets/base.td"))
        program, language = os.path.join(folder, "bin", "pb-server"), os.path.join(folder, "share", "pb", "tdl", "pb.td")
        for name in (program, chip, language):
            os.makedirs(os.path.dirname(name))
        shutil.copy(path, program)
        shutil.copy(os.path.join(tools.SOURCE, "tdl", "pb.td"), language)
        shutil.copy(os.path.join(tools.SOURCE, "tests", "chips", "tinynpu.td"), base)

        def write(text):
            with open(chip, "w", encoding="utf-8") as file:
                file.write('include "base.td"\n' + text)

        def compile_it(keep=cache):
            return compiled(keep, chip, program, path, folder)

        write("")
        anew, first = compile_it(""), compile_it()
        kept = set(os.listdir(cache))
        again = compile_it()
        if not anew == first == again or len(kept) != 1 or kept != set(os.listdir(cache)):
            wrong.append(f"an engine by a description that was kept is another, or not one was kept: {first[:200]}, {kept}")
        write("// another text\n")
        compile_it()
        with open(base, "a", encoding="utf-8") as file:
            file.write("// and another base\n")
        compile_it()
        if len(os.listdir(cache)) != 3:
            wrong.append(f"a description that was changed is not read anew: {os.listdir(cache)}")
        for name in os.listdir(cache):
            with open(os.path.join(cache, name), "w", encoding="utf-8") as file:
                file.write("damaged")
        if "PB3005" not in str(compile_it()):
            wrong.append("what was kept of a description is not what is taken")
    return wrong


def kept_chips(path):
    """What is wrong with the chips that jobs share: engines, and what comes of them, are those that a server of their own
    makes, whichever chips were read in front of theirs; an engine's chip is not read again, and a description that was
    changed is another chip."""
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        chip, engine = os.path.join(folder, "own.td"), os.path.join(folder, "m.pbe")
        tinynpu = os.path.join(tools.SOURCE, "tests", "chips", "tinynpu.td")

        def compile_for(server, target):
            result = server.run([os.path.join(os.path.dirname(path), "pbc"), DIGITS, f"--target={target}", "-o", engine], 100)
            with open(engine, "rb") as file:
                return result.returncode, result.stdout, result.stderr, file.read()

        def run_on(server, target):
            device = "native" if target.startswith("cpu") else "machine"
            result = server.run([os.path.join(os.path.dirname(path), "pb-run"), engine, f"--device={device}", "--input=random:1", "--stats"], 100)
            return result.returncode, result.stderr, [line.rsplit(None, 1)[:1] for line in result.stdout.splitlines()]  # but for the time

        def write(old="", new=""):
            with open(tinynpu, encoding="utf-8") as file, open(chip, "w", encoding="utf-8") as to:
                to.write(file.read().replace(old, new) if old else file.read() + new)

        shared, chips = tools.Server(path), [tinynpu, "simnpu", "simnpu:8", tinynpu, "simnpu", "cpu:v3", "simnpu:8"]
        for target in chips:
            server = tools.Server(path)
            if compile_for(shared, target) != compile_for(server, target):
                wrong.append(f"an engine for {target} is another by a chip that was kept")
            if run_on(shared, target) != run_on(server, target):
                wrong.append(f"an engine for {target} runs otherwise on a chip that was kept")
            server.stop()
        read = shared.run(["probe", "chips"], 10).stdout
        if read != f"{len(set(chips))}\n":
            wrong.append(f"jobs on {len(set(chips))} chips read {read.strip()}")
        write()
        before = compile_for(shared, chip)
        write("Latency = 60;", "Latency = 6000;")
        after, server = compile_for(shared, chip), tools.Server(path)
        if before[0] or after == before or after != compile_for(server, chip):
            wrong.append(f"a description that was changed is taken for what it was: {after[:3]}")
        server.stop()
        write(new="def {\n")
        if compile_for(shared, chip)[0] != 1:
            wrong.append("a description that is wrong now is taken for what it was")
        shared.stop()
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--leaks", action="store_true")
    args = parser.parse_args()
    path, wrong = os.path.join(args.bin, "pb-server"), []
    server = tools.Server(path)

    def expect(what, code, out, seconds=1):
        try:
            result = server.run(["probe", what], seconds)
            found = result.returncode, result.stdout
        except tools.subprocess.TimeoutExpired:
            found = "timeout", ""
        if found != (code, out):
            wrong.append(f"{what}: {found}, not {(code, out)}")

    for what, code, out in [("crash", -9, ""), ("exit", 7, ""), ("hang", "timeout", "")]:
        expect("a longer line", 3, "a longer line\n")
        expect(what, code, out)
    expect("well", 3, "well\n")
    expect("chip", 86, "chip\n", 60)  # a description takes sanitizers a while
    expect("well", 3, "well\n")
    expect("leak", 3, "leak\n")
    server.process.stdin.close()
    code = server.process.wait()
    if code != (86 if args.leaks else 0):
        wrong.append(f"the server ends with {code}")
    wrong += kept_chips(path) + kept_descriptions(path) + kept_code(path)
    print("\n".join(wrong) or "as expected")
    return int(bool(wrong))


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)  # tools would take the leak for a fault of this test
