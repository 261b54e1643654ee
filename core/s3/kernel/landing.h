// Where the chip's instructions leave results, before there are tiles: what the graph's passes need to know of them.
// Code of a core's counts as one instruction that computes anything and leaves it in registers.
#ifndef PB_S3_LANDING_H
#define PB_S3_LANDING_H

#include "core/poly/nest.h"
#include "core/select/memo.h"

// The memory in which an instruction, or the last of several, leaves the value of a nest whose accesses lie as `flat`
// says; -1: none computes it. The nest's `carried` access may be overwritten, -1: none.
int pb_flat_lands(pb_select_memo* memo, const pb_flat* flat, int carried);
// Whether one or more instructions compute the pointwise nest; *memory: where its result lands. Access `carried` lies
// in `from` already (-1: none does, PB_ANY_MEMORY: anywhere).
bool pb_point_lands(const pb_chip* chip, const pb_nest* nest, int carried, int from, int* memory);
// Whether they do without commands that do nothing but set constants.
bool pb_point_lands_alone(const pb_chip* chip, const pb_nest* nest);
// How many instructions compute the pointwise nest, each on what those before it left; 0: none do.
int pb_point_commands(const pb_chip* chip, const pb_nest* nest);
// Where the result of a reduction lands. `is_weight`: by access, those that are constant.
bool pb_sum_lands(const pb_chip* chip, const pb_nest* nest, const bool* is_weight, int* memory);
// Whether some instruction computes or combines what the nest does, whatever its strides.
bool pb_nest_known(const pb_chip* chip, const pb_nest* nest);

#endif
