#include "core/s3/kernel/vector.h"

#include "core/s3/transfer_paths.h"

#include <string.h>
