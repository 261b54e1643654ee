// Kernels that others' compilers turn into PTX; README.md says which and how.
extern "C" {

__global__ void saxpy(float* y, const float* x, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

// Sums of blocks, by shared memory and shuffles.
__global__ void reduce(float* out, const float* in, int n) {
  __shared__ float part[8];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = i < n ? in[i] : 0;
  for (int k = 16; k; k /= 2) v += __shfl_xor_sync(0xffffffff, v, k);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x == 0) {
    float sum = 0;
    for (int w = 0; w < blockDim.x / 32; ++w) sum += part[w];
    out[blockIdx.x] = sum;
  }
}

__global__ void transpose(float* out, const float* in, int rows, int columns) {
  __shared__ float tile[32][33];
  int x = blockIdx.x % (columns / 32) * 32, y = blockIdx.x / (columns / 32) * 32, tx = threadIdx.x % 32, ty = threadIdx.x / 32;
  for (int k = ty; k < 32; k += 8) tile[k][tx] = in[(y + k) * columns + x + tx];
  __syncthreads();
  for (int k = ty; k < 32; k += 8) out[(x + k) * rows + y + tx] = tile[tx][k];
}

// 16 x 16 tiles of a product, a thread each.
__global__ void matmul(float* c, const float* a, const float* b, int n) {
  __shared__ float as[16][16], bs[16][16];
  int tx = threadIdx.x % 16, ty = threadIdx.x / 16, across = n / 16;
  int row = blockIdx.x / across * 16 + ty, column = blockIdx.x % across * 16 + tx;
  float sum = 0;
  for (int k = 0; k < n; k += 16) {
    as[ty][tx] = a[row * n + k + tx];
    bs[ty][tx] = b[(k + ty) * n + column];
    __syncthreads();
    for (int j = 0; j < 16; ++j) sum += as[ty][j] * bs[j][tx];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

__global__ void softmax(float* y, const float* x, int n) {
  __shared__ float part[4];
  const float* row = x + blockIdx.x * n;
  float most = -INFINITY, sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) most = fmaxf(most, row[i]);
  for (int k = 16; k; k /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, k));
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = most;
  __syncthreads();
  for (int k = 0; k < 4; ++k) most = fmaxf(most, part[k]);
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += expf(row[i] - most);
  for (int k = 16; k; k /= 2) sum += __shfl_xor_sync(0xffffffff, sum, k);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
  __syncthreads();
  sum = part[0] + part[1] + part[2] + part[3];
  for (int i = threadIdx.x; i < n; i += blockDim.x) y[blockIdx.x * n + i] = expf(row[i] - most) / sum;
}

__global__ void histogram(unsigned* bins, const unsigned char* in, int n) {
  __shared__ unsigned own[256];
  own[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&own[in[i]], 1);
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

// Each thread goes its own number of steps (Collatz), and some of them by another way.
__global__ void diverge(int* out, const int* in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  long long v = in[i];
  int steps = 0;
  while (v != 1) {
    if (v & 1) {
      v = 3 * v + 1;
      if (steps > 500) break;
    } else {
      v >>= 1;
    }
    ++steps;
  }
  switch (in[i] % 5) {
  case 0: steps += 10; break;
  case 1: steps *= 3; break;
  case 2: steps -= 7; break;
  case 3: steps ^= 0x55; break;
  default: break;
  }
  out[i] = steps;
}

// A warp's inclusive sum by shuffles with a predicate, over bytes.
__global__ void scan(int* out, const signed char* in) {
  int lane = threadIdx.x, v = in[blockIdx.x * 32 + lane];
  for (int k = 1; k < 32; k *= 2) {
    int u = __shfl_up_sync(0xffffffff, v, k);
    if (lane >= k) v += u;
  }
  out[blockIdx.x * 32 + lane] = v;
}

__device__ __noinline__ float polynomial(float x, int degree) {
  float c[8], y = 0; // an array that needs local memory
  for (int k = 0; k < 8; ++k) c[k] = 1.0f / (k + 1);
  for (int k = degree; k >= 0; --k) y = y * x + c[k % 8];
  return y;
}
__global__ void called(float* y, const float* x, int n, int degree) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = polynomial(x[i], degree) + polynomial(-x[i], degree / 2);
}

__constant__ float taps[5] = {0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};
__global__ void convolve(float* y, const float* x, int n) {
  __shared__ float in[260];
  int base = blockIdx.x * 256, t = threadIdx.x;
  in[t] = base + t - 2 >= 0 && base + t - 2 < n ? x[base + t - 2] : 0;
  if (t < 4) in[256 + t] = base + 254 + t < n ? x[base + 254 + t] : 0;
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 5; ++k) sum += taps[k] * in[t + k];
  if (base + t < n) y[base + t] = sum;
}
}
