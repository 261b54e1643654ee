#define _GNU_SOURCE
#include "targets/control/grid/assembler.h"

#include <fcntl.h>
#include <glob.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

int pb_assembler_run(const char* program, const char* const* arguments, const char* said) {
  pid_t pid;
  int status = -1;
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, said, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
  bool began = !posix_spawn(&pid, program, &files, NULL, (char* const*)(uintptr_t)arguments, environ);
  posix_spawn_file_actions_destroy(&files);
  if (began && waitpid(pid, &status, 0) != pid) status = -1;
  return status;
}

static bool is_program(const char* folder, size_t length, char* path, size_t size) {
  int n = snprintf(path, size, "%.*s/ptxas", (int)length, folder);
  return length && n > 0 && (size_t)n < size && !access(path, X_OK);
}

static bool in_path(char* path, size_t size) {
  for (const char* at = getenv("PATH"); at && *at; at += strspn(at, ":")) {
    size_t n = strcspn(at, ":");
    if (is_program(at, n, path, size)) return true;
    at += n;
  }
  return false;
}

static bool in_home(const char* variable, const char* inside, char* path, size_t size) {
  const char* home = getenv(variable);
  glob_t found;
  char pattern[4096];
  if (!home || !*home) return false;
  snprintf(pattern, sizeof pattern, "%s/%s", home, inside);
  if (glob(pattern, 0, NULL, &found)) return false;
  bool is = is_program(found.gl_pathv[0], strlen(found.gl_pathv[0]), path, size);
  globfree(&found);
  return is;
}

bool pb_assembler_find(char* path, size_t size) {
  const char* said = getenv("PB_PTXAS");
  if (said) {
    snprintf(path, size, "%s", said);
    return *said && !access(said, X_OK);
  }
  return in_path(path, size) || in_home("CUDA_HOME", "bin", path, size) || in_home("CUDA_PATH", "bin", path, size) ||
         in_home("VIRTUAL_ENV", "lib/python3*/site-packages/nvidia/*/bin", path, size) ||
         is_program("/usr/local/cuda/bin", 19, path, size);
}
