"""Kernels in Triton, and their PTX: `python triton_kernels.py OUT.ptx [ARCH]` compiles them, without a GPU."""

import re
import sys

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def add_scaled(y, x, a, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(y + at, a * tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)


@triton.jit
def row_sum(out, x, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for first in range(0, columns, BLOCK):
        at = first + tl.arange(0, BLOCK)
        total += tl.load(x + row * columns + at, mask=at < columns, other=0.0)
    tl.store(out + row, tl.sum(total, axis=0))


@triton.jit
def softmax(y, x, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    values = tl.load(x + row * columns + at, mask=at < columns, other=-float("inf"))
    raised = tl.exp(values - tl.max(values, axis=0))
    tl.store(y + row * columns + at, raised / tl.sum(raised, axis=0), mask=at < columns)


@triton.jit
def layer_norm(y, x, scale, shift, columns, epsilon, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    values = tl.load(x + row * columns + at, mask=inside, other=0.0)
    apart = tl.where(inside, values - tl.sum(values, axis=0) / columns, 0.0)
    by = 1.0 / tl.sqrt(tl.sum(apart * apart, axis=0) / columns + epsilon)
    tl.store(y + row * columns + at, apart * by * tl.load(scale + at, mask=inside) + tl.load(shift + at, mask=inside), mask=inside)


@triton.jit
def matmul(c, a, b, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    across = tl.cdiv(n, BN)
    rows = tl.program_id(0) // across * BM + tl.arange(0, BM)
    columns = tl.program_id(0) % across * BN + tl.arange(0, BN)
    steps = tl.arange(0, BK)
    total = tl.zeros([BM, BN], dtype=tl.float32)
    for first in range(0, k, BK):
        at = first + steps
        left = tl.load(a + rows[:, None] * k + at[None, :], mask=(rows[:, None] < m) & (at[None, :] < k), other=0.0)
        right = tl.load(b + at[:, None] * n + columns[None, :], mask=(at[:, None] < k) & (columns[None, :] < n), other=0.0)
        total = tl.dot(left, right, total, input_precision="ieee")
    tl.store(c + rows[:, None] * n + columns[None, :], total, mask=(rows[:, None] < m) & (columns[None, :] < n))


@triton.jit
def transpose(y, x, rows, columns, BLOCK: tl.constexpr):
    across = tl.cdiv(columns, BLOCK)
    r = tl.program_id(0) // across * BLOCK + tl.arange(0, BLOCK)
    c = tl.program_id(0) % across * BLOCK + tl.arange(0, BLOCK)
    tile = tl.load(x + r[:, None] * columns + c[None, :], mask=(r[:, None] < rows) & (c[None, :] < columns))
    tl.store(y + c[:, None] * rows + r[None, :], tl.trans(tile), mask=(c[:, None] < columns) & (r[None, :] < rows))


@triton.jit
def histogram(bins, x, n, BLOCK: tl.constexpr, BINS: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    codes = tl.load(x + at, mask=at < n, other=0).to(tl.int32)
    counts = tl.histogram(codes, BINS, mask=at < n)
    tl.atomic_add(bins + tl.arange(0, BINS), counts, sem="relaxed")


@triton.jit
def scan(y, x, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    values = tl.load(x + row * columns + at, mask=at < columns, other=0)
    tl.store(y + row * columns + at, tl.cumsum(values, axis=0), mask=at < columns)


@triton.jit
def stencil(y, x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    left = tl.load(x + at - 1, mask=(at > 0) & (at < n), other=0.0)
    right = tl.load(x + at + 1, mask=at + 1 < n, other=0.0)
    tl.store(y + at, 0.25 * left + 0.5 * tl.load(x + at, mask=at < n, other=0.0) + 0.25 * right, mask=at < n)


F, H, I, B, N = "*fp32", "*fp16", "*i32", "*u8", "i32"
# The entry's name, the function, its parameters' types, its constants, warps of a block.
KERNELS = [
    ("add_scaled", add_scaled, {"y": F, "x": F, "a": "fp32", "n": N}, {"BLOCK": 256}, 4),
    ("row_sum", row_sum, {"out": F, "x": F, "columns": N}, {"BLOCK": 128}, 4),
    ("softmax", softmax, {"y": F, "x": F, "columns": N}, {"BLOCK": 512}, 4),
    ("layer_norm", layer_norm, {"y": F, "x": F, "scale": F, "shift": F, "columns": N, "epsilon": "fp32"}, {"BLOCK": 512}, 4),
    ("matmul_f32", matmul, {"c": F, "a": F, "b": F, "m": N, "n": N, "k": N}, {"BM": 32, "BN": 32, "BK": 16}, 4),
    ("matmul_f16", matmul, {"c": F, "a": H, "b": H, "m": N, "n": N, "k": N}, {"BM": 64, "BN": 64, "BK": 32}, 4),
    ("transpose", transpose, {"y": F, "x": F, "rows": N, "columns": N}, {"BLOCK": 32}, 4),
    ("histogram", histogram, {"bins": I, "x": B, "n": N}, {"BLOCK": 512, "BINS": 256}, 4),
    ("scan", scan, {"y": I, "x": I, "columns": N}, {"BLOCK": 512}, 4),
    ("stencil", stencil, {"y": F, "x": F, "n": N}, {"BLOCK": 256}, 4),
]


def ptx_of(name, function, types, constants, warps, arch):
    """A kernel's PTX under a name of its own, without what debuggers want."""
    aligned = {(k,): [["tt.divisibility", 16]] for k, t in enumerate(types.values()) if t.startswith("*")}
    source = ASTSource(fn=function, signature={**types, **{c: "constexpr" for c in constants}}, constexprs=constants, attrs=aligned)
    made = triton.compile(source, target=GPUTarget("cuda", arch, 32), options={"num_warps": warps, "num_stages": 3})
    text = re.sub(r"\.section.*", "", made.asm["ptx"], flags=re.S)
    text = re.sub(rf"\b{function.__name__}\b", name, text)
    text = re.sub(r"\bglobal_smem\b", f"{name}_smem", text)
    lines = [line.split("//")[0].rstrip() for line in text.splitlines() if not re.match(r"\s*\.(loc|file)\b|\s*\$L__tmp|\s*//", line)]
    return f"// {name}: {made.metadata.shared} bytes of the block's memory\n" + "\n".join(line for line in lines if line) + "\n"


def main():
    arch = int(sys.argv[2]) if len(sys.argv) > 2 else 80
    texts = [ptx_of(*kernel, arch) for kernel in KERNELS]
    head = re.compile(r"^\.(version|target|address_size).*\n", re.M)
    version = max(re.search(r"\.version (\S+)", t)[1] for t in texts)
    body = "".join(head.sub("", t) for t in texts)
    with open(sys.argv[1], "w") as out:
        out.write(f"// Triton {triton.__version__}\n.version {version}\n.target sm_{arch}\n.address_size 64\n{body}")


if __name__ == "__main__":
    main()
