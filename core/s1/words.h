// Between S1 and S2: integers of 64 bits as words of 32, for chips that have no others.
#ifndef PB_S1_WORDS_H
#define PB_S1_WORDS_H

#include "core/base/consts.h"
#include "core/s1/s1.h"

// Every value of i64 becomes one of i32, if by their ranges all that is computed of them comes out the same; else
// nothing changes. An input may be any number: it comes as the word nearest to it (is_wide), which compares with
// numbers between the extremes, chooses, clamps and names rows as it does itself. What would tell two such numbers apart,
// a sum or a conversion, takes an input up to a magnitude alone (most): the runtime refuses larger ones. Returns whether
// the program was changed.
bool pb_s1_words(pb_s1* program, pb_consts* consts);

#endif
