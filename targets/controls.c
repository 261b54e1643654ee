// The table that the core asks for what is behind S3 (core/driver/control.h), made of targets.def.
#include "core/driver/control.h"

#define CONTROL(name) extern const pb_control_ops pb_control_##name;
#include "targets/targets.def"
#undef CONTROL

#define CONTROL(name) &pb_control_##name,
const pb_control_ops* const pb_controls[] = {
#include "targets/targets.def"
    NULL};
