"""Element types by the names that libpb has, as NumPy's and as MLIR's."""

import functools

import numpy as np

PLAIN = {
    "i1": np.bool_,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "u8": np.uint8,
    "u16": np.uint16,
    "u32": np.uint32,
    "u64": np.uint64,
    "f16": np.float16,
    "f32": np.float32,
    "f64": np.float64,
}
# Types that NumPy has by way of ml_dtypes alone; without it their bytes are handed over.
MORE = {
    "bf16": "bfloat16",
    "f8E4M3FN": "float8_e4m3fn",
    "f8E4M3FNUZ": "float8_e4m3fnuz",
    "f8E5M2": "float8_e5m2",
    "f8E5M2FNUZ": "float8_e5m2fnuz",
    "f8E8M0FNU": "float8_e8m0fnu",
    "f4E2M1FN": "float4_e2m1fn",
    "i4": "int4",
    "u4": "uint4",
    "i2": "int2",
    "u2": "uint2",
}


@functools.lru_cache(maxsize=None)
def numpy_type(name, is_complex=False):
    """The NumPy type of a tensor's elements."""
    if is_complex:
        return np.dtype(np.complex64 if name == "f32" else np.complex128)
    if name in PLAIN:
        return np.dtype(PLAIN[name])
    try:
        import ml_dtypes

        return np.dtype(getattr(ml_dtypes, MORE[name]))
    except (ImportError, AttributeError, KeyError):
        return np.dtype(np.uint16 if name == "bf16" else np.uint8)


@functools.lru_cache(maxsize=None)
def name_of(dtype):
    """libpb's name of a NumPy type and whether it is of complex numbers; None: it has none."""
    dtype = np.dtype(dtype)
    if dtype == np.complex64:
        return "f32", True
    if dtype == np.complex128:
        return "f64", True
    for name, known in PLAIN.items():
        if dtype == np.dtype(known):
            return name, False
    for name, known in MORE.items():
        if dtype.name == known:
            return name, False
    return None
