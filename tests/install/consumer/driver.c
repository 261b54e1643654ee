// A driver that drives nothing: it is found and loaded, and its own words come out.
#include <pb/device.h>

static int open_device(const char* options, pb_device** device) {
  (void)options;
  *device = 0;
  return 1;
}
static const char* fault(pb_device* device) {
  (void)device;
  return "this driver drives nothing";
}

const pb_device_ops* pb_device_entry(void) {
  static const pb_device_ops ops = {.abi = PB_DEVICE_ABI, .name = "nothing", .open = open_device, .last_fault = fault};
  return &ops;
}
