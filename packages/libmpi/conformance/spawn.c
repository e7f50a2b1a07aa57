/* Dynamic processes (MPI 4.1 §11.8, §11.10). ranks: 1 2 5 */
#include "check.h"

/* What a child found of itself, for its parents: rank, size, MPI_APPNUM, number of arguments, last argument, size of the parents' group, is the communicator's name as it is to be. */
enum { FACTS = 7 };
static MPI_Comm parents(void) {
  MPI_Comm p;
  MPI_Comm_get_parent(&p);
  return p;
}
static void tell(int argc, char **argv, MPI_Comm p) {
  int facts[FACTS] = {rank, size, -1, argc - 1, argc > 1 ? atoi(argv[argc - 1]) : -1, 0, 0}, flag, *app, n;
  char name[MPI_MAX_OBJECT_NAME];
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &app, &flag);
  if (flag) facts[2] = *app;
  MPI_Comm_remote_size(p, &facts[5]);
  MPI_Comm_get_name(p, name, &n);
  facts[6] = !strcmp(name, "MPI_COMM_PARENT");
  MPI_Send(facts, FACTS, MPI_INT, 0, 1, p);
}
static void child(int argc, char **argv) {
  MPI_Comm p = parents(), all, again;
  const char *what = argc > 1 ? argv[1] : "";
  int x = 10 * (rank + 1), sum = 0, n;
  if (!strcmp(what, "merge")) {
    MPI_Intercomm_merge(p, 1, &all);
    MPI_Comm_rank(all, &x);
    MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, all);
    MPI_Comm_free(&all);
  } else if (!strcmp(what, "collectives")) {
    MPI_Bcast(&n, 1, MPI_INT, 0, p);
    x += n;
    MPI_Reduce(&x, NULL, 1, MPI_INT, MPI_SUM, 0, p);
    MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_MAX, p);
    MPI_Barrier(p);
  } else if (!strcmp(what, "again")) {
    char depth[8];
    snprintf(depth, sizeof depth, "%d", atoi(argv[2]) - 1);
    char *args[] = {"again", depth, NULL};
    n = 1;
    if (atoi(argv[2]) > 0) {
      MPI_Comm_spawn(argv[0], args, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &again, MPI_ERRCODES_IGNORE);
      MPI_Recv(&sum, 1, MPI_INT, 0, 3, again, MPI_STATUS_IGNORE);
      MPI_Comm_disconnect(&again);
      n = sum + 1;
    }
    MPI_Send(&n, 1, MPI_INT, 0, 3, p);
  } else if (!strcmp(what, "open")) {
    char port[MPI_MAX_PORT_NAME];
    MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Send(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 4, p);
    MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &again);
    MPI_Recv(&n, 1, MPI_INT, 0, 5, again, MPI_STATUS_IGNORE);
    n++;
    MPI_Send(&n, 1, MPI_INT, 0, 5, again);
    MPI_Comm_disconnect(&again);
    MPI_Close_port(port);
  } else if (!strcmp(what, "name")) {
    char port[MPI_MAX_PORT_NAME] = "";
    if (rank == 0) {
      MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
      MPI_Lookup_name("before the spawn", MPI_INFO_NULL, port);
      MPI_Send(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 4, p);
    }
  } else if (!strcmp(what, "knock")) {
    char port[MPI_MAX_PORT_NAME];
    MPI_Recv(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 4, p, MPI_STATUS_IGNORE);
    MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &again);
    MPI_Sendrecv(&x, 1, MPI_INT, 0, 5, &n, 1, MPI_INT, 0, 5, again, MPI_STATUS_IGNORE);
    MPI_Comm_disconnect(&again);
    MPI_Send(&n, 1, MPI_INT, 0, 5, p);
  } else tell(argc, argv, p);
  MPI_Comm_disconnect(&p);
  if (!strcmp(what, "after") && parents() != MPI_COMM_NULL) MPI_Abort(MPI_COMM_WORLD, 1);
}
__attribute__((constructor)) static void be_child(void) { as_child = child; }

static void facts_of(MPI_Comm c, int n) {
  int f[FACTS];
  for (int i = 0; i < n && rank == 0; i++) {
    MPI_Recv(f, FACTS, MPI_INT, i, 1, c, MPI_STATUS_IGNORE);
    CHECK(f[0] == i && f[6]);
    SAY("(%d %d %d %d %d %d)", f[0], f[1], f[2], f[3], f[4], f[5]);
  }
}

