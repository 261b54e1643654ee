#include "core/driver/control.h"

const pb_control_ops* pb_control_of(const pb_chip* chip) {
  for (const pb_control_ops* const* c = pb_controls; *c; ++c)
    if ((*c)->control == chip->control) return *c;
  return NULL;
}
