// What passes between the parts, and sizes that follow from the description.
package simnpu_types;
  import simnpu_pkg::*;

  localparam int D = SPAD_ROW_BYTES;  // lanes, rows and columns of the array
  localparam int CHUNK = DRAM_ROW_BYTES;  // movers move aligned chunks of this many bytes
  localparam int SPAD_ROW_W = $clog2(SPAD_ROWS);
  localparam int ACC_ROW_W = $clog2(ACC_ROWS);
  localparam int BANK_W = $clog2(WREG_BANKS);
  localparam int WORD_ROW = 32 * D;  // bits of a row of words
  localparam int BYTE_ROW = 8 * D;  // bits of a row of codes
  localparam int COMMAND_BITS = 8 * COMMAND_BYTES;
  localparam int LOAD_BUFFER = LDS0_BUFFER / CHUNK;  // chunks: more than the latency of DRAM in cycles, so that a mover fills it
  localparam int STORE_BUFFER = STS_BUFFER / CHUNK;

  localparam int WREG_ROW_W = $clog2(WREG_BANKS * D);  // [bank, row]
  // Windows of channels: lines that are read at once, taps of one, and all of them: no more than a column has cells.
  localparam int LINES = MMC3_R_MAX > MMC5_R_MAX ? MMC3_R_MAX : MMC5_R_MAX;
  localparam int TAPS = MMC5_T_MAX;
  localparam int ALL_TAPS = MMC3_R_MAX * MMC3_T_MAX > MMC5_R_MAX * MMC5_T_MAX ? MMC3_R_MAX * MMC3_T_MAX : MMC5_R_MAX * MMC5_T_MAX;

  typedef logic [COMMAND_BITS-1:0] command_t;
  typedef logic [QUEUES-1:0] queues_t;  // one bit a queue: tokens to wait for, or to hand out
  typedef logic [31:0] address_t;  // bytes

  // A move in bytes: ni * nj runs of len bytes. Runs outside the box are filled, not read; of the others the first `skip`
  // bytes are, and those behind the next `valid`. src is where the bytes that are read begin.
  typedef struct packed {
    address_t src;
    logic [23:0] si, sj;
    logic src_acc;  // of ACC and SPAD; means nothing on the side of DRAM
    address_t dst;
    logic [23:0] di, dj;
    logic dst_acc;
    logic [11:0] ni, nj;
    logic [13:0] len, skip, valid;
    logic [11:0] ilo, ihi, jlo, jhi;
    logic [7:0] fill;
    queues_t signals;
  } move_t;

endpackage
