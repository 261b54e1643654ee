// A native kernel that calls the OpenMP runtime, which its shared object does not bring along.
void omp_set_num_threads(int threads);
int omp_get_max_threads(void);

void scale(void** args, int threads) {
  float* y = args[2];
  omp_set_num_threads(threads);
  for (int k = 0; k < 16; ++k) y[k] = (float)omp_get_max_threads();
}
