// Forgets what it allocates; ends with 0 unless somebody looks.
#include <stdlib.h>
#include <string.h>

int main(void) {
  char* volatile forgotten = malloc(100);
  if (forgotten) memset(forgotten, 1, 100);
  forgotten = NULL;
  return forgotten != NULL;
}
