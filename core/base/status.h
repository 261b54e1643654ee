// The system's error channel: every call that can fail returns a pb_status, which must be looked at.
#ifndef PB_BASE_STATUS_H
#define PB_BASE_STATUS_H

typedef enum pb_status {
  PB_OK = 0,
  PB_ERR_INPUT,       // the user's model, file, flag or description is at fault; a diagnostic was emitted
  PB_ERR_UNSUPPORTED, // well formed, but not something this target or version can do; a diagnostic was emitted
  PB_ERR_SYSTEM,      // the operating system refused: no memory, no file; a diagnostic was emitted
  PB_ERR_DEVICE,      // a device reported a fault, or did not answer in time
} pb_status;

#define PB_MUST_CHECK __attribute__((warn_unused_result))

// Leave the calling function with the status when it is not PB_OK.
#define PB_TRY(call)                                                                                                   \
  do {                                                                                                                 \
    pb_status pb_try_status = (call);                                                                                  \
    if (pb_try_status != PB_OK) return pb_try_status;                                                                  \
  } while (0)

#endif
