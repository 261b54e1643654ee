"""Writes the StableHLO texts of functions.py, as jax.export makes them of symbolic shapes, into texts/, generic form, and
checks that NumPy's results are JAX's. Needs jax; the test does not.
Usage: export.py [NAME...]"""
import os, sys
import numpy as np
import jax, jax.numpy as jnp
from jax import export
from jax._src.interpreters import mlir
from jaxlib.mlir import ir
from functions import ROWS
from values import SIZES, arguments, factors

HERE = os.path.dirname(os.path.abspath(__file__))
TYPES = {"f32": jnp.float32, "i32": jnp.int32}


def text_of(f, specs):
    names = sorted({d for s, _ in specs for d in (factors(f)[1] for f in s.split(",")) if d})
    scope = dict(zip(names, export.symbolic_shape(",".join(names))))
    shapes = [jax.ShapeDtypeStruct(tuple(n * scope[d] if d else n for n, d in map(factors, s.split(","))), TYPES[t])
              for s, t in specs]
    e = export.export(jax.jit(lambda *a: f(jnp, *a)))(*shapes)
    with mlir.make_ir_context():
        return ir.Module.parse(e.mlir_module()).operation.get_asm(print_generic_op_form=True, enable_debug_info=False)


os.makedirs(f"{HERE}/texts", exist_ok=True)
for name, f, specs, least in ROWS:
    if sys.argv[1:] and name not in sys.argv[1:]:
        continue
    for size in SIZES:
        a = arguments(name, specs, max(size, least))
        want, got = np.asarray(f(jnp, *map(jnp.asarray, a))), np.asarray(f(np, *a))
        assert want.shape == got.shape and np.allclose(want, got, rtol=1e-4, atol=1e-4), (name, size)
    with open(f"{HERE}/texts/{name}.mlir", "w") as out:
        out.write(text_of(f, specs))
    print(name)
