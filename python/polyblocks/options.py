"""compile_options: the names that PolyBlocks has, and what libpb is told of each."""

import difflib
import re

from .errors import OptionError


def choice(*values):
    def check(name, value):
        if value not in values:
            raise OptionError(f"compile option {name!r} is {value!r}; it takes {', '.join(map(repr, values))}")
        return value

    return check


def of_type(kind, what):
    def check(name, value):
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise OptionError(f"compile option {name!r} is {value!r}; it takes {what}")
        return value

    return check


def count(name, value):
    if of_type(int, "a number from 1 on")(name, value) < 1:
        raise OptionError(f"compile option {name!r} is {value!r}; it takes a number from 1 on")
    return value


def only(kept, reason):
    """An option whose other value asks for what there is not: that is an error, not silence."""

    def check(name, value):
        if of_type(bool, "True or False")(name, value) is not kept:
            raise OptionError(f"compile option {name!r} cannot be {value!r}: {reason}")
        return value

    return check


truth = of_type(bool, "True or False")

# name: (what it is without being given, what checks it)
OPTIONS = {
    "target": ("cpu", of_type(str, "a target's name, as 'cpu', 'cpu:avx512' or 'simnpu', or FILE.td")),
    "strict_target": (True, truth),  # False: what the target lacks runs on the cpu, with a warning each
    "mm_conv_precision_mode": ("f32", choice("f32", "bf16", "f16", "f8e4m3", "f8e5m2")),
    "mlir_disable_fast_math": (True, truth),  # either way: no result hangs on fast mathematics
    "polyblocks_disable_affine_fusion": (False, only(False, "what is fused is the planner's to decide")),
    "polyblocks_disable_reduce_reduce_fusion": (False, only(False, "what is fused is the planner's to decide")),
    "polyblocks_gpu_no_tensor_core": (False, only(False, "a target without its matrix unit is a description of its own (FILE.td)")),
    "device_one_time_load": (False, truth),  # weights are constants of the engine, loaded once, as they are at the first call
    "num_iters": (1, count),  # runs a call so many times
    "on_gpu_tensors": (False, only(False, "tensors lie in the system's memory")),
    "polyblock_gen_library": (None, of_type((str, type(None)), "a folder, in which each engine is left as a .pbe file")),
    # and these, which are pb's own
    "target_dir": (None, of_type((str, type(None)), "a folder of descriptions")),
    "n_threads": (0, of_type(int, "a number of threads, 0 for as many as there are processors")),
    "compile_threads": (0, of_type(int, "a number of threads, 0 for as many as there are processors")),
    "device": (None, of_type((str, type(None)), "what executes: 'native', 'machine', 'rtl' or FILE.so")),
    "cache": (True, truth),  # False: nothing is read from or left on disk
}


class Options:
    """Checked options, an attribute each."""

    def __init__(self, given=None, **more):
        if given is not None and not isinstance(given, dict):
            raise OptionError(f"compile_options is {given!r}; it takes a dict, as {{'target': 'cpu'}}")
        given = {**(given or {}), **more}
        for name, (missing, check) in OPTIONS.items():
            setattr(self, name, check(name, given[name]) if name in given else missing)
        for name in given:
            if name not in OPTIONS:
                raise OptionError(unknown(name))

    def for_compiler(self):
        """The options that libpb's compiler takes, as pairs of texts."""
        pairs = [("target", self.target)]
        if not self.strict_target:
            pairs.append(("fallback", "cpu"))
        if self.mm_conv_precision_mode != "f32":
            pairs.append(("precision", self.mm_conv_precision_mode))
        if self.target_dir:
            pairs.append(("target-dir", self.target_dir))
        if self.compile_threads:
            pairs.append(("threads", str(self.compile_threads)))
        return pairs


# What libpb's diagnostics call by pbc's flags, and how it is said in Python
FLAGS = (
    (r"--fallback=\w+|--fallback", "strict_target=False"),
    (r"--target=([\w:.]+)", r"target='\1'"),
    (r"--precision=(\w+)", r"mm_conv_precision_mode='\1'"),
    (r"--dim '?(\w+)=(\d+(?:,\d+)+)'?", r"dims={'\1': (\2)}"),
    (r"--dim '?(\w+)=(\w+)'?", r"dims={'\1': \2}"),
    (r"--input-shape '?(\w+)=(\d+(?:x\d+)*)'?", lambda m: f"input_shapes={{{m[1]!r}: ({m[2].replace('x', ', ')})}}"),
    (r"--dim\b", "dims"),
    (r"--input-shape\b", "input_shapes"),
)


def in_python(text):
    """A diagnostic's text or hint with compile options in place of pbc's flags."""
    for flag, said in FLAGS:
        text = re.sub(flag, said, text)
    return text


def unknown(name):
    near = difflib.get_close_matches(str(name), OPTIONS, 1)
    perhaps = f"; perhaps {near[0]!r}" if near else ""
    return f"no compile option {name!r}{perhaps}. There are: {', '.join(OPTIONS)}"
