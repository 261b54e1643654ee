"""PTX of CUDA C by NVRTC, which needs no GPU: `python nvrtc.py LIBNVRTC.so IN.cu OUT.ptx [ARCH]`."""

import ctypes
import sys


def main():
    library, source, out = sys.argv[1:4]
    arch = sys.argv[4] if len(sys.argv) > 4 else "compute_80"
    nvrtc = ctypes.CDLL(library)
    program, size = ctypes.c_void_p(), ctypes.c_size_t()

    def do(name, *args):
        if getattr(nvrtc, name)(*args):
            nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
            log = ctypes.create_string_buffer(size.value)
            nvrtc.nvrtcGetProgramLog(program, log)
            sys.exit(f"{name}: {log.value.decode()}")

    with open(source, "rb") as file:
        text = file.read()
    do("nvrtcCreateProgram", ctypes.byref(program), text, source.encode(), 0, None, None)
    options = [f"--gpu-architecture={arch}".encode(), b"-DINFINITY=__int_as_float(0x7f800000)"]  # it has no headers
    do("nvrtcCompileProgram", program, len(options), (ctypes.c_char_p * len(options))(*options))
    do("nvrtcGetPTXSize", program, ctypes.byref(size))
    ptx = ctypes.create_string_buffer(size.value)
    do("nvrtcGetPTX", program, ptx)
    with open(out, "wb") as file:
        file.write(ptx.value)


if __name__ == "__main__":
    main()
