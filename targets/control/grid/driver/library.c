#include "targets/control/grid/driver/library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Each name is that of one interface, which stays: the plain ones, cuMemAlloc without _v2, are those of 32-bit
// addresses, and what a header calls so is another.
const pb_gpu_library pb_gpu_cuda = {
    .name = "cuda",
    .variable = "PB_CUDA_LIBRARY",
    .file = "libcuda.so.1",
    .functions = {"cuInit",
                  "cuDriverGetVersion",
                  "cuDeviceGet",
                  "cuDeviceGetName",
                  "cuDeviceGetAttribute",
                  "cuDevicePrimaryCtxRetain",
                  "cuCtxSetCurrent",
                  "cuDevicePrimaryCtxRelease_v2",
                  "cuMemGetInfo_v2",
                  "cuMemAlloc_v2",
                  "cuMemFree_v2",
                  "cuMemAllocAsync",
                  "cuMemFreeAsync",
                  "cuMemHostAlloc",
                  "cuMemFreeHost",
                  "cuPointerGetAttribute",
                  "cuMemcpyHtoDAsync_v2",
                  "cuMemcpyDtoHAsync_v2",
                  "cuMemcpyDtoDAsync_v2",
                  "cuModuleLoadData",
                  "cuModuleUnload",
                  "cuModuleGetFunction",
                  "cuLaunchKernel",
                  "cuStreamCreate",
                  "cuStreamDestroy_v2",
                  "cuStreamSynchronize",
                  "cuStreamWaitEvent",
                  "cuEventCreate",
                  "cuEventDestroy_v2",
                  "cuEventRecord",
                  "cuEventSynchronize",
                  "cuEventElapsedTime",
                  "cuStreamIsCapturing",
                  "cuStreamBeginCapture_v2",
                  "cuStreamEndCapture",
                  "cuGraphInstantiateWithFlags",
                  "cuGraphLaunch",
                  "cuGraphExecDestroy",
                  "cuGraphDestroy",
                  "cuGetErrorName",
                  "cuGetErrorString"},
    .takes = {[PB_DEVICE_PTX] = true, [PB_DEVICE_CUBIN] = true},
    .ranges_variable = "PB_CUDA_RANGES",
    .ranges = "libnvToolsExt.so.1",
    .push = "nvtxRangePushA",
    .pop = "nvtxRangePop",
};

const pb_gpu_library pb_gpu_hip = {
    .name = "hip",
    .variable = "PB_HIP_LIBRARY",
    .file = "libamdhip64.so",
    .functions = {"hipInit",
                  "hipDriverGetVersion",
                  "hipDeviceGet",
                  "hipDeviceGetName",
                  "hipDeviceGetAttribute",
                  "hipDevicePrimaryCtxRetain",
                  "hipCtxSetCurrent",
                  "hipDevicePrimaryCtxRelease",
                  "hipMemGetInfo",
                  "hipMalloc",
                  "hipFree",
                  "hipMallocAsync",
                  "hipFreeAsync",
                  "hipHostMalloc",
                  "hipHostFree",
                  "hipPointerGetAttribute",
                  "hipMemcpyHtoDAsync",
                  "hipMemcpyDtoHAsync",
                  "hipMemcpyDtoDAsync",
                  "hipModuleLoadData",
                  "hipModuleUnload",
                  "hipModuleGetFunction",
                  "hipModuleLaunchKernel",
                  "hipStreamCreateWithFlags",
                  "hipStreamDestroy",
                  "hipStreamSynchronize",
                  "hipStreamWaitEvent",
                  "hipEventCreateWithFlags",
                  "hipEventDestroy",
                  "hipEventRecord",
                  "hipEventSynchronize",
                  "hipEventElapsedTime",
                  "hipStreamIsCapturing",
                  "hipStreamBeginCapture",
                  "hipStreamEndCapture",
                  "hipGraphInstantiateWithFlags",
                  "hipGraphLaunch",
                  "hipGraphExecDestroy",
                  "hipGraphDestroy",
                  "hipDrvGetErrorName",
                  "hipDrvGetErrorString"},
    .takes = {[PB_DEVICE_HSACO] = true},
    .ranges_variable = "PB_HIP_RANGES",
    .ranges = "libroctx64.so",
    .push = "roctxRangePushA",
    .pop = "roctxRangePop",
};

static bool find_functions(const pb_gpu_library* of, void* file, pb_gpu_calls* calls, char* why) {
  void** to = (void**)calls;
  for (int k = 0; k < PB_GPU_CALLS; ++k) {
    to[k] = *of->functions[k] ? dlsym(file, of->functions[k]) : NULL;
    if (to[k] || k >= PB_GPU_CALLS - PB_GPU_OPTIONAL) continue;
    snprintf(why, PB_GPU_WHY, "%s has no %s: it is older than this interface", of->file, of->functions[k]);
    return false;
  }
  return true;
}

bool pb_gpu_open(const pb_gpu_library* of, void** opened, pb_gpu_calls* calls, char* why) {
  const char *named = getenv(of->variable), *file = named && *named ? named : of->file;
  *opened = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (*opened) return find_functions(of, *opened, calls, why);
  snprintf(why, PB_GPU_WHY, "no driver: %s was looked for%s and is not there (%s); %s names another file", file,
           strchr(file, '/') ? "" : " in LD_LIBRARY_PATH and in the system's folders", dlerror(), of->variable);
  return false;
}

void pb_gpu_open_ranges(const pb_gpu_library* of, pb_gpu_ranges* r) {
  const char* named = getenv(of->ranges_variable);
  r->file = dlopen(named && *named ? named : of->ranges, RTLD_NOW | RTLD_LOCAL);
  if (!r->file) return;
  void *push = dlsym(r->file, of->push), *pop = dlsym(r->file, of->pop);
  if (!push || !pop) return;
  memcpy(&r->push, &push, sizeof push); // ISO C has no cast from object to function
  memcpy(&r->pop, &pop, sizeof pop);
}

void pb_gpu_say(const pb_gpu_library* of, const pb_gpu_calls* calls, const char* what, int code, char* why) {
  const char *name = NULL, *text = NULL;
  bool named = calls->error_name && !calls->error_name(code, &name) && name;
  bool said = calls->error_text && !calls->error_text(code, &text) && text;
  snprintf(why, PB_GPU_WHY, "%s: %s%serror %d of %s%s%s", what, named ? name : "", named ? ", " : "", code, of->file,
           said ? ": " : "", said ? text : "");
}
