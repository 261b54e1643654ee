// kernels.cu for AMD, without ROCm's headers: what it uses of CUDA, in clang's builtins. A warp is half a wave.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __noinline__ __attribute__((noinline))
#define INFINITY __builtin_inff()
#define fmaxf __builtin_fmaxf
#define expf __builtin_expf

struct place {
  int x;
};
#define threadIdx (place{(int)__builtin_amdgcn_workitem_id_x()})
#define blockIdx (place{(int)__builtin_amdgcn_workgroup_id_x()})
#define blockDim (place{(int)__builtin_amdgcn_workgroup_size_x()})
#define gridDim (place{(int)*(const unsigned __attribute__((address_space(4)))*)__builtin_amdgcn_implicitarg_ptr()})

static __device__ inline int lane() { return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0)); }
static __device__ inline int from_lane(int value, int other) { return __builtin_amdgcn_ds_bpermute(4 * other, value); }
static __device__ inline int __shfl_xor_sync(unsigned, int value, int k) { return from_lane(value, lane() ^ k); }
static __device__ inline float __shfl_xor_sync(unsigned, float value, int k) {
  return __builtin_bit_cast(float, from_lane(__builtin_bit_cast(int, value), lane() ^ k));
}
static __device__ inline int __shfl_up_sync(unsigned, int value, int k) { return from_lane(value, lane() - k); }
static __device__ inline void __syncthreads() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
static __device__ inline void atomicAdd(unsigned* at, unsigned by) {
  __hip_atomic_fetch_add(at, by, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}

#include "kernels.cu"
