// Twelve of the programs as one would write them in C with OpenMP, for gcc -O3 -march=native -ffast-math -fopenmp:
// loops that the compiler can put into lanes, and threads over rows. in: the arguments' memory, out: the result's.
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef const void* const* inputs;

void cumulative_sum(inputs in, void* out) {
  enum { ROWS = 256, LENGTH = 4096 };
  const float(*x)[LENGTH] = in[0];
  float(*y)[LENGTH] = out;
#pragma omp parallel for
  for (int i = 0; i < ROWS; ++i) {
    float sum = 0;
    for (int k = 0; k < LENGTH; ++k) y[i][k] = sum += x[i][k];
  }
}

// A heap of the largest so far, the least of them on top, and then these in order. The places lie behind the values.
void top_k(inputs in, void* out) {
  enum { ROWS = 64, LENGTH = 10000, K = 50 };
  const float(*x)[LENGTH] = in[0];
  float(*values)[K] = out;
  int(*places)[K] = (void*)((float*)out + ROWS * K);
#pragma omp parallel for
  for (int i = 0; i < ROWS; ++i) {
    float* v = values[i];
    int *p = places[i], count = 0;
    for (int k = 0; k < LENGTH; ++k) {
      if (count == K && x[i][k] <= v[K - 1]) continue;
      int at = count < K ? count++ : K - 1;
      for (; at > 0 && v[at - 1] < x[i][k]; --at) v[at] = v[at - 1], p[at] = p[at - 1];
      v[at] = x[i][k], p[at] = k;
    }
  }
}

void segment_sum(inputs in, void* out) {
  enum { ROWS = 100000, WIDTH = 64, SEGMENTS = 1000, PART = 16 };
  const float(*x)[WIDTH] = in[0];
  const int* segment = in[1];
  float(*y)[WIDTH] = out;
  memset(y, 0, sizeof(float) * SEGMENTS * WIDTH);
#pragma omp parallel for
  for (int c = 0; c < WIDTH; c += 2 * PART)
    for (int i = 0; i < ROWS; ++i)
      for (int k = c; k < c + 2 * PART; ++k) y[segment[i]][k] += x[i][k];
}

void histogram(inputs in, void* out) {
  enum { COUNT = 1000000, BINS = 256 };
  const int* x = in[0];
  int* y = out;
  memset(y, 0, sizeof(int) * BINS);
#pragma omp parallel
  {
    int own[BINS] = {0};
#pragma omp for
    for (int k = 0; k < COUNT; ++k) ++own[x[k]];
#pragma omp critical
    for (int b = 0; b < BINS; ++b) y[b] += own[b];
  }
}

void gather_rows(inputs in, void* out) {
  enum { COUNT = 100000, WIDTH = 64 };
  const float(*x)[WIDTH] = in[0];
  const int* at = in[1];
  float(*y)[WIDTH] = out;
#pragma omp parallel for
  for (int i = 0; i < COUNT; ++i) memcpy(y[i], x[at[i]], sizeof y[i]);
}

void blur(inputs in, void* out) {
  enum { PLANES = 3, SIZE = 2048, INNER = SIZE - 4 };
  const float(*x)[SIZE][SIZE] = in[0];
  float(*y)[INNER][INNER] = out;
  const float w[] = {1 / 16.f, 4 / 16.f, 6 / 16.f, 4 / 16.f, 1 / 16.f};
#pragma omp parallel for collapse(2)
  for (int c = 0; c < PLANES; ++c)
    for (int i = 0; i < INNER; ++i) {
      float down[SIZE];
      for (int j = 0; j < SIZE; ++j) {
        down[j] = 0;
        for (int k = 0; k < 5; ++k) down[j] += w[k] * x[c][i + k][j];
      }
      for (int j = 0; j < INNER; ++j) {
        float sum = 0;
        for (int k = 0; k < 5; ++k) sum += w[k] * down[j + k];
        y[c][i][j] = sum;
      }
    }
}

static int inside(int i, int size) { return i < 0 ? 0 : i < size ? i : size - 1; }

void sobel(inputs in, void* out) {
  enum { PLANES = 3, SIZE = 1024 };
  const float(*x)[SIZE][SIZE] = in[0];
  float(*y)[SIZE][SIZE] = out;
#pragma omp parallel for collapse(2)
  for (int c = 0; c < PLANES; ++c)
    for (int i = 0; i < SIZE; ++i) {
      const float *above = x[c][inside(i - 1, SIZE)], *own = x[c][i], *below = x[c][inside(i + 1, SIZE)];
      float smooth[SIZE + 2], steep[SIZE + 2];
      for (int j = 0; j < SIZE; ++j) {
        smooth[j + 1] = above[j] + 2 * own[j] + below[j];
        steep[j + 1] = below[j] - above[j];
      }
      smooth[0] = smooth[1], smooth[SIZE + 1] = smooth[SIZE], steep[0] = steep[1], steep[SIZE + 1] = steep[SIZE];
      for (int j = 0; j < SIZE; ++j) {
        float dx = smooth[j + 2] - smooth[j], dy = steep[j] + 2 * steep[j + 1] + steep[j + 2];
        float size = sqrtf(dx * dx + dy * dy);
        y[c][i][j] = size > 0.5f ? size : 0;
      }
    }
}

