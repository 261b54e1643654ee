#!/usr/bin/env bash
# An engine as C, the loader as it would be compiled for firmware (nothing but memcpy and memset may be missing), both run
# the digits on the toy chip in a process of its own as pb-run does.
# Usage: firmware.sh BIN DRIVER SOURCE WORK CC OTHER_DRIVER
set -euo pipefail
bin=$1 driver=$2 source=$3 work=$4 cc=$5 other=$6 chip=$3/tests/chips/tinynpu.td
rm -rf "$work" && mkdir -p "$work"
cd "$work"
"$bin/pbc" "$source/tests/models/digits.onnx" --target="$chip" -o digits.pbe
"$bin/pb-objdump" digits.pbe --c-array=digits > digits.c
grep -q "carries no licence of its own" digits.c
warnings="-std=c99 -Wall -Wextra -Wpedantic -Werror"
"$cc" $warnings -Os -ffreestanding -fno-stack-protector -I"$source/include" -c "$source/tools/firmware/pb_firmware.c" -o loader.o
missing=$(nm -u loader.o | awk '{ print $2 }' | grep -v -x -e memcpy -e memset || true)
[ -z "$missing" ] || { echo "the loader needs $missing"; exit 1; }
"$cc" $warnings -c digits.c -o digits.o
"$cc" -std=c11 -Wall -Wextra -Werror -I"$source/include" -I"$source/tools/firmware" "$source/tests/device/firmware.c" loader.o digits.o -o firmware -ldl
"${PYTHON:-python3}" - << 'EOF'
import struct
def write(path, kind, shape, data):
    head = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (kind, shape)
    head += " " * (-(10 + len(head) + 1) % 64) + "\n"
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + data)
write("in.npy", "<f4", (1, 1, 8, 8), struct.pack("<64f", *[(k * 37 % 17) / 16 for k in range(64)]))
write("codes_in.npy", "|u1", (1, 16, 4, 4), bytes(k * 53 % 256 for k in range(256)))
try:
    from onnx import TensorProto, helper, save
    scale = [helper.make_tensor("s", TensorProto.FLOAT, [], [0.1]), helper.make_tensor("z", TensorProto.UINT8, [], [130])]
    nodes = [helper.make_node("DequantizeLinear", ["x", "s", "z"], ["f"], "from"),
             helper.make_node("MaxPool", ["f"], ["p"], "pool", kernel_shape=[2, 2], strides=[2, 2]),
             helper.make_node("QuantizeLinear", ["p", "s", "z"], ["y"], "to")]
    graph = helper.make_graph(nodes, "codes", [helper.make_tensor_value_info("x", TensorProto.UINT8, [1, 16, 4, 4])],
                              [helper.make_tensor_value_info("y", TensorProto.UINT8, [1, 16, 2, 2])], scale)
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), "codes.onnx")
except ImportError:
    pass
EOF
"$bin/pb-run" digits.pbe --device=machine --input=in.npy --output=expected.npy > /dev/null
./firmware "$driver" "chip=$bin/toy_chip,td=$chip" in.npy expected.npy
# Constants in a memory of their own, on the machine of that chip.
"$bin/pbc" "$source/tests/models/digits.onnx" --target="$source/tests/chips/tpu_v1.td" -o apart.pbe
"$bin/pb-objdump" apart.pbe --c-array=digits > apart.c
"$cc" -c apart.c -o apart.o
"$cc" -std=c11 -Wall -Wextra -Werror -I"$source/include" -I"$source/tools/firmware" "$source/tests/device/firmware.c" loader.o apart.o -o apart -ldl
"$bin/pb-run" apart.pbe --device=machine --input=in.npy --output=apart_expected.npy > /dev/null
./apart "$other" "td=$source/tests/chips/tpu_v1.td" in.npy apart_expected.npy
# In two memories of their own.
. "$source/tests/device/three_memories.sh"
three_memories "$source" > three.td
"$bin/pbc" "$source/tests/models/digits.onnx" --target=three.td -o three.pbe
"$bin/pb-objdump" three.pbe > three.txt
grep -q "131072 of them in memory 0 of constants, [1-9][0-9]* of them in memory 1 of constants" three.txt || { head -5 three.txt; exit 1; }
"$bin/pb-objdump" three.pbe --c-array=digits > three.c
"$cc" -c three.c -o three.o
"$cc" -std=c11 -Wall -Wextra -Werror -I"$source/include" -I"$source/tools/firmware" "$source/tests/device/firmware.c" loader.o three.o -o three -ldl
"$bin/pb-run" three.pbe --device=machine --input=in.npy --output=three_expected.npy > /dev/null
cmp three_expected.npy apart_expected.npy
./three "$other" "td=three.td" in.npy three_expected.npy
size loader.o | tail -1 | awk '{ exit !($1 < 8192) }' || { echo "the loader has grown past 8 KiB"; exit 1; }
# Codes without a sign, which kernels have 128 less.
[ -f codes.onnx ] || { echo "no module onnx: codes without a sign are not run"; exit 0; }
"$bin/pbc" codes.onnx --target="$chip" -o codes.pbe
"$bin/pb-objdump" codes.pbe --c-array=digits > codes.c
"$cc" -c codes.c -o codes.o
"$cc" -std=c11 -Wall -Wextra -Werror -DCODES -I"$source/include" -I"$source/tools/firmware" "$source/tests/device/firmware.c" loader.o codes.o -o codes -ldl
"$bin/pb-run" codes.pbe --device=machine --input=codes_in.npy --output=codes_expected.npy > /dev/null
./codes "$driver" "chip=$bin/toy_chip,td=$chip" codes_in.npy codes_expected.npy
