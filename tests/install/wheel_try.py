"""What a wheel has to do where there is Python and nothing else: models and texts for each kind of target, a description of one's
own, functions of arrays that are read back from a file. Usage: wheel_try.py FOLDER, with digits.onnx, its images and labels, dsp.td."""
import sys
from pathlib import Path

import numpy as np
import polyblocks
from polyblocks.library import library

folder = Path(sys.argv[1])
images, labels = np.load(folder / "digits_images.npy"), np.load(folder / "digits_labels.npy")
for target in ("cpu", "simnpu", "nvgpu", "amdgpu", str(folder / "dsp.td")):
    engine = polyblocks.compile(str(folder / "digits.onnx"), target=target)
    engine.save(str(folder / "digits.pbe"))
    again = polyblocks.load(str(folder / "digits.pbe"))
    info = again.inputs[0]
    count = info.shape[0]
    found = [again(images[k : k + count].reshape(info.shape).astype(info.dtype)) for k in range(0, 64, count)]
    right = np.mean(np.concatenate(found).argmax(1) == labels[: len(found) * count])
    print(f"{Path(target).name}: {100 * right:.1f}% of {len(found) * count} digits right")
    assert right >= 0.9
text = folder / "add.mlir"
text.write_text("""module { func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %a, %b : tensor<4xf32>
  return %0 : tensor<4xf32> } }""")
one = np.ones(4, np.float32)
assert np.array_equal(polyblocks.compile(str(text), target="cpu")(one, one), 2 * one)
print(f"texts too; libpb is {library().path}")
