// The driver's library of a GPU: the one table of its functions, and what it says of errors.
#ifndef PB_GRID_DRIVER_LIBRARY_H
#define PB_GRID_DRIVER_LIBRARY_H

#include "pb/device.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PB_GPU_WHY = 768, PB_GPU_FORMS = 3 };

typedef void* pb_gpu_handle;
typedef int pb_gpu_status; // 0: it went well

// The numbers that are asked for and answered with, which both libraries have alike.
enum {
  PB_GPU_OUT_OF_MEMORY = 2,
  PB_GPU_NOT_SUPPORTED = 801,
  PB_GPU_RANGE_START = 11, // of a pointer
  PB_GPU_RANGE_SIZE = 12,
  PB_GPU_NON_BLOCKING = 1, // a stream that does not wait for the default one
  PB_GPU_RELAXED = 2       // a capture that forbids nothing to other threads
};

// What both libraries have, by their own names; addresses of a device are as wide as pointers.
typedef struct pb_gpu_calls {
  pb_gpu_status (*init)(unsigned flags);
  pb_gpu_status (*driver_version)(int* version);
  pb_gpu_status (*get_device)(int* device, int number);
  pb_gpu_status (*device_name)(char* name, int length, int device);
  pb_gpu_status (*attribute)(int* value, int which, int device);
  pb_gpu_status (*retain)(pb_gpu_handle* context, int device);
  pb_gpu_status (*set_current)(pb_gpu_handle context);
  pb_gpu_status (*release)(int device);
  pb_gpu_status (*free_memory)(size_t* free, size_t* all);
  pb_gpu_status (*allocate)(uint64_t* address, size_t bytes);
  pb_gpu_status (*free)(uint64_t address);
  pb_gpu_status (*pool_allocate)(uint64_t* address, size_t bytes, pb_gpu_handle stream);
  pb_gpu_status (*pool_free)(uint64_t address, pb_gpu_handle stream);
  pb_gpu_status (*allocate_host)(void** data, size_t bytes, unsigned flags);
  pb_gpu_status (*free_host)(void* data);
  pb_gpu_status (*pointer)(void* value, int which, uint64_t address);
  pb_gpu_status (*copy_in)(uint64_t to, const void* from, size_t bytes, pb_gpu_handle stream);
  pb_gpu_status (*copy_out)(void* to, uint64_t from, size_t bytes, pb_gpu_handle stream);
  pb_gpu_status (*copy)(uint64_t to, uint64_t from, size_t bytes, pb_gpu_handle stream);
  pb_gpu_status (*load)(pb_gpu_handle* module, const void* image);
  pb_gpu_status (*unload)(pb_gpu_handle module);
  pb_gpu_status (*find)(pb_gpu_handle* function, pb_gpu_handle module, const char* name);
  pb_gpu_status (*launch)(pb_gpu_handle function, unsigned bx, unsigned by, unsigned bz, unsigned tx, unsigned ty,
                          unsigned tz, unsigned shared, pb_gpu_handle stream, void** parameters, void** extra);
  pb_gpu_status (*open_stream)(pb_gpu_handle* stream, unsigned flags);
  pb_gpu_status (*close_stream)(pb_gpu_handle stream);
  pb_gpu_status (*wait)(pb_gpu_handle stream);
  pb_gpu_status (*wait_event)(pb_gpu_handle stream, pb_gpu_handle event, unsigned flags);
  pb_gpu_status (*open_event)(pb_gpu_handle* event, unsigned flags);
  pb_gpu_status (*close_event)(pb_gpu_handle event);
  pb_gpu_status (*record)(pb_gpu_handle event, pb_gpu_handle stream);
  pb_gpu_status (*wait_for_event)(pb_gpu_handle event);
  pb_gpu_status (*elapsed)(float* milliseconds, pb_gpu_handle first, pb_gpu_handle last);
  pb_gpu_status (*is_capturing)(pb_gpu_handle stream, int* is);
  pb_gpu_status (*begin_capture)(pb_gpu_handle stream, int mode);
  pb_gpu_status (*end_capture)(pb_gpu_handle stream, pb_gpu_handle* graph);
  pb_gpu_status (*instantiate)(pb_gpu_handle* made, pb_gpu_handle graph, unsigned long long flags);
  pb_gpu_status (*run_graph)(pb_gpu_handle made, pb_gpu_handle stream);
  pb_gpu_status (*close_made)(pb_gpu_handle made);
  pb_gpu_status (*close_graph)(pb_gpu_handle graph);
  // These a library may lack.
  pb_gpu_status (*error_name)(int code, const char** text);
  pb_gpu_status (*error_text)(int code, const char** text);
} pb_gpu_calls;
enum { PB_GPU_CALLS = sizeof(pb_gpu_calls) / sizeof(void*), PB_GPU_OPTIONAL = 2 };

typedef struct pb_gpu_library {
  const char *name, *variable, *file;
  const char* functions[PB_GPU_CALLS]; // in the order of pb_gpu_calls
  bool takes[PB_GPU_FORMS];            // by pb_device_code
  // Ranges that profilers draw: the variable that names the library, its file, and its functions.
  const char *ranges_variable, *ranges, *push, *pop;
} pb_gpu_library;

extern const pb_gpu_library pb_gpu_cuda, pb_gpu_hip;

typedef struct pb_gpu_ranges {
  void* file;
  int (*push)(const char* text);
  int (*pop)(void);
} pb_gpu_ranges;

// Opens the library and finds its functions; why[PB_GPU_WHY] says what was looked for and where.
bool pb_gpu_open(const pb_gpu_library* of, void** file, pb_gpu_calls* calls, char* why);
// Silently none where there is no such library.
void pb_gpu_open_ranges(const pb_gpu_library* of, pb_gpu_ranges* ranges);
// "out of memory (CUDA_ERROR_OUT_OF_MEMORY, error 2 of libcuda.so.1)".
void pb_gpu_say(const pb_gpu_library* of, const pb_gpu_calls* calls, const char* what, int code, char* why);

#endif
