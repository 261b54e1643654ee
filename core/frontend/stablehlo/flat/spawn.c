#define _GNU_SOURCE
#include "core/frontend/stablehlo/flat/spawn.h"

#include <spawn.h>
#include <unistd.h>

int pb__flat_spawn(const char* program, char* const argv[], int in, int out, pid_t* pid) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  int wrong = posix_spawn(pid, program, &actions, NULL, argv, environ);
  posix_spawn_file_actions_destroy(&actions);
  return wrong;
}
