// A kernel that shares its work: every thread writes how many there are into its share.
void scale(void** args, long thread, long threads) {
  float* y = args[2];
  for (long k = 16 * thread / threads; k < 16 * (thread + 1) / threads; ++k) y[k] = (float)threads;
}
