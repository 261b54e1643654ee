"""Resize and Upsample, where places are computed when the engine runs and where they are constants: every transform, mode and rounding
at scales whose places lie between two elements. An engine with open dims gives what one for the extents gives: bit for bit where
elements are taken, within 1e-6 where they are weighted.

    tests/open/resizes.py --bin build/bin [--only TEXT] [--every N]"""

import sys

from by_runtime import Opened, model_of  # first: it skips where a package is missing
import numpy as np
import tools
from run import execute, judge_all

TRANSFORMS = "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_half_pixel_for_nn"
ROUNDINGS = "round_prefer_floor", "round_prefer_ceil", "floor", "ceil"
SCALES = (1.5, 3), (0.5, 2), (1 / 3, 0.75), (2.5, 4 / 3), (0.3, 1), (7, 1.2)
WHOLE = (2, 3), (0.5, 2), (1.5, 0.75), (2.5, 1.25)
EXTENTS = (1, 3, 2), (2, 6, 9), (3, 5, 7)


def nodes(transform, crops):
    """(name, text) of each node: all modes."""
    region = "r" if crops else ""
    first = f'axes = [2, 3], coordinate_transformation_mode = "{transform}"'
    for k, rounding in enumerate(ROUNDINGS):
        yield f"n{k}", f'n{k} = Resize<{first}, mode = "nearest", nearest_mode = "{rounding}">(x, {region}, s)'
    for mode in ("linear", "cubic"):
        for excluded in (0, 1) if mode == "cubic" else (0,):  # ONNX Runtime takes no other
            name = f"{mode[0]}{excluded}"
            yield name, f'{name} = Resize<{first}, mode = "{mode}", exclude_outside = {excluded}>(x, {region}, s)'


def cases():
    for dims, all_scales in (("N, 2, 5, 7", SCALES), ("1, 2, N, M", WHOLE)):
        for transform in (*TRANSFORMS, "tf_crop_and_resize"):
            for scales in all_scales:
                body = list(nodes(transform, transform.startswith("tf_crop")))
                outputs = ", ".join(f"float[A, 2, B, C] {name}" for name, _ in body)
                held = f"float[2] s = {{{scales[0]}, {scales[1]}}}, float[4] r = {{0.1, 0.2, 0.85, 0.9}}"
                text = f"g (float[{dims}] x) => ({outputs}) <{held}> {{ {' '.join(line for _, line in body)} }}"
                yield f"{transform} by {scales[0]:.3g} and {scales[1]:.3g}, {dims}", text, dims


def check(bin_dir, folder, _, text, dims):
    opened = Opened(bin_dir, folder, model_of(text))
    if opened.refused():
        return opened.refused()
    names = [o.name for o in opened.model.graph.output]
    for n, h, w in EXTENTS:
        said = ["--dim", f"N={n if dims.startswith('N') else h}", *([] if dims.startswith("N") else ["--dim", f"M={w}"])]
        shape = (n, 2, 5, 7) if dims.startswith("N") else (1, 2, h, w)
        feeds = {"x": np.random.default_rng(n).standard_normal(shape).astype(np.float32)}
        done = tools.call([f"{bin_dir}/pbc", str(folder / "m.onnx"), "--target=cpu", "-o", str(folder / "closed.pbe"), *said])
        if done.returncode:
            return done.stderr.strip()
        got, want = opened.run(feeds), execute(bin_dir, folder / "closed.pbe", feeds, names, folder)
        for result in (got, want):
            if isinstance(result, str):
                return result.strip()
        for name, closed in zip(names, want):
            exact = name.startswith("n")
            if got[name].shape != closed.shape or not np.allclose(got[name], closed, 0 if exact else 1e-6, 0 if exact else 1e-6, equal_nan=True):
                return f"{shape}: {name} is {got[name].ravel()[:8]}, {closed.ravel()[:8]} for these extents"
    return ""


if __name__ == "__main__":
    sys.exit(judge_all(list(cases()), check))
