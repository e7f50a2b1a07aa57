/* Erroneous calls (MPI 4.1 §9.3, §9.4): the class of the error, and that nothing but the error happens. ranks: 1 2 3 | 13 */
#include "check.h"

/* A call answers this class; its string names something, and everything goes on. */
#define FAILS(call, wanted)                                                                                             \
  do {                                                                                                                  \
    int code_ = (call), c_ = class_of(code_), n_ = 0;                                                                   \
    char text_[MPI_MAX_ERROR_STRING] = "";                                                                              \
    MPI_Error_string(code_, text_, &n_);                                                                                \
    if (c_ != wanted) SAY("[%s: class %d, not %s]", #call, c_, #wanted);                                                \
    CHECK(c_ == wanted && n_ > 0);                                                                                      \
  } while (0)
#define EITHER(call, one, other)                                                                                        \
  do {                                                                                                                  \
    int c_ = class_of(call);                                                                                            \
    CHECK(c_ == one || c_ == other);                                                                                    \
  } while (0)
/* Everybody can still talk to everybody, and nothing is lying about. */
static void sound(void) {
  int x = rank, y = -1, flag = 1, sum = 0;
  MPI_Sendrecv(&x, 1, MPI_INT, right, TAG + 9, &y, 1, MPI_INT, left, TAG + 9, WORLD, NOSTATUS);
  CHECK(y == left);
  MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, WORLD);
  CHECK(sum == size * (size - 1) / 2);
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, &flag, NOSTATUS);
  CHECK(!flag);
}
#define WRONG(name, text) static void name##_(void); TEST_(name, text) { errors_return(1); name##_(); sound(); errors_return(0); } static void name##_(void)
#define TEST_(n, text)                                                                                                  \
  static void n(void);                                                                                                  \
  __attribute__((constructor)) static void add_##n(void) { tests_[ntests_++] = (struct test){#n, 1, text, n}; }          \
  static void n(void)

static int x, y;
static MPI_Request r;
static MPI_Status s;
static MPI_Comm c;
static MPI_Datatype t;

