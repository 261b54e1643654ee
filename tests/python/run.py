"""Runs a file of tests by pytest, with the package on the path and a cache of its own.

    run.py FILE [MODULE...]      # 77, with the reason, where a module cannot be imported"""

import importlib.util
import os
import sys
import tempfile
from pathlib import Path


def main():
    file, modules = sys.argv[1], ["numpy", "pytest", *sys.argv[2:]]
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    if missing:
        print(f"skipped: {sys.executable} has no {', '.join(missing)}; PB_FRAMEWORKS=PYTHON names one that has")
        return 77
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
    import pytest

    with tempfile.TemporaryDirectory() as cache:
        os.environ["POLYBLOCKS_CACHE"] = cache
        return int(pytest.main(["-q", "--tb=short", "--show-capture=no", "-p", "no:cacheprovider", file]))


if __name__ == "__main__":
    sys.exit(main())
