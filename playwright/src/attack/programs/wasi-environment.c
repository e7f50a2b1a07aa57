// Tries: to read the environment and the arguments of the volunteer
// Stood for: a child process inherits them
// Ends: done
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>
extern char **environ;
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  for (char **e = environ; *e; e++) puts(*e);
  const char *names[] = {"MAYFLY_CANARY", "NODE_OPTIONS", "LD_PRELOAD", "SHELL", "PWD", "npm_config_cache"};
  // Every rank has PWD=/, whatever the volunteer has.
  for (int i = 0; i < 6; i++) if (getenv(names[i]) && strcmp(getenv(names[i]), "/")) printf("ESCAPED: %s is %s\n", names[i], getenv(names[i]));
  printf("end %d\n", argc);
  MPI_Finalize();
  return 0;
}
