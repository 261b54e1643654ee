// One core of the four, with vector registers between SRAM and what adds.
#define ONE_CORE
#define VECTOR_UNIT
include "fourcore.td"
