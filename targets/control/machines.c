// The machines among the runtime's devices, under one name: which one is meant the engine's chip says. And the GPUs
// that drivers open.
#include "pb/pb.h"
#include "targets/control/grid/driver/driver.h"
#include "targets/control/grid/machine/machine.h"
#include "targets/control/queues/machine/machine.h"

void pb_rt_add_machine(void) {
  pb_rt_add_device("machine", pb_machine_ops);
  pb_rt_add_device("machine", pb_grid_machine_ops);
  pb_rt_add_device("cuda", pb_cuda_ops);
  pb_rt_add_device("hip", pb_hip_ops);
}
