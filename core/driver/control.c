#include "core/driver/control.h"

pb_status pb_control_check(const pb_chip* chip, pb_diag* diag) {
  const pb_control_ops* control = pb_control_of(chip);
  return control && control->check ? control->check(chip, diag) : PB_OK;
}

const pb_control_ops* pb_control_of(const pb_chip* chip) {
  for (const pb_control_ops* const* c = pb_controls; *c; ++c)
    if ((*c)->control == chip->control) return *c;
  return NULL;
}
