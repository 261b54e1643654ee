#!/usr/bin/env bash
# The Debian package: unpacked elsewhere, its programs compile and run the digits.
# Usage: debian.sh CPACK BUILD WORK TESTS
set -euo pipefail
cpack=$1 build=$2 work=$3 tests=$4
command -v dpkg-shlibdeps > /dev/null || { echo "skipped: no dpkg-dev"; exit 77; }
rm -rf "$work" && mkdir -p "$work"
# Which compressor is no matter here: gzip takes a tenth of xz's time.
"$cpack" -G DEB --config "$build/CPackConfig.cmake" -D CPACK_DEBIAN_COMPRESSION_TYPE=gzip -B "$work" > "$work/cpack.log" || { cat "$work/cpack.log"; exit 1; }
deb=$(ls "$work"/pb-sdk_*.deb)
dpkg-deb -f "$deb" Depends | grep -q 'llvm-22, lld-22,.*libjansson4.*libmlir-22' || { dpkg-deb -f "$deb"; exit 1; }
dpkg-deb -x "$deb" "$work/root"
bin=$work/root/usr/bin
"$bin/pbc" "$work/root/usr/share/pb/tests/models/digits.onnx" --target=simnpu -o "$work/digits.pbe"
"$bin/pb-run" "$work/digits.pbe" --input="$tests/models/digits_images.npy" --output="$work/logits.npy" --stats
ls -l "$deb"
