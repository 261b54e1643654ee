// Elements at places that the model itself says: a few copies of boxes, so that no index is left to be read at run
// time.
#ifndef PB_S1_PLACES_H
#define PB_S1_PLACES_H

#include "core/s1/make.h"

// y's element i is x's element where x's dim r is at i[along[r]] (0 where that is -1) and table[r] more (NULL: 0).
// Tables are dense over those dims of y that are `walked`; all their places lie in x.
typedef struct pb_places {
  int x, y;
  int along[PB_NEST_RANK];
  const int64_t* table[PB_NEST_RANK];
  bool walked[PB_NEST_RANK];
} pb_places;

enum { PB_PLACES_MOST = 1 << 22 }; // places that are worth looking at

// Makes the copies. false: they would be too many to be worth it, and nothing was made.
bool pb_make_places(pb_maker* m, const pb_places* p);

#endif
