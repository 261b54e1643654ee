// TableGen's reader of descriptions as a function, for the one output that is read: its library has no C interface.
#include <llvm/Support/CommandLine.h>
#include <llvm/TableGen/Main.h>
#include <llvm/TableGen/Record.h>

static bool emit(llvm::raw_ostream& out, const llvm::RecordKeeper& records) {
  llvm::EmitJSON(records, out);
  return false;
}

extern "C" int pb_tblgen_main(int argc, char** argv) {
  static llvm::cl::opt<bool> json("dump-json", llvm::cl::desc("records as JSON, which is all that this one prints"));
  llvm::cl::ParseCommandLineOptions(argc, argv);
  return llvm::TableGenMain(argv[0], llvm::TableGenMainFn(emit));
}