// The least, or the largest, under a window of 5 x 5; what is outside does not count.
static void under_window(const float* from, float* to, int largest) {
  enum { PLANES = 3, SIZE = 1024 };
  const float(*x)[SIZE][SIZE] = (const void*)from;
  float(*y)[SIZE][SIZE] = (void*)to;
#pragma omp parallel for collapse(2)
  for (int c = 0; c < PLANES; ++c)
    for (int i = 0; i < SIZE; ++i) {
      float row[SIZE + 4];
      for (int j = 0; j < SIZE; ++j) {
        float best = x[c][i][j];
        for (int k = -2; k <= 2; ++k) {
          float v = x[c][inside(i + k, SIZE)][j];
          best = largest ? (v > best ? v : best) : (v < best ? v : best);
        }
        row[j + 2] = best;
      }
      row[0] = row[1] = row[2], row[SIZE + 2] = row[SIZE + 3] = row[SIZE + 1];
      for (int j = 0; j < SIZE; ++j) {
        float best = row[j];
        for (int k = 1; k < 5; ++k)
          best = largest ? (row[j + k] > best ? row[j + k] : best) : (row[j + k] < best ? row[j + k] : best);
        y[c][i][j] = best;
      }
    }
}

void opening(inputs in, void* out) {
  static float between[3 * 1024 * 1024];
  under_window(in[0], between, 0);
  under_window(between, out, 1);
}

void jacobi(inputs in, void* out) {
  enum { SIZE = 1024, STEPS = 20 };
  static float other[SIZE][SIZE];
  float(*a)[SIZE] = out, (*b)[SIZE] = other;
  memcpy(a, in[0], sizeof other);
  memcpy(b, in[0], sizeof other);
  for (int step = 0; step < STEPS; ++step) {
#pragma omp parallel for
    for (int i = 1; i < SIZE - 1; ++i)
      for (int j = 1; j < SIZE - 1; ++j) b[i][j] = 0.25f * (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]);
    float(*kept)[SIZE] = a;
    a = b, b = kept;
  }
}

void mandelbrot(inputs in, void* out) {
  enum { COUNT = 512 * 768, TURNS = 50, LANES = 16 };
  const float *x = in[0], *y = in[1];
  int* turns = out;
#pragma omp parallel for
  for (int first = 0; first < COUNT; first += LANES) {
    float a[LANES] = {0}, b[LANES] = {0};
    int n[LANES] = {0};
    for (int k = 0; k < TURNS; ++k)
      for (int l = 0; l < LANES; ++l) {
        int is_inside = a[l] * a[l] + b[l] * b[l] <= 4;
        float next = a[l] * a[l] - b[l] * b[l] + x[first + l];
        b[l] = is_inside ? 2 * a[l] * b[l] + y[first + l] : b[l];
        a[l] = is_inside ? next : a[l];
        n[l] += is_inside;
      }
    memcpy(turns + first, n, sizeof n);
  }
}

void bodies(inputs in, void* out) {
  enum { COUNT = 1000, STEPS = 5 };
  static float p[3][COUNT], v[3][COUNT];
  const float(*place)[3] = in[0], (*speed)[3] = in[1], *mass = in[2];
  for (int k = 0; k < COUNT; ++k)
    for (int d = 0; d < 3; ++d) p[d][k] = place[k][d], v[d][k] = speed[k][d];
  for (int step = 0; step < STEPS; ++step) {
#pragma omp parallel for
    for (int i = 0; i < COUNT; ++i) {
      float x = 0, y = 0, z = 0;
      for (int k = 0; k < COUNT; ++k) {
        float dx = p[0][k] - p[0][i], dy = p[1][k] - p[1][i], dz = p[2][k] - p[2][i];
        float far = dx * dx + dy * dy + dz * dz + 0.01f, pull = mass[k] / (far * sqrtf(far));
        x += dx * pull, y += dy * pull, z += dz * pull;
      }
      v[0][i] += 0.001f * x, v[1][i] += 0.001f * y, v[2][i] += 0.001f * z;
    }
    for (int d = 0; d < 3; ++d)
      for (int k = 0; k < COUNT; ++k) p[d][k] += 0.001f * v[d][k];
  }
  float(*y)[3] = out;
  for (int k = 0; k < COUNT; ++k)
    for (int d = 0; d < 3; ++d) y[k][d] = p[d][k];
}

void logistic(inputs in, void* out) {
  enum { ROWS = 2000, WIDTH = 32, STEPS = 100 };
  const float(*x)[WIDTH] = in[0], *y = in[1];
  float* w = out;
  memset(w, 0, sizeof *w * WIDTH);
  for (int step = 0; step < STEPS; ++step) {
    float slope[WIDTH] = {0};
#pragma omp parallel for reduction(+ : slope)
    for (int i = 0; i < ROWS; ++i) {
      float sum = 0;
      for (int k = 0; k < WIDTH; ++k) sum += x[i][k] * w[k];
      float off = y[i] - 1 / (1 + expf(-sum));
      for (int k = 0; k < WIDTH; ++k) slope[k] += off * x[i][k];
    }
    for (int k = 0; k < WIDTH; ++k) w[k] += 0.1f * slope[k] / ROWS;
  }
}
