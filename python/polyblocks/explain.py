"""How a function or a model runs on a target, without running it."""

from . import compiler
from .arrays import as_numpy
from .errors import ArgumentError
from .options import Options


def explain(what, *args, format="text", **named):
    """The steps of a decorated function for these arguments, or of a model (a file, its bytes, a text): instructions, predicted
    cycles and what binds them, and what the target lacks. format: "text", "html", or "json" for Python's dicts.

        polyblocks.explain(f, x)
        polyblocks.explain("model.onnx", target="simnpu", dims={"batch": 1})"""
    if format not in ("text", "json", "html"):
        raise ArgumentError(f"format is {format!r}; it takes 'text', 'json', 'html'")
    if not callable(what):
        if args:
            raise ArgumentError("a model is explained without arguments; input_shapes and dims say what it leaves open")
        return compiler.explained(*_model(what, **named), format)
    described = getattr(what, "polyblocks_describe", None)
    if described is None:
        raise ArgumentError(f"{what!r} is not compiled by polyblocks: decorate it first")
    name, text, pairs, constants, place = described(*args, **named)
    bound = [(key, as_numpy(value)) for key, value in constants.items()]
    return compiler.explained(name, text.encode(), pairs, bound, format, place)


def _model(model, target=None, *, name=None, input_shapes=None, dims=None, constants=None, options=None, **more):
    if target is not None:
        more["target"] = target
    o = Options(options, **more)
    name, data, pairs, constants, _ = compiler.described(model, name, input_shapes, dims, None, o, constants)
    return name, data, pairs, [(key, as_numpy(value)) for key, value in constants.items()]
