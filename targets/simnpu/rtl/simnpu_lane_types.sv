// What a command of the vector unit comes to once decoded.
package simnpu_lane_types;
  import simnpu_pkg::*;
  import simnpu_types::*;

  localparam int ROW_W = SPAD_ROW_W > ACC_ROW_W ? SPAD_ROW_W : ACC_ROW_W;
  typedef logic [ROW_W-1:0] row_t;

  // Rows asked for and not yet written: those in a stream's buffer and in the lanes, with some to spare.
  localparam int UNDER_WAY = 24;

  // A table is as many rows of the accumulator. One is read while another one's command waits and a third one's runs.
  localparam int TABLE = 256;
  localparam int TABLE_ROWS = TABLE / D;
  localparam int TABLES = 3;

  typedef enum logic [4:0] {
    REQUANTISE,
    ADD_CODES,
    QUANTISE,
    MAX_CODES,
    SUM_CODES,
    DEQUANTISE,
    CONVERT,
    ADD,
    SUB,
    MUL,
    MAX,
    MOST,
    MIN,
    FUNCTION,
    ROW_SUM,
    ROW_MAX,
    DIV,
    SQRT,
    LOOK_UP,
    LOOK_UP_QUANTISE,
    ROW_SUM_CODES,
    ROW_SQUARES,
    ROW_LOOK_UP,
    ROW_MAX_CODES,
    BELOW,
    LESS_MEAN,
    NORMALISE,
    EACH
  } lane_op_t;

  // What EACH computes, lane by lane: of integers, of f32 (F), of what there is.
  typedef enum logic [4:0] {
    E_ADD,
    E_SUB,
    E_MUL,
    E_MAX,
    E_MIN,
    E_AND,
    E_OR,
    E_XOR,
    E_SHL,
    E_SHR,
    E_SHRU,
    E_MAXF,
    E_MINF,
    E_EQ,
    E_LT,
    E_LE,
    E_LTU,
    E_EQF,
    E_LTF,
    E_LEF,
    E_SELECT,
    E_NEGF,
    E_ABSF,
    E_FLOORF,
    E_CEILF,
    E_ROUNDF,
    E_WHOLEF,
    E_SAME,
    E_FLOAT,
    E_SET
  } each_t;

  // Rows row + i * i_step + j * j_step of one of the two memories.
  typedef struct packed {
    logic used, acc;
    row_t row, i_step, j_step;
  } window_t;

  // What the lanes need with every row.
  typedef struct packed {
    lane_op_t op;
    each_t each;
    logic [1:0] bytes;  // EACH: of which of the first two operands rows are bytes
    logic [31:0] number;  // EACH: what it sets
    logic [1:0] which;  // function, or which of the tables
    logic onto;  // of f32, onto what the result holds
    logic keep;  // the command's acc flag
    logic [5:0] count;  // lanes that a row has for the one number made of it
    logic [7:0] zp, lo, hi, za, zb;
    logic to_acc;
    logic first, last;  // of the command
    row_t row;  // to be written
    queues_t signals;
  } lane_tag_t;

  typedef struct packed {
    lane_tag_t tag;
    window_t [2:0] s;  // the third: truths of a choice, from the scratchpad alone
    row_t [2:0] s_last;
    logic s_long;  // the second operand has no row twice and more rows than can be under way
    window_t y;
    row_t y_last;
    logic [11:0] ni, nj;
    logic [1:0] par_used;
    logic [1:0][ACC_ROW_W-1:0] par_row;
    logic tabled;  // it looks codes up in a table
    logic [ACC_ROW_W-1:0] table_row;
  } job_t;
endpackage
