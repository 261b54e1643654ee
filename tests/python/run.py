"""Runs a file of tests by pytest, or another program, with the package on the path and a cache of its own.

    run.py FILE [MODULE...] [-- ARGUMENT...]      # 77, with the reason, where a module cannot be imported"""

import importlib.util
import os
import runpy
import sys
import tempfile
from pathlib import Path


def main():
    file, *rest = sys.argv[1:]
    at = rest.index("--") if "--" in rest else len(rest)
    modules, arguments = ["numpy", "pytest", *rest[:at]], rest[at + 1 :]
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    if missing:
        print(f"skipped: {sys.executable} has no {', '.join(missing)}; PB_FRAMEWORKS=PYTHON names one that has (scripts/frameworks)")
        return 77
    sys.path[:0] = [str(Path(__file__).resolve().parents[2] / "python"), str(Path(file).resolve().parent)]
    with tempfile.TemporaryDirectory() as cache:
        os.environ["POLYBLOCKS_CACHE"] = cache
        if not Path(file).name.startswith("test_"):
            sys.argv = [file, *arguments]
            runpy.run_path(file, run_name="__main__")
        import pytest

        return int(pytest.main(["-q", "--tb=short", "--show-capture=no", "-p", "no:cacheprovider", file]))


if __name__ == "__main__":
    sys.exit(main())
