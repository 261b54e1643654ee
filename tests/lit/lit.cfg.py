# IR tests: each .mlir file says what to run and, for FileCheck, what must come out.
import os

import lit.formats

config.name = "pb"
config.test_format = lit.formats.ShTest()
config.suffixes = [".mlir"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(lit_config.params["bin"], "..", "lit")
config.substitutions.append(("%pb-opt", os.path.join(lit_config.params["bin"], "pb-opt")))
config.substitutions.append(("%FileCheck", lit_config.params["filecheck"]))
config.environment["PATH"] = os.path.dirname(lit_config.params["filecheck"]) + os.pathsep + os.environ["PATH"]
