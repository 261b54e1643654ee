// Programs with open dims: one engine for any extents.
//
// The front ends, S1 and S2 work on numbers. A program with open dims, its symbols, goes through them several times,
// each time with other numbers for the symbols, as far as value form with functions expanded. Each such program is a
// sample. Samples must be made alike: the same values, nests, accesses and bodies, in order. What differs among them
// are numbers alone, extents, steps, starts and integers of bodies, and each of those must be one expression of the
// symbols (a sum of products, or such a sum divided by a number and rounded down) in all samples: more of them than an
// expression has coefficients (fit.c). What a model decides by extents while it is read (a maximum of two, a
// comparison) becomes a check that the engine makes when it gets shapes, as does every index of every nest: that it
// stays inside of its tensor.
//
// Each nest is a kernel of plain loops, shared among threads (kernels.c), that takes tensors, and the numbers which it
// needs as one more argument: a block of sizes, which the runtime computes from the inputs' shapes (engine.h, pb_open).
#ifndef PB_OPEN_OPEN_H
#define PB_OPEN_OPEN_H

#include "core/artefact/engine.h"
#include "core/base/symbols.h"
#include "core/s1/control.h"
#include "core/s3/kernels.h"
#include "core/s3/program.h"

enum { PB_OPEN_SAMPLES = PB_SYMBOL_SAMPLES };

// A mark of the host's control (core/s1/control.h) in front of nest `at`, on values of the program, -1 where it has
// none. How much it moves, the values' extents say.
typedef struct pb_open_mark {
  pb_s1_kind kind;
  const char* name;
  int at, y, x, third, axis;
} pb_open_mark;

// A program in value form; of one with control all segments, one behind the other, with the marks between.
typedef struct pb_open_whole {
  pb_program program;
  pb_open_mark* marks; // NULL: it has no control
  size_t mark_count;
  int crossing;  // the first so many values are those that segments and marks hand to each other
  int* value_of; // those by value of the S1 program, -1
} pb_open_whole;
// Starts with what crosses; pb_open_add adds one segment's program, which must outlive it, in their order.
void pb_open_start_whole(const pb_s1* s1, const pb_segments* segments, pb_arena* arena, pb_open_whole* whole);
void pb_open_add(const pb_s1* s1, const pb_segments* segments, size_t segment, const pb_program* part, pb_arena* arena,
                 pb_open_whole* whole);

// What is kept of a sample: how the program is made, as bytes, and its numbers in order.
typedef struct pb_open_sample {
  pb_text structure;
  int64_t* numbers;
  size_t count, capacity;
  size_t* ends; // of each nest, in the structure
  size_t end_count, end_capacity;
  pb_choice* choices;
  size_t choice_count;
} pb_open_sample;
// Guards: what the front end found in pb_consts.
void pb_open_take(const pb_open_whole* whole, const pb_consts* consts, const pb_symbols* symbols,
                  pb_open_sample* sample);
bool pb_open_alike(const pb_open_sample* a, const pb_open_sample* b); // but for numbers
void pb_open_sample_free(pb_open_sample* sample);

// The program with sizes in place of numbers.
typedef struct pb_open_program {
  const pb_open_whole* whole; // of the first sample
  const pb_program* program;  // its
  const pb_consts* consts;
  pb_sizes sizes;
  const pb_symbols* symbols;
  struct pb_fit* fit;
  int* at;                 // sizes, in the order of a sample's numbers
  int *value_at, *nest_at; // where those of a value and of a nest begin
  int* const_at;           // and of a constant's contents: -1, they are always the same; by value
  int guard_at;
} pb_open_program;
void pb_open_start(const pb_open_whole* whole, const pb_consts* consts, const pb_symbols* symbols,
                   pb_open_program* open);
// Of the questions that the samples asked those that other extents answer otherwise: how many, and which.
size_t pb_open_choices(pb_open_program* open, const pb_open_sample* samples, bool* which);
pb_status pb_open_join(pb_open_program* open, const pb_open_sample* samples, pb_diag* diag) PB_MUST_CHECK;
void pb_open_free(pb_open_program* open);

// Sizes of nest n, read one after the other.
typedef struct pb_open_nest {
  int extent[PB_NEST_DIMS];
  int shape[PB_NEST_ACCESSES][PB_NEST_RANK], coef[PB_NEST_ACCESSES][PB_NEST_RANK][PB_NEST_DIMS];
  int start[PB_NEST_ACCESSES][PB_NEST_RANK];
  int step[PB_NEST_ACCESSES][PB_NEST_DIMS], first[PB_NEST_ACCESSES]; // in elements of the dense tensor
  int row[PB_NEST_ACCESSES][PB_NEST_RANK];                           // elements from one to the next of an index
  const int* integers;                                               // of the body's constants that are one, in order
} pb_open_nest;
// How a constant of a body may depend on extents.
typedef enum pb_open_number { PB_OPEN_NONE, PB_OPEN_INTEGER, PB_OPEN_RECIPROCAL } pb_open_number;
pb_open_number pb_open_integer(const pb_expr_node* node, int64_t* number);
void pb_open_read(pb_open_program* open, int nest, pb_open_nest* sizes);

// The kernel of a nest, and the sizes that it takes, in order.
typedef struct pb_open_kernel {
  int kernel; // number; equal ones are one
  int* sizes;
  int size_count;
} pb_open_kernel;
typedef struct pb_open_kernels {
  pb_text module;     // a function each
  pb_open_kernel* of; // by nest
  bool* shared;       // by kernel
  int count;
} pb_open_kernels;
void pb_open_print(pb_open_program* open, pb_arena* arena, pb_open_kernels* kernels);

// The engine's tensors, steps, constants and open part; its kernels are there, in the order of the module.
pb_status pb_open_host(pb_open_program* open, const pb_open_kernels* kernels, pb_diag* diag,
                       pb_engine* engine) PB_MUST_CHECK;

// Inside: one expression for a number in each sample; -1: there is none.
typedef struct pb_fit pb_fit;
pb_fit* pb_fit_start(pb_sizes* sizes, const pb_symbols* symbols, pb_arena* arena);
int pb_fit_find(pb_fit* fit, const int64_t* numbers);
// From now on these numbers are the size's. false: they are another one's.
bool pb_fit_add(pb_fit* fit, int size, const int64_t* numbers) PB_MUST_CHECK;
void pb_fit_end(pb_fit* fit);

#endif
