// LLD as a function: its library has no C interface. It begins all processors that LLVM was built for, of which libpb
// has those that targets are of: the others' beginnings are nothing here.
#include <lld/Common/Driver.h>
#include <llvm/Plugins/PassPlugin.h>
#include <llvm/Support/raw_ostream.h>

#include <vector>

#define NOT_THERE(name)                                                                                                \
  void LLVMInitialize##name##TargetInfo() {}                                                                           \
  void LLVMInitialize##name##Target() {}                                                                               \
  void LLVMInitialize##name##TargetMC() {}                                                                             \
  void LLVMInitialize##name##AsmPrinter() {}                                                                           \
  void LLVMInitialize##name##AsmParser() {}
extern "C" {
NOT_THERE(AArch64)
NOT_THERE(ARM)
NOT_THERE(AVR)
NOT_THERE(BPF)
NOT_THERE(Hexagon)
NOT_THERE(Lanai)
NOT_THERE(LoongArch)
NOT_THERE(M68k)
NOT_THERE(MSP430)
NOT_THERE(Mips)
NOT_THERE(PowerPC)
NOT_THERE(RISCV)
NOT_THERE(SPIRV)
NOT_THERE(Sparc)
NOT_THERE(SystemZ)
NOT_THERE(VE)
NOT_THERE(WebAssembly)
NOT_THERE(XCore)
NOT_THERE(Xtensa)
}

// A plug-in of passes, which Debian's LLVM asks for by this name.
llvm::PassPluginLibraryInfo getPollyPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "none", "0", [](llvm::PassBuilder&) {}};
}

LLD_HAS_DRIVER(elf)

extern "C" int pb_lld_main(int argc, char** argv) {
  std::vector<const char*> arguments(argv, argv + argc);
  return lld::lldMain(arguments, llvm::outs(), llvm::errs(), {{lld::Gnu, &lld::elf::link}}).retCode;
}
