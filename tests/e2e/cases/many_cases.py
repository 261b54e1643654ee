"""As many operands, results, inputs and outputs as there are."""

import numpy as np
from regression_cases import CASES, F32, Maker


def of_many(label, kind, count, targets, coded=False, **attrs):
    m = Maker(label)
    x = [m.input(f"x{k}", 2, 3) for k in range(count)]
    if coded:
        x = [m.codes(each, F32(0.05)) for each in x]
    y = m.op(kind, *x, **attrs)
    return m.done(m.codes(y, F32(0.1)) if coded else y, targets=targets, step=0.1 if coded else None)


def into_many(label, count, targets, sizes=False):
    """Split takes its results' number from the node."""
    m = Maker(label)
    x = m.input("x", 2, 3 * count)
    parts = [m.op("Split", x, *([m.const(np.full(count, 3))] if sizes else []), axis=1)] + [f"part{k}" for k in range(1, count)]
    m.nodes[-1].output.extend(parts[1:])
    return m.done(*parts, targets=targets)


for _kind in ("Sum", "Max", "Min", "Mean", "Concat"):
    _attrs = {"axis": 1} if _kind == "Concat" else {}
    for _count, _targets in ((65, ("cpu", "simnpu")), (400, ("cpu",))):
        _label = f"{_kind}_of_{_count}"
        CASES[_label] = lambda a=(_label, _kind, _count, _targets), k=_attrs: of_many(*a, **k)
CASES["Concat_of_65_codes"] = lambda: of_many("Concat_of_65_codes", "Concat", 65, ("cpu", "simnpu"), coded=True, axis=1)
CASES["Split_into_65"] = lambda: into_many("Split_into_65", 65, ("cpu", "simnpu"))
CASES["Split_into_400_sizes"] = lambda: into_many("Split_into_400_sizes", 400, ("cpu",), sizes=True)
CASES["Sum_of_1500"] = lambda: of_many("Sum_of_1500", "Sum", 1500, ("cpu",))
