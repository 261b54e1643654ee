// How far two words are from each other.
#ifndef PB_BASE_DISTANCE_H
#define PB_BASE_DISTANCE_H

// Levenshtein's distance: letters to be put in, taken out or changed. Of `b` the first 64 letters count.
int pb_edit_distance(const char* a, const char* b);

#endif
