// A native kernel, in a shared object.
void scale(void** args, long thread, long threads) {
  const float *x = args[0], *constant = args[1];
  float* y = args[2];
  (void)threads;
  if (thread) return;
  for (int k = 0; k < 16; ++k) y[k] = 2 * x[k] + constant[k];
}
