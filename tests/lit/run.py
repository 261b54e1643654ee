"""Runs lit: run.py OPTIONS. (python -m lit.main does nothing: the module has no main part.)"""

import sys

try:
    from lit.main import main
except ImportError:
    print("skipped: the Python package lit is not installed (scripts/setup installs it)")
    sys.exit(77)

main()
