"""StableHLO in its own form as generic operations, which is what pb reads."""

import re

from .errors import NotSupported, PolyBlocksError
from .places import Places

TENSOR = r"tensor<[^<>]*(?:<[^<>]*>)?[^<>]*>"


def generic(text):
    """The text in generic form, and where its lines come from: by the names of operators where no file is known."""
    try:
        from jax._src.interpreters import mlir
        from jaxlib.mlir import ir
    except ImportError:
        raise PolyBlocksError("StableHLO in its own form is printed as generic operations by JAX's libraries: pip install jax") from None
    # what is left of XLA's own dialect
    text = re.sub(rf"mhlo\.(erf|tan|topk) (%\S+) : ({TENSOR})", r"chlo.\1 \2 : \3 -> \3", text)
    text = re.sub(rf"mhlo\.copy (%\S+) : ({TENSOR})", r"stablehlo.reshape \1 : (\2) -> \2", text)
    left = re.search(r"= \"?(mhlo\.\w+)", text)
    if left:
        raise NotSupported(f"operator {left.group(1)}, which is XLA's own")
    with mlir.make_ir_context() as context:
        context.allow_unregistered_dialects = True
        module = ir.Module.parse(text)
        plain = module.operation.get_asm(print_generic_op_form=True, enable_debug_info=False)
        places = _Named(lambda: module.operation.get_asm(print_generic_op_form=True, enable_debug_info=True))
        places.read()
    return dots(whole_extents(plain)), places


class _Named(Places):
    """Lines of Python, or the names of operators."""

    def of_line(self, line, depth):
        place = super().of_line(line, depth)
        if place and "/tensorflow/" not in place and "/keras/" not in place:
            return place
        names = re.findall(r'loc\("([^"]+)"', self.spelled(self.lines[line - 1], 0)) if 0 < line <= len(self.lines) else []
        return f"operator '{names[0]}'" if names else None

    def spelled(self, text, depth):
        """With what the locations' names stand for."""
        if depth == 8:
            return text
        return re.sub(r"#loc\d+", lambda m: self.spelled(self.aliases.get(m.group(0), ""), depth + 1), text.rpartition("loc(")[2] if depth == 0 else text)


def whole_extents(text):
    """An extent that is set to what it is: nothing."""

    def written(match):
        x, size, dim, kind, result = match.groups()
        extents = re.match(r"tensor<((?:\d+x)*)", kind).group(1).split("x")[:-1]
        known = re.findall(rf'{re.escape(size)} = "stablehlo\.constant"\(\) <\{{value = dense<(\d+)> : tensor<i32>\}}>', text[: match.start()])
        if kind != result or not known or known[-1] != extents[int(dim)]:
            return match.group(0)
        return f'"stablehlo.reshape"({x}) : ({kind}) -> {result}'

    return re.sub(
        rf'"stablehlo\.set_dimension_size"\((%[\w#]+), (%[\w#]+)\) <\{{dimension = (\d+) : i64\}}> : \(({TENSOR}), tensor<i32>\) -> ({TENSOR})',
        written,
        text,
    )


def dots(text):
    """The old product of two operands, of the last dim of the one and the first of the other."""

    def written(match):
        head, attributes, left, right, result = match.groups()
        rank = len(re.match(r"tensor<((?:\d+x)*)", left).group(1).split("x")) - 1
        numbers = f"#stablehlo.dot<lhs_contracting_dimensions = [{rank - 1}], rhs_contracting_dimensions = [0]>"
        precision = re.search(r"precision_config = \[[^\]]*\]", attributes or "")
        said = f"dot_dimension_numbers = {numbers}" + (f", {precision.group(0)}" if precision else "")
        return f'"stablehlo.dot_general"({head}) <{{{said}}}> : ({left}, {right}) -> {result}'

    return re.sub(rf'"stablehlo\.dot"\(([^)]*)\)(?: <\{{(.*?)\}}>)?(?: \{{[^{{}}]*(?:\{{[^{{}}]*\}}[^{{}}]*)*\}})? : \(({TENSOR}), ({TENSOR})\) -> ({TENSOR})', written, text)
