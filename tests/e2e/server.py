"""pb-server itself: what a job prints and ends with is told of that job, whatever became of those in front of it.

    server.py --bin BUILD/bin [--leaks]

--leaks: the build has LeakSanitizer, which must see what a job leaves behind.
"""

import argparse
import os
import sys

import tools


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--leaks", action="store_true")
    args = parser.parse_args()
    path, wrong = os.path.join(args.bin, "pb-server"), []
    server = tools.Server(path)

    def expect(what, code, out):
        try:
            result = server.run(["probe", what], 1)
            found = result.returncode, result.stdout
        except tools.subprocess.TimeoutExpired:
            found = "timeout", ""
        if found != (code, out):
            wrong.append(f"{what}: {found}, not {(code, out)}")

    for what, code, out in [("crash", -9, ""), ("exit", 7, ""), ("hang", "timeout", "")]:
        expect("a longer line", 3, "a longer line\n")
        expect(what, code, out)
    expect("well", 3, "well\n")
    expect("leak", 3, "leak\n")
    server.process.stdin.close()
    code = server.process.wait()
    if code != (86 if args.leaks else 0):
        wrong.append(f"the server ends with {code}")
    print("\n".join(wrong) or "as expected")
    return int(bool(wrong))


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)  # tools would take the leak for a fault of this test
