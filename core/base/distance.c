#include "core/base/distance.h"

#include <string.h>

static int least(int a, int b) { return a < b ? a : b; }

int pb_edit_distance(const char* a, const char* b) {
  enum { MOST = 64 };
  int row[MOST + 1], n = least((int)strlen(b), MOST);
  for (int k = 0; k <= n; ++k) row[k] = k;
  for (int i = 1; a[i - 1]; ++i) {
    int corner = row[0];
    row[0] = i;
    for (int k = 1; k <= n; ++k) {
      int above = row[k];
      row[k] = least(least(row[k], row[k - 1]) + 1, corner + (a[i - 1] != b[k - 1]));
      corner = above;
    }
  }
  return row[n];
}
