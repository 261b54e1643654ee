"""What is wrong with a description of a GPU is said, with what would be right.

    descriptions.py --bin BUILD/bin
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import tools  # noqa: E402

WHOLE = open(os.path.join(tools.SOURCE, "targets", "nvgpu", "nvgpu.td"), encoding="utf-8").read()
MODEL = os.path.join(tools.MODELS, "operators", "conv_1x1.onnx")
# what is changed, into what, what is said
FAULTS = [("[WARP, PROCESSOR, LANE]", "[WARP, LANE]", "PB3392"),
          ("[WARP, PROCESSOR, LANE]", "[]", "PB3392"),
          ("LaneDot<\"llvm.nvvm.idp4a.s.s\", VREG, Lanes, Latency>", "LaneDot<\"llvm.nvvm.idp4a.s.s\", VREG, Lanes, 4, \"a\">", "field 'Options' has more than numbers [PB3111]"),
          ("def WARP : GridLevel", 'def OTHER : GridLevel<"other", 2>;\ndef WARP : GridLevel', "4 levels of a chip with a grid [PB3392]"),
          ("!mul(Processors, 16), 1000", "7, 1000", "7 warps on 108 processors [PB3392]"),
          ("defvar Lanes = 32", "defvar Lanes = 24", "a warp of 24 lanes [PB3393]"),
          ("defvar Lanes = 32", "defvar Lanes = 128", "a warp of 128 lanes [PB3393]"),
          ("LaneRegisters<Lanes, 128>", "LaneRegisters<16, 128>", "a register of VREG has 64 bytes, of 32 lanes [PB3394]"),
          (": GridChip {", ': Chip {\n  let Control = "grid";', "PB33"),
          ("let BlockBytes = !mul(48, 1024);", "let BlockBytes = -1;", "BlockBytes is -1"),
          ("let BlockBytes", "let BlockWarps = 17; let BlockBytes", "BlockWarps is 17 [PB3396]"),
          ("let ProductCycles = Cycles;", "let ProductCycles = 0;", "ProductCycles is 0 [PB3396]"),
          ('["f16", "bf16"]', '["f32"]', 'Converts lists "f32" [PB3397]'),
          ("let BlockBytes", 'let Control = "tiles"; let BlockBytes', "PB3012"),
          ("!mul(Processors, 4)>", "!mul(Processors, 400)>", "WARP: Busy is 43200, Max is 1728 [PB3398]"),
          ("!mul(Processors, 4)>", "-1>", "WARP: Busy is -1, Max is 1728 [PB3398]"),
          ('GridLevel<"processor", Processors>', 'GridLevel<"processor", 0>', "PROCESSOR: Max is 0"),
          ('def LANE  : GridLevel<"lane", Lanes>;', "", "Variable not defined: 'LANE' [PB3001]"),
          ("[WARP, PROCESSOR, LANE]", "[LANE, PROCESSOR, WARP]", "32 warps on 108 processors [PB3392]"),
          ("[WARP, PROCESSOR, LANE]", "[WARP, WARP, LANE]", 'Levels lists "warp" twice [PB3392]'),
          ("LaneRegisters<Lanes, 128>", "LaneRegisters<Lanes, 0>", "VREG: Bytes is 0 [PB3200]"),
          ("LaneFma<VREG, Lanes, Latency>", "LaneFma<L1, Lanes, Latency>", "FFMA: operand 'a' is in 'L1' [PB3110]"),
          ("LaneFma<VREG, Lanes, Latency>", "LaneFma<VREG, 16, 4>", "FFMA: operand 'a' has 64 bytes, a register of VREG has 128 [PB3246]"),
          ("LaneFma<VREG, Lanes, Latency>", "LaneFma<VREG, Lanes, -4>", "FFMA: Latency is -4 [PB3241]"),
          ("LaneHalfFma<VREG, F16, Lanes, Latency>", "LaneHalfFma<VREG, F32, Lanes, Latency>", "HFMA: extf of f32 [PB3094]"),
          ('let Triple = "nvptx64-nvidia-cuda";', "", "nvgpu: field 'Triple' is not set [PB3010]"),
          ('LineCache<"core", !mul(16, 1024)', 'LineCache<"core", 0', "L1: Bytes is 0 [PB3200]"),
          ('LineCache<"core"', 'LineCache<"near"', "L1: field 'Scope' is \"near\" [PB3012]"),
          ("L1Rate, 30>;", "0, 30>;", "L1: BytesPerCycle is 0 [PB3205]"),
          ("L1Rate, 30>;", "L1Rate, 30> { let SectorBytes = 256; }", "L1: sectors of 256 bytes, of lines of 128 [PB3267]"),
          ("L1Rate, 30>;", "L1Rate, 30> { let LineBytes = 0; }", "L1: a cached memory has lines [PB3207]"),
          ('let Scope = "system"; let Bytes', 'let Scope = "chip"; let Bytes', 'no memory of scope "system" [PB3030]'),
          ('include "gpu.td"', 'include "pb.td"', "Couldn't find class 'GridLevel' [PB3001]"),
          ("LaneRegisters<Lanes, 128>;", "LaneRegisters<Lanes, 128> { let SameAtOnce = 0; }", "VREG: SameAtOnce is 0 [PB3274]"),
          ("LaneRegisters<Lanes, 128>;", "LaneRegisters<Lanes, 128> { let EachAtOnce = 0; }", "VREG: EachAtOnce is 0 [PB3274]"),
          ('"sm_89", "sm_90a"]', '"sm_89", "sm_80"]', 'Variants lists "sm_80" twice [PB3026]'),
          ("let Schema = PB_SCHEMA;", "let Schema = 99;", "written for schema 99 [PB3021]")]
# of sound ones whose code nobody can make
REFUSED = [("nvptx64-nvidia-cuda", "x86_64-pc-linux", "Triple \"x86_64-pc-linux\" is no instruction set of grids", "PB4211"),
           ("defvar Lanes = 32", "defvar Lanes = 64", "a warp of 64 lanes; sm_80 has 32 that exchange numbers", "PB4212"),
           ("llvm.nvvm.idp4a.s.s", "llvm.nvvm.idp4b", "llvm.nvvm.idp4b: LLVM has no such intrinsic", "PB4210"),
           ("llvm.nvvm.idp4a.s.s", "llvm.smax", "llvm.smax: it is an intrinsic of any type", "PB4210"),
           ("llvm.nvvm.idp4a.s.s", "llvm.nvvm.add.rn.d", "it takes other operands than a lane has", "PB4210"),
           ("llvm.nvvm.idp4a.s.s", "llvm.amdgcn.sdot4", "Cannot select: intrinsic %llvm.amdgcn.sdot4", "PB4210"),
           ('defvar Arch = "sm_80"', 'defvar Arch = "sm_8"', "sm_8: LLVM knows no such processor", "PB4210")]


class Descriptions(tools.Checks):
    def told(self, name, text, *command):
        path = self.folder / f"{name}.td"
        path.write_text(text)
        done = tools.call([os.path.join(self.bin, command[0]), *(word.replace("FILE", str(path)) for word in command[1:])])
        return done.returncode, done.stdout + done.stderr


def faults(d):
    for k, (old, new, words) in enumerate(FAULTS):
        assert old in WHOLE, old
        text = WHOLE.replace(old, new, 1)
        if "let Levels" in text and ": Chip" in new:
            text = text.replace("let Levels = [WARP, PROCESSOR, LANE];", "").replace("let Triple", "// let Triple")
            text = text.replace("let Processor = Arch;", "").replace("let ProductCycles = Cycles;", "").replace("let BlockBytes = !mul(48, 1024);", "")
        code, said = d.told(f"fault{k}", text, "pb-tdl", "check", "FILE")
        d.say(code == 1 and words in said and "hint:" in said, f"{new.strip()}: {said.splitlines()[0] if said else code}")


def refused(d):
    for k, (old, new, *words) in enumerate(REFUSED):
        assert old in WHOLE, old
        code, said = d.told(f"refused{k}", WHOLE.replace(old, new, 1), "pbc", MODEL, "--target=FILE", "-o", str(d.folder / "x.pbe"))
        d.say(code == 1 and all(word in said for word in words), f"{new}: {said.splitlines()[0] if said else code}")


def other_lanes(d):
    """Waves of 16 are a description alone."""
    code, said = d.told("sixteen", WHOLE.replace("defvar Lanes = 32", "defvar Lanes = 16"), "pbc", MODEL, "--target=FILE", "--emit=s4")
    d.say(code == 0 and "%lane = and i32" in said and "<16 x" not in said, "lanes of 16")


if __name__ == "__main__":
    sys.exit(tools.run_checks(Descriptions, faults, refused, other_lanes))
