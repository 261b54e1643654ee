"""What XLA makes of StableHLO texts: a process of its own, which a mutant may end. With the Python of an environment that has jax.

A job on standard input, a line of JSON: {"text": FILE, "inputs": [[FILE.npy, ELEMENT], ...], "out": PREFIX}. The answer, a line
of JSON: {"elements": [...]} for PREFIX0.npy, ...; or {"why": what it does not take}. Elements that NumPy lacks are raw bits, and
complex numbers pairs, as pb-run has them."""

import json
import sys

import jax
import ml_dtypes
import numpy as np
from jax._src import compiler
from jax._src.interpreters import mlir
from jaxlib import _jax
from jaxlib.mlir import ir

jax.config.update("jax_enable_x64", True)
DEVICE = jax.devices("cpu")[0]
OPTIONS = compiler.get_compile_options(num_replicas=1, num_partitions=1)
NARROW = {"bf16": "bfloat16", "f8E4M3FN": "float8_e4m3fn", "f8E5M2": "float8_e5m2", "i4": "int4", "ui4": "uint4"}


def taken(path, element):
    raw = np.load(path)
    if element.startswith("complex"):
        return np.ascontiguousarray(raw).view(np.complex64 if raw.dtype == np.float32 else np.complex128)[..., 0]
    if element in NARROW:
        return raw.view(getattr(ml_dtypes, NARROW[element]))
    return raw


def given(array):
    array = np.asarray(array)
    if array.dtype.kind == "c":
        return np.stack([array.real, array.imag], axis=-1)
    if array.dtype.kind == "V" or array.dtype.name in NARROW.values():
        return array.view(np.uint16 if array.dtype.itemsize == 2 else np.uint8)
    return array


def work(job):
    with open(job["text"], encoding="utf-8") as file, mlir.make_ir_context():
        module = ir.Module.parse(file.read())
        module.operation.attributes["sym_name"] = ir.StringAttr.get("mutant")
        code = mlir.module_to_bytecode(module)
    loaded = DEVICE.client.compile_and_load(code, _jax.DeviceList((DEVICE,)), OPTIONS)
    arguments = [jax.device_put(taken(path, element), DEVICE) for path, element in job["inputs"]]
    results = loaded.execute_sharded(arguments).disassemble_into_single_device_arrays()
    for k, (one, *_) in enumerate(results):
        np.save(f"{job['out']}{k}.npy", given(one))
    return {"count": len(results)}


def main():
    for line in sys.stdin:
        try:
            answer = work(json.loads(line))
        except Exception as error:  # noqa: BLE001
            answer = {"why": str(error)[:300]}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
