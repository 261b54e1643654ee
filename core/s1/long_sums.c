#include "core/s1/long_sums.h"

bool pb_s1_sums_behind(int rank, const int64_t* shape, const bool* gone, bool* behind) {
  enum { LANES = 16 };
  int64_t all = 1, inner = 1;
  if (rank < 2 || !gone[rank - 1] || shape[rank - 1] >= LANES) return false;
  for (int r = 0; r < rank; ++r)
    if (gone[r]) all *= shape[r];
  if (all < PB_S1_LONG_SUM) return false;
  for (int r = rank - 1; r >= 0; --r) {
    int64_t more = inner * shape[r];
    bool near = inner == 1 || more <= all / more; // not past the square root of all
    behind[r] = gone[r] && near && more < all;
    if (behind[r]) inner = more;
  }
  return inner > 1;
}