TEST(spawn_one_after_the_other, 1, "§11.8.2: MPI_COMM_SPAWN tries to start maxprocs identical copies of the MPI program specified by command; the children have their own MPI_COMM_WORLD") {
  for (int n = 1; n <= 3; n++) {
    int codes[3] = {-1, -1, -1}, remote, inter, own, at;
    MPI_Comm c;
    char *args[] = {"after", "7", NULL};
    MPI_Comm_spawn(program_, n == 2 ? MPI_ARGV_NULL : args, n, MPI_INFO_NULL, size - 1, WORLD, &c, codes);
    MPI_Comm_remote_size(c, &remote);
    MPI_Comm_test_inter(c, &inter);
    MPI_Comm_size(c, &own);
    MPI_Comm_rank(c, &at);
    CHECK(remote == n && inter && own == size && at == rank && all(codes, n, MPI_SUCCESS) && (n == 3 || codes[n] == -1));
    facts_of(c, n);
    MPI_Comm_disconnect(&c);
    CHECK(c == MPI_COMM_NULL);
  }
}
TEST(spawn_multiple, 1, "§11.8.3: all of them have the same MPI_COMM_WORLD, their ranks are in the order of the commands; §11.10.3: MPI_APPNUM is the number of the command") {
  char *first[] = {"x", "1", NULL}, *none[] = {NULL}, *last[] = {"3", NULL}, **argvs[] = {first, none, last}, *commands[] = {program_, program_, program_};
  int most[] = {1, 1, 2}, codes[4];
  MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL, MPI_INFO_NULL};
  MPI_Comm c;
  MPI_Comm_spawn_multiple(3, commands, argvs, most, infos, 0, WORLD, &c, codes);
  CHECK(all(codes, 4, MPI_SUCCESS));
  facts_of(c, 4);
  MPI_Comm_disconnect(&c);
}
TEST(spawn_merge, 1, "§7.6.2: the group of MPI_INTERCOMM_MERGE is the union of the two groups, the high one's ranks come last") {
  MPI_Comm c, both;
  int x, sum, n;
  char *args[] = {"merge", NULL};
  MPI_Comm_spawn(program_, args, 2, MPI_INFO_NULL, 0, WORLD, &c, MPI_ERRCODES_IGNORE);
  MPI_Intercomm_merge(c, 0, &both);
  MPI_Comm_rank(both, &x);
  MPI_Comm_size(both, &n);
  CHECK(x == rank && n == size + 2);
  MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, both);
  SAY("%d", sum);
  MPI_Comm_free(&both);
  MPI_Comm_disconnect(&c);
}
TEST(spawn_collectives, 1, "§6.2.3: collectives over the intercommunicator of parents and children") {
  MPI_Comm c;
  int x = 100 + rank, sum = -1, most, n = 5;
  char *args[] = {"collectives", NULL};
  MPI_Comm_spawn(program_, args, 3, MPI_INFO_NULL, 0, WORLD, &c, MPI_ERRCODES_IGNORE);
  MPI_Bcast(&n, 1, MPI_INT, rank == 0 ? MPI_ROOT : MPI_PROC_NULL, c);
  MPI_Reduce(NULL, &sum, 1, MPI_INT, MPI_SUM, rank == 0 ? MPI_ROOT : MPI_PROC_NULL, c);
  MPI_Allreduce(&x, &most, 1, MPI_INT, MPI_MAX, c);
  MPI_Barrier(c);
  SAY("%d %d", rank == 0 ? sum : 0, most);
  MPI_Comm_disconnect(&c);
}
TEST(spawn_by_self, 2, "§11.8.2: comm is an intracommunicator containing the group of spawning processes: of two that spawn alone each has its own child") {
  MPI_Comm c;
  int f[FACTS];
  char own[16], *args[] = {own, NULL};
  snprintf(own, sizeof own, "%d", rank);
  if (rank < 2) {
    MPI_Comm_spawn(program_, args, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &c, MPI_ERRCODES_IGNORE);
    MPI_Recv(f, FACTS, MPI_INT, 0, 1, c, MPI_STATUS_IGNORE);
    CHECK(f[0] == 0 && f[1] == 1 && f[4] == rank && f[5] == 1);
    MPI_Comm_disconnect(&c);
  }
  MPI_Barrier(WORLD);
}
TEST(spawn_children_of_children, 1, "§11.8.2: children may spawn") {
  MPI_Comm c;
  int n = 0;
  char *args[] = {"again", "1", NULL};
  MPI_Comm_spawn(program_, args, 1, MPI_INFO_NULL, 0, WORLD, &c, MPI_ERRCODES_IGNORE);
  if (rank == 0) MPI_Recv(&n, 1, MPI_INT, 0, 3, c, MPI_STATUS_IGNORE);
  SAY("%d", n);
  MPI_Comm_disconnect(&c);
}
TEST(spawn_strangers, 1, "§11.9: establishing contact between two groups of processes that do not share an existing communicator: here, children of two spawns") {
  MPI_Comm guest, host;
  int n = 0;
  char port[MPI_MAX_PORT_NAME], *knock[] = {"knock", NULL}, *open[] = {"open", NULL};
  MPI_Comm_spawn(program_, knock, 1, MPI_INFO_NULL, 0, WORLD, &guest, MPI_ERRCODES_IGNORE);
  MPI_Comm_spawn(program_, open, 1, MPI_INFO_NULL, 0, WORLD, &host, MPI_ERRCODES_IGNORE);
  if (rank == 0) {
    MPI_Recv(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 4, host, MPI_STATUS_IGNORE);
    MPI_Send(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 4, guest);
    MPI_Recv(&n, 1, MPI_INT, 0, 5, guest, MPI_STATUS_IGNORE);
    CHECK(n == 11);
  }
  MPI_Comm_disconnect(&guest);
  MPI_Comm_disconnect(&host);
}
#ifdef __wasm__
/* Without a server of names Debian's Open MPI ends the job. */
TEST(spawn_after_publishing, 1, "§11.9.4: the name of a port that was published before a process was spawned is found by it") {
  MPI_Comm c;
  char port[MPI_MAX_PORT_NAME], found[MPI_MAX_PORT_NAME], *args[] = {"name", NULL};
  if (rank == 0) {
    MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Publish_name("before the spawn", MPI_INFO_NULL, port);
  }
  MPI_Comm_spawn(program_, args, 2, MPI_INFO_NULL, 0, WORLD, &c, MPI_ERRCODES_IGNORE);
  if (rank == 0) {
    MPI_Recv(found, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 4, c, MPI_STATUS_IGNORE);
    CHECK(!strcmp(found, port));
    MPI_Unpublish_name("before the spawn", MPI_INFO_NULL, port);
    MPI_Close_port(port);
  }
  MPI_Comm_disconnect(&c);
}
#endif
TEST(get_parent_of_the_first, 1, "§11.8.2: if the process was not spawned, MPI_COMM_GET_PARENT returns MPI_COMM_NULL") {
  CHECK(parents() == MPI_COMM_NULL);
}
