"""Stand-ins for the CUDA libraries that PyPI's torch is linked with, so that it can be imported without their 2 GB: each
function returns 100, "no device". For tests on machines without a GPU alone.

    torch_stubs.py TORCH/lib FOLDER      # then LD_LIBRARY_PATH=FOLDER

Needs nm, readelf and cc."""

import collections
import re
import subprocess
import sys
from pathlib import Path

SYSTEM = re.compile(r"(ld-linux.*|lib(c|m|dl|rt|pthread|gcc_s|stdc\+\+|gomp|util))\.so\.\d+")


OF_CUDA = re.compile(r"(cu|nccl|nvshmem|nvrtc|nvml|__cuda|__nv)")


def said_by(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def versions_of(library):
    """Which library each version is of, by the table of versions that are needed."""
    found, soname = {}, None
    needs = said_by("readelf", "-V", "-W", str(library)).partition("Version needs section")[2]
    for line in needs.splitlines():
        file, name = re.search(r"File: (\S+)", line), re.search(r"Name: (\S+)", line)
        soname = file.group(1) if file else soname
        if name:
            found[name.group(1)] = soname
    return found


def symbols(library, which):
    """Name, version and kind of a library's dynamic symbols."""
    for line in said_by("nm", "-D", "--with-symbol-versions", which, str(library)).splitlines():
        kind, name = line.split()[-2:]
        name, _, version = name.replace("@@", "@").partition("@")
        yield name, version, kind


def write(out, soname, versions, bare):
    """A library with functions by version, and `bare` ones that have none."""
    source, script = out / "stub.c", out / "stub.map"
    functions = bare | {name for names in versions.values() for name in names}
    source.write_text("".join(f"int {name}(void) {{ return 100; }}\n" for name in sorted(functions)) or "int none;\n")
    script.write_text("".join(f"{v} {{ global: {' '.join(n + ';' for n in sorted(names))} }};\n" for v, names in versions.items()))
    by_version = [f"-Wl,--version-script={script}"] if versions else []
    command = ["cc", "-w", "-fno-builtin", "-shared", "-fPIC", f"-Wl,-soname,{soname}", *by_version]
    subprocess.run([*command, "-o", str(out / soname), str(source)], check=True)
    source.unlink()
    script.unlink()


def main():
    torch, out = Path(sys.argv[1]), Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    libraries = sorted(torch.glob("lib*.so*"))
    defined = {name for library in libraries for name, _, _ in symbols(library, "--defined-only")}
    missing = collections.defaultdict(lambda: collections.defaultdict(set))  # library, version: names
    bare = set()  # functions without a version: any library may have them
    for library in libraries:
        needed = re.findall(r"\(NEEDED\).*\[(.*)\]", said_by("readelf", "-d", str(library)))
        needed = [n for n in needed if not (torch / n).exists() and not SYSTEM.fullmatch(n)]
        for soname in needed:
            missing[soname]
        version_of = versions_of(library)
        for name, version, kind in symbols(library, "--undefined-only"):
            if version_of.get(version) in needed:
                missing[version_of[version]][version].add(name)
            elif needed and not version and kind == "U" and OF_CUDA.match(name) and name not in defined:
                bare.add(name)
    for soname, versions in missing.items():
        write(out, soname, versions, set() if versions else bare)
    print(f"{len(missing)} libraries in {out}")


if __name__ == "__main__":
    main()
