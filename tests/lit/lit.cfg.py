# IR tests: each .mlir or .test file says what to run and, for FileCheck, what must come out.
import os

import lit.formats

config.name = "pb"
config.test_format = lit.formats.ShTest()
config.suffixes = [".mlir", ".test"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(lit_config.params["bin"], "..", "lit")
config.substitutions.append(("%pb-opt", os.path.join(lit_config.params["bin"], "pb-opt")))
config.substitutions.append(("%pbc", os.path.join(lit_config.params["bin"], "pbc")))
config.substitutions.append(("%models", os.path.join(os.path.dirname(__file__), "..", "models")))
config.substitutions.append(("%chips", os.path.join(os.path.dirname(__file__), "..", "chips")))
config.substitutions.append(("%FileCheck", lit_config.params["filecheck"]))
config.environment["PATH"] = os.path.dirname(lit_config.params["filecheck"]) + os.pathsep + os.environ["PATH"]
if "GCOV_PREFIX" in os.environ:  # scripts/mutate asks which lines a test runs
    config.environment["GCOV_PREFIX"] = os.environ["GCOV_PREFIX"]