WRONG(err_rank, "§9.4: MPI_ERR_RANK: invalid rank") {
  FAILS(MPI_Send(&x, 1, MPI_INT, size, TAG, WORLD), MPI_ERR_RANK);
  FAILS(MPI_Send(&x, 1, MPI_INT, -7, TAG, WORLD), MPI_ERR_RANK);
  FAILS(MPI_Send(&x, 1, MPI_INT, MPI_ANY_SOURCE, TAG, WORLD), MPI_ERR_RANK);
  FAILS(MPI_Recv(&x, 1, MPI_INT, size, TAG, WORLD, &s), MPI_ERR_RANK);
  FAILS(MPI_Isend(&x, 1, MPI_INT, size, TAG, WORLD, &r), MPI_ERR_RANK);
  FAILS(MPI_Ssend(&x, 1, MPI_INT, size, TAG, WORLD), MPI_ERR_RANK);
  FAILS(MPI_Irecv(&x, 1, MPI_INT, -9, TAG, WORLD, &r), MPI_ERR_RANK);
  FAILS(MPI_Probe(size, TAG, WORLD, &s), MPI_ERR_RANK);
  FAILS(MPI_Sendrecv(&x, 1, MPI_INT, size, TAG, &y, 1, MPI_INT, 0, TAG, WORLD, &s), MPI_ERR_RANK);
  FAILS(MPI_Sendrecv(&x, 1, MPI_INT, right, TAG, &y, 1, MPI_INT, size, TAG, WORLD, &s), MPI_ERR_RANK);
}
WRONG(err_tag, "§9.4: MPI_ERR_TAG: invalid tag") {
  FAILS(MPI_Send(&x, 1, MPI_INT, 0, -5, WORLD), MPI_ERR_TAG);
  FAILS(MPI_Send(&x, 1, MPI_INT, 0, MPI_ANY_TAG, WORLD), MPI_ERR_TAG);
  FAILS(MPI_Recv(&x, 1, MPI_INT, 0, -5, WORLD, &s), MPI_ERR_TAG);
  FAILS(MPI_Sendrecv(&x, 1, MPI_INT, right, TAG, &y, 1, MPI_INT, left, -7, WORLD, &s), MPI_ERR_TAG);
}
WRONG(err_count, "§9.4: MPI_ERR_COUNT: invalid count argument") {
  FAILS(MPI_Send(&x, -1, MPI_INT, 0, TAG, WORLD), MPI_ERR_COUNT);
  FAILS(MPI_Recv(&x, -1, MPI_INT, 0, TAG, WORLD, &s), MPI_ERR_COUNT);
  FAILS(MPI_Bcast(&x, -1, MPI_INT, 0, WORLD), MPI_ERR_COUNT);
  FAILS(MPI_Type_contiguous(-1, MPI_INT, &t), MPI_ERR_COUNT);
  FAILS(MPI_Allreduce(&x, &y, -1, MPI_INT, MPI_SUM, WORLD), MPI_ERR_COUNT);
}
WRONG(err_comm, "§9.4: MPI_ERR_COMM: invalid communicator") {
  FAILS(MPI_Send(&x, 1, MPI_INT, 0, TAG, MPI_COMM_NULL), MPI_ERR_COMM);
  FAILS(MPI_Comm_rank(MPI_COMM_NULL, &x), MPI_ERR_COMM);
  FAILS(MPI_Barrier(MPI_COMM_NULL), MPI_ERR_COMM);
  FAILS(MPI_Comm_dup(MPI_COMM_NULL, &c), MPI_ERR_COMM);
  c = MPI_COMM_NULL;
  FAILS(MPI_Comm_free(&c), MPI_ERR_COMM);
}
WRONG(err_type, "§9.4: MPI_ERR_TYPE: invalid datatype argument (uncommitted ones too)") {
  FAILS(MPI_Send(&x, 1, MPI_DATATYPE_NULL, 0, TAG, WORLD), MPI_ERR_TYPE);
  FAILS(MPI_Type_size(MPI_DATATYPE_NULL, &x), MPI_ERR_TYPE);
  MPI_Type_contiguous(2, MPI_INT, &t);
  FAILS(MPI_Send(&x, 1, t, 0, TAG, WORLD), MPI_ERR_TYPE);
  FAILS(MPI_Bcast(&x, 1, t, 0, WORLD), MPI_ERR_TYPE);
  MPI_Type_free(&t);
  FAILS(MPI_Type_free(&t), MPI_ERR_TYPE);
  t = MPI_INT;
  FAILS(MPI_Type_free(&t), MPI_ERR_TYPE);
}
WRONG(err_op, "§9.4: MPI_ERR_OP: invalid operation") {
  MPI_Op op = MPI_OP_NULL;
  FAILS(MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_OP_NULL, WORLD), MPI_ERR_OP);
  FAILS(MPI_Op_free(&op), MPI_ERR_OP);
  op = MPI_SUM;
  FAILS(MPI_Op_free(&op), MPI_ERR_OP);
  double a = 1, b;
  FAILS(MPI_Allreduce(&a, &b, 1, MPI_DOUBLE, MPI_BAND, WORLD), MPI_ERR_OP);
  FAILS(MPI_Allreduce(&a, &b, 1, MPI_DOUBLE, MPI_MAXLOC, WORLD), MPI_ERR_OP);
}
WRONG(err_root, "§9.4: MPI_ERR_ROOT: invalid root") {
  FAILS(MPI_Bcast(&x, 1, MPI_INT, size, WORLD), MPI_ERR_ROOT);
  FAILS(MPI_Reduce(&x, &y, 1, MPI_INT, MPI_SUM, -1, WORLD), MPI_ERR_ROOT);
  FAILS(MPI_Gather(&x, 1, MPI_INT, &y, 1, MPI_INT, size + 3, WORLD), MPI_ERR_ROOT);
}
WRONG(err_group, "§9.4: MPI_ERR_GROUP: invalid group; ranks outside of a group are MPI_ERR_RANK") {
  MPI_Group g = MPI_GROUP_NULL, w;
  int list[2] = {0, 0}, far[1] = {size};
  FAILS(MPI_Group_size(MPI_GROUP_NULL, &x), MPI_ERR_GROUP);
  FAILS(MPI_Group_free(&g), MPI_ERR_GROUP);
  MPI_Comm_group(WORLD, &w);
  FAILS(MPI_Group_incl(w, 1, far, &g), MPI_ERR_RANK);
  FAILS(MPI_Group_incl(w, 2, list, &g), MPI_ERR_RANK);
  MPI_Group_free(&w);
}
WRONG(err_request, "§9.4: MPI_ERR_REQUEST: invalid request (handle)") {
  r = MPI_REQUEST_NULL;
  FAILS(MPI_Start(&r), MPI_ERR_REQUEST);
  FAILS(MPI_Cancel(&r), MPI_ERR_REQUEST);
  FAILS(MPI_Request_free(&r), MPI_ERR_REQUEST);
}
WRONG(err_buffer, "§9.4: MPI_ERR_BUFFER: invalid buffer pointer argument") {
  char room[8 + MPI_BSEND_OVERHEAD];
  static int big[4000];
  int n;
  void *p;
  FAILS(MPI_Bsend(big, 4000, MPI_INT, 0, TAG, WORLD), MPI_ERR_BUFFER);
  MPI_Buffer_attach(room, sizeof room);
  FAILS(MPI_Bsend(big, 4000, MPI_INT, 0, TAG, WORLD), MPI_ERR_BUFFER);
  FAILS(MPI_Buffer_attach(big, sizeof big), MPI_ERR_BUFFER);
  MPI_Buffer_detach(&p, &n);
  FAILS(MPI_Send(NULL, 3, MPI_INT, 0, TAG, WORLD), MPI_ERR_BUFFER);
}
WRONG(err_truncate, "§9.4: MPI_ERR_TRUNCATE: message truncated on receive") {
  int a[4] = {1, 2, 3, 4}, b[4] = {-1, -1, -1, -1};
  MPI_Irecv(b, 2, MPI_INT, rank, TAG, WORLD, &r);
  MPI_Send(a, 4, MPI_INT, rank, TAG, WORLD);
  FAILS(MPI_Wait(&r, &s), MPI_ERR_TRUNCATE);
  CHECK(b[2] == -1 && r == MPI_REQUEST_NULL);
}
WRONG(err_topology, "§9.4: MPI_ERR_TOPOLOGY: invalid topology") {
  FAILS(MPI_Cartdim_get(WORLD, &x), MPI_ERR_TOPOLOGY);
  FAILS(MPI_Graphdims_get(WORLD, &x, &y), MPI_ERR_TOPOLOGY);
  FAILS(MPI_Neighbor_allgather(&x, 1, MPI_INT, &y, 1, MPI_INT, WORLD), MPI_ERR_TOPOLOGY);
}
WRONG(err_dims, "§9.4: MPI_ERR_DIMS: invalid dimension argument") {
  int d[2] = {-1, 0}, e[2] = {5, 0}, p[2] = {0, 0}, big[1] = {size + 1};
  EITHER(MPI_Dims_create(6, 2, d), MPI_ERR_DIMS, MPI_ERR_ARG);
  EITHER(MPI_Dims_create(6, 2, e), MPI_ERR_DIMS, MPI_ERR_ARG);
  CHECK(MPI_Cart_create(WORLD, 1, big, p, 0, &c) != MPI_SUCCESS);
}
WRONG(err_arg, "§9.4: MPI_ERR_ARG: invalid argument of some other kind") {
  int sizes[1] = {4}, subs[1] = {5}, starts[1] = {0};
  FAILS(MPI_Type_create_subarray(1, sizes, subs, starts, MPI_ORDER_C, MPI_INT, &t), MPI_ERR_ARG);
  FAILS(MPI_Error_string(-12345, (char[MPI_MAX_ERROR_STRING]){0}, &x), MPI_ERR_ARG);
  FAILS(MPI_Comm_split(WORLD, -3, 0, &c), MPI_ERR_ARG);
}
WRONG(err_info, "§9.4: MPI_ERR_INFO, MPI_ERR_INFO_KEY, MPI_ERR_INFO_NOKEY, MPI_ERR_INFO_VALUE") {
  MPI_Info i;
  char key[MPI_MAX_INFO_KEY + 20];
  char *value = malloc(MPI_MAX_INFO_VAL + 20);
  memset(key, 'k', sizeof key);
  key[sizeof key - 1] = 0;
  memset(value, 'v', MPI_MAX_INFO_VAL + 19);
  value[MPI_MAX_INFO_VAL + 19] = 0;
  MPI_Info_create(&i);
  FAILS(MPI_Info_set(i, key, "1"), MPI_ERR_INFO_KEY);
  FAILS(MPI_Info_set(i, "", "1"), MPI_ERR_INFO_KEY);
  FAILS(MPI_Info_set(i, "key", value), MPI_ERR_INFO_VALUE);
  FAILS(MPI_Info_delete(i, "none"), MPI_ERR_INFO_NOKEY);
  MPI_Info_free(&i);
  EITHER(MPI_Info_set(MPI_INFO_NULL, "a", "b"), MPI_ERR_INFO, MPI_ERR_ARG);
  free(value);
}
WRONG(err_keyval, "§9.4: MPI_ERR_KEYVAL: invalid keyval") {
  FAILS(MPI_Comm_set_attr(WORLD, MPI_KEYVAL_INVALID, &x), MPI_ERR_KEYVAL);
  EITHER(MPI_Comm_set_attr(WORLD, MPI_TAG_UB, &x), MPI_ERR_KEYVAL, MPI_ERR_ARG);
}
WRONG(err_name_port, "§9.4: MPI_ERR_NAME: a service name that was not published") {
  char port[MPI_MAX_PORT_NAME];
  CHECK(MPI_Lookup_name("nobody published this", MPI_INFO_NULL, port) != MPI_SUCCESS);
}
WRONG(err_in_status, "§3.7.5: MPI_ERR_IN_STATUS: the error code is in the status") {
  int a[4] = {0}, b[1];
  MPI_Request q[2];
  MPI_Status st[2];
  MPI_Irecv(b, 1, MPI_INT, rank, TAG, WORLD, &q[0]);
  MPI_Irecv(&y, 1, MPI_INT, rank, TAG + 1, WORLD, &q[1]);
  MPI_Send(a, 4, MPI_INT, rank, TAG, WORLD);
  MPI_Send(a, 1, MPI_INT, rank, TAG + 1, WORLD);
  FAILS(MPI_Waitall(2, q, st), MPI_ERR_IN_STATUS);
  CHECK(class_of(st[0].MPI_ERROR) == MPI_ERR_TRUNCATE && st[1].MPI_ERROR == MPI_SUCCESS);
}
WRONG(err_errhandler, "§9.3: MPI_ERRHANDLER_NULL is no error handler") {
  MPI_Errhandler h = MPI_ERRHANDLER_NULL;
  CHECK(MPI_Comm_set_errhandler(WORLD, MPI_ERRHANDLER_NULL) != MPI_SUCCESS);
  CHECK(MPI_Errhandler_free(&h) != MPI_SUCCESS);
}
WRONG(err_intercomm, "§7.6: functions for intercommunicators answer MPI_ERR_COMM for others") {
  FAILS(MPI_Comm_remote_size(WORLD, &x), MPI_ERR_COMM);
  FAILS(MPI_Intercomm_merge(WORLD, 0, &c), MPI_ERR_COMM);
}
WRONG(err_pack, "§5.2: no room for packed data") {
  char room[6];
  int at = 0;
  double d = 1;
  CHECK(MPI_Pack(&d, 1, MPI_DOUBLE, room, sizeof room, &at, WORLD) != MPI_SUCCESS);
}
WRONG(err_in_place, "§6.2.3: MPI_IN_PLACE where it is not allowed") {
  CHECK(MPI_Send(MPI_IN_PLACE, 1, MPI_INT, 0, TAG, WORLD) != MPI_SUCCESS);
}
#ifdef __wasm__
/* Where MPICH 4.0 waits for ever at other processes, or takes the messages of one collective for those of the next. */
WRONG(err_counts_at_one_process, "§9.3: a high-quality implementation will, to the greatest possible extent, circumscribe the impact of an error, so that normal processing can continue") {
  static int a[64], b[64];
  int last = size - 1, wrong = rank == last, sum = -1, code;
  /* The root's own block does not fit: those fail too that would get theirs from it. */
  CHECK(MPI_Scatter(a, 2, MPI_INT, b, wrong ? 3 : 2, MPI_INT, last, WORLD) != MPI_SUCCESS);
  code = MPI_Gather(a, 2, MPI_INT, b, wrong ? 1 : 2, MPI_INT, last, WORLD);
  CHECK(!wrong || code != MPI_SUCCESS);
  CHECK(MPI_Alltoall(a, wrong ? 2 : 1, MPI_INT, b, 1, MPI_INT, WORLD) != MPI_SUCCESS);
  CHECK(MPI_Allgather(a, wrong ? 2 : 1, MPI_INT, b, 1, MPI_INT, WORLD) != MPI_SUCCESS);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, WORLD);
  CHECK(sum == size * (size - 1) / 2);
}
/* An argument that is none leaves no trace: the call may be made again. */
WRONG(err_and_again, "§9.3: … so that normal processing can continue after an error handler was invoked") {
  int wrong = rank == size - 1, sum = -1;
  if (wrong) FAILS(MPI_Allreduce(&rank, &sum, -1, MPI_INT, MPI_SUM, WORLD), MPI_ERR_COUNT);
  if (wrong) FAILS(MPI_Allreduce(&rank, &rank, 1, MPI_INT, MPI_SUM, WORLD), MPI_ERR_BUFFER);
  if (wrong) FAILS(MPI_Comm_split(WORLD, -3, 0, &c), MPI_ERR_ARG);
  CHECK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, WORLD) == MPI_SUCCESS && sum == size * (size - 1) / 2);
}
/* MPICH 4.0 faults on these or goes on. */
WRONG(err_pointer, "an address outside of the memory is an error of that call, not the end of the process") {
  FAILS(MPI_Send((void *)0xfffffff0u, 100, MPI_INT, 0, TAG, WORLD), MPI_ERR_BUFFER);
  FAILS(MPI_Recv((void *)0xfffffff0u, 100, MPI_INT, 0, TAG, WORLD, &s), MPI_ERR_BUFFER);
  FAILS(MPI_Comm_size(WORLD, (int *)0xfffffff0u), MPI_ERR_ARG);
}
WRONG(err_partitioned, "§4.2: errors of partitioned communication") {
  int a[2] = {0};
  FAILS(MPI_Precv_init(a, 2, 1, MPI_INT, MPI_ANY_SOURCE, TAG, WORLD, MPI_INFO_NULL, &r), MPI_ERR_RANK);
  FAILS(MPI_Psend_init(a, 2, 1, MPI_INT, size, TAG, WORLD, MPI_INFO_NULL, &r), MPI_ERR_RANK);
  MPI_Psend_init(a, 2, 1, MPI_INT, MPI_PROC_NULL, TAG, WORLD, MPI_INFO_NULL, &r);
  FAILS(MPI_Pready(0, r), MPI_ERR_REQUEST);
  MPI_Start(&r);
  FAILS(MPI_Pready(2, r), MPI_ERR_ARG);
  MPI_Pready(1, r);
  FAILS(MPI_Pready(1, r), MPI_ERR_ARG);
  FAILS(MPI_Pready_range(1, 0, r), MPI_ERR_ARG);
  FAILS(MPI_Parrived(r, 0, &x), MPI_ERR_REQUEST);
  MPI_Pready(0, r);
  MPI_Wait(&r, NOSTATUS);
  MPI_Request_free(&r);
}
WRONG(err_spawn, "§11.8.2: MPI_ERR_SPAWN if the processes cannot be started") {
  int codes[1];
  FAILS(MPI_Comm_spawn("./other", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &c, codes), MPI_ERR_SPAWN);
}
WRONG(err_session, "§9.4: MPI_ERR_SESSION: invalid session argument") {
  MPI_Session none = MPI_SESSION_NULL;
  FAILS(MPI_Session_get_num_psets(none, MPI_INFO_NULL, &x), MPI_ERR_SESSION);
  FAILS(MPI_Session_finalize(&none), MPI_ERR_SESSION);
}
WRONG(err_of_the_file_system, "§14.7: MPI_ERR_BAD_FILE: invalid file name; MPI_ERR_FILE_IN_USE: currently open by some process; MPI_ERR_NOT_SAME: collective argument not identical; MPI_ERR_QUOTA") {
  MPI_File f;
  char name[16];
  FAILS(MPI_File_open(MPI_COMM_SELF, "a b", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f), MPI_ERR_BAD_FILE);
  if (size > 1) FAILS(MPI_File_open(WORLD, "same", MPI_MODE_CREATE | (rank ? MPI_MODE_RDWR : MPI_MODE_WRONLY), MPI_INFO_NULL, &f), MPI_ERR_NOT_SAME);
  snprintf(name, sizeof name, "used.%d", rank);
  MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);
  FAILS(MPI_File_delete(name, MPI_INFO_NULL), MPI_ERR_FILE_IN_USE);
  FAILS(MPI_File_set_size(f, (MPI_Offset)1 << 40), MPI_ERR_QUOTA);
  MPI_File_close(&f);
  CHECK(MPI_File_delete(name, MPI_INFO_NULL) == MPI_SUCCESS);
}
WRONG(err_freed_handles, "handles that were freed are no handles") {
  MPI_Type_contiguous(2, MPI_INT, &t);
  MPI_Datatype copy = t;
  MPI_Type_free(&t);
  FAILS(MPI_Type_size(copy, &x), MPI_ERR_TYPE);
  MPI_Comm d, old;
  MPI_Comm_dup(WORLD, &d);
  old = d;
  MPI_Comm_free(&d);
  FAILS(MPI_Comm_size(old, &x), MPI_ERR_COMM);
  MPI_Irecv(&x, 1, MPI_INT, rank, TAG, WORLD, &r);
  MPI_Request was = r;
  MPI_Send(&y, 1, MPI_INT, rank, TAG, WORLD);
  MPI_Wait(&r, NOSTATUS);
  FAILS(MPI_Wait(&was, NOSTATUS), MPI_ERR_REQUEST);
}
#endif
