// How nests that share a tensor go together. Accesses through a tensor that a nest makes element by element: what reads
// the tensor can read what the nest reads.
#ifndef PB_S3_COMPOSE_H
#define PB_S3_COMPOSE_H

#include "core/s3/program.h"

// Whether the nest copies elements of one tensor from where they are, through no box and at no computed index.
bool pb_copies_elements(const pb_nest* nest);

// Whether each index is one dim of its own over the whole extent. *dim_of: by index, -1 where the extent is 1.
bool pb_walks_all(const pb_nest* nest, const pb_access* access, int* dim_of);
// Whether the nest walks the access's tensor element by element so, and every dim of it is one of these.
bool pb_walks_elements(const pb_nest* nest, const pb_access* access, int* dim_of);

// The access `inner` of nest `maker` at the element of the maker's tensor at which `outer` stands in another nest.
// `dim_of`: from pb_walks_elements, of the maker's access to that tensor. The place in memory is the caller's to set.
pb_access pb_access_compose(const pb_access* outer, const int* dim_of, const pb_access* inner);

// Where the elements lie that access a of nest n reads, if one copy in front of n makes all of what it reads: *source,
// and the nest that copies. -1: there is none, or the access reads otherwise than element by element.
int pb_program_source(const pb_program* program, int n, int a, pb_access* source);
// The access reads them there, from what nest `copy` copies.
void pb_program_read_source(pb_program* program, pb_arena* arena, int n, int a, int copy, const pb_access* source);
// Copies of elements into locals that nothing reads, but for copies that go themselves, are gone. Returns whether any
// is.
bool pb_program_drop_copies(pb_program* program);
// So are nests that make what no nest reads that is not gone, once passes have read round it.
void pb_program_drop_unread(pb_program* program);

// A matrix that the nest walks, each dim d along its index index_of[d] (-1: none), of which the last goes by elements.
pb_access pb_access_of_matrix(const pb_nest* nest, pb_type type, const int* index_of);

// The index that the nest's dim walks and the access's box tests; -1: there is none.
int pb_tested_index(const pb_nest* nest, const pb_access* access, int dim);
// Whether the nest may reach past a tensor's end, outside of any box, as where lanes are filled up.
bool pb_leaves_tensors(const pb_nest* nest);

// Whether two accesses go to the same indices, of as many; and those of tensors of the same shape.
bool pb_same_indices(const pb_access* a, const pb_access* b);
bool pb_same_walk(const pb_access* a, const pb_access* b);
// Whether both accesses of the nest walk their tensors, of several dims each, by the same places in memory.
bool pb_same_places(const pb_nest* nest, const pb_access* a, const pb_access* b);
// Whether a pointwise nest reads what layout knows to bring into the lanes of `store`: channels of an image, one number
// for each row.
bool pb_repeats_along(const pb_access* read, const pb_access* store);

// The one nest that stores the value, if it is a local one that nothing else writes; -1: there is none.
int pb_program_only_writer(const pb_program* program, int value);
// The one nest that loads the value; -1: none or several do.
int pb_program_only_reader(const pb_program* program, int value);
// The one nest that sets what nest n, a reduction, combines with, before anybody reads it; -1: it is otherwise.
int pb_program_init_of(const pb_program* program, int n);
// Whether some nest reduces into the value.
bool pb_program_is_reduced(const pb_program* program, int value);

// Whether the two nests' stores into one tensor never meet, told from one dim: they lie apart there, or have different
// remainders, as the columns of a tensor that two nests make in turn.
bool pb_stores_apart(const pb_nest* a, const pb_nest* b);

#endif
