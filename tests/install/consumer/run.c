// run ENGINE.pbe: runs it once on the machine, on zeros.
#include <pb/pb.h>

#include <stdio.h>
#include <stdlib.h>

static int fail(void) {
  fprintf(stderr, "%s\n", pb_rt_error());
  return 1;
}

int main(int argc, char** argv) {
  pb_rt* rt;
  if (argc != 2) return 2;
  pb_rt_add_machine();
  if (pb_rt_load(argv[1], 0, &rt) || pb_rt_set_device(rt, "machine", NULL)) return fail();
  void* input = calloc(1, pb_rt_input(rt, 0)->bytes);
  float* output = calloc(1, pb_rt_output(rt, 0)->bytes);
  const void* inputs[] = {input};
  void* outputs[] = {output};
  if (pb_rt_run(rt, inputs, outputs)) return fail();
  printf("%s: %s[0] is %g\n", pb_rt_target(rt), pb_rt_output(rt, 0)->name, (double)output[0]);
  pb_rt_free(rt);
  free(input);
  free(output);
  return 0;
}
