"""Writes the StableHLO texts of functions.py, as JAX lowers them, into texts/, generic form, and checks that NumPy's results
are JAX's. Needs jax; the test does not.
Usage: export.py [NAME...]"""
import os
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax._src.interpreters import mlir
from jaxlib.mlir import ir

from functions import ROWS
import donated

HERE = os.path.dirname(os.path.abspath(__file__))
os.makedirs(f"{HERE}/texts", exist_ok=True)


def write(name, lowered):
    with mlir.make_ir_context():
        module = ir.Module.parse(lowered.as_text())
        text = module.operation.get_asm(print_generic_op_form=True, enable_debug_info=False)
    with open(f"{HERE}/texts/{name}.mlir", "w") as out:
        out.write(text)
    print(name)


for name, made, reference, runs in ROWS:
    if sys.argv[1:] and name not in sys.argv[1:]:
        continue
    f = jax.jit(made(jax, jnp, lax))
    for arguments in runs:
        want, got = jax.tree.leaves(f(*arguments)), jax.tree.leaves(reference(*arguments))
        for a, b in zip(want, got, strict=True):
            assert a.shape == np.shape(b) and np.allclose(a, b, rtol=1e-4, atol=1e-3), (name, a, b)
    write(name, f.lower(*runs[0]))

if not sys.argv[1:] or "token" in sys.argv[1:]:
    place = lambda cache, row, at: lax.dynamic_update_slice(cache, row, (0, 0, at, 0))  # noqa: E731
    f = jax.jit(lambda *a: donated.token(jnp, place, *a))
    for a, b in zip(f(*donated.arguments()), donated.token(np, donated.placed, *donated.arguments()), strict=True):
        assert np.allclose(a, b, rtol=1e-4, atol=1e-4)
    write("token", f.lower(*donated.arguments()))
