"""Running pbc and pb-run from the tests: command lines, failures with what was printed."""

import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
MODELS = os.path.join(HERE, "..", "models")
SOURCE = os.path.abspath(os.path.join(HERE, "..", ".."))
sys.path.insert(0, MODELS)

SKIPPED = 77  # ctest's code for a test that could not run here


class Failed(Exception):
    """A command ended with another code than 0; str() is its command line and what it printed."""


def require(*modules):
    """Leaves with the skip code when a Python package is missing."""
    for name in modules:
        try:
            __import__(name)
        except ImportError:
            print(f"skipped: the Python package {name} is not installed (scripts/setup installs it)")
            sys.exit(SKIPPED)


def run(command, timeout=600):
    """Runs a command and returns its standard output."""
    result = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
    if result.returncode != 0:
        raise Failed(f"{' '.join(command)}\nexit code {result.returncode}\n{result.stdout}{result.stderr}")
    return result.stdout


def compile_model(bin_dir, model, target, engine, *options):
    run([os.path.join(bin_dir, "pbc"), model, f"--target={target}", "-o", engine, *options])


def run_engine(bin_dir, engine, device, inputs, output):
    """inputs: a .npy file for the one input; output: where the one output goes."""
    run([os.path.join(bin_dir, "pb-run"), engine, f"--device={device}", "--input", inputs, "--output", output])
