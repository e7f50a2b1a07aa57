/* Every error class that the standard names (MPI 4.1 §9.4), provoked once. ranks: 1 3 | 13 */
#include "check.h"

/* "An MPI implementation … will invoke the error handler": once, with the object of the call, the class, and a code that has a text; the call returns that code. */
static int handled, handled_class;
static void seen(int *code) {
  handled++;
  handled_class = class_of(*code);
}
static void on_comm(MPI_Comm *c, int *code, ...) { seen(code); }
static void on_win(MPI_Win *w, int *code, ...) { seen(code); }
static void on_file(MPI_File *f, int *code, ...) { seen(code); }
static void provoked(int code, int wanted, const char *name) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int n = 0;
  MPI_Error_string(code, text, &n);
  if (class_of(code) != wanted) SAY("[class %d in place of %s]", class_of(code), name);
  CHECK(class_of(code) == wanted);
  CHECK(handled == 1 && handled_class == wanted);
  CHECK(n > 0 && n == (int)strlen(text));
}
#define PROVOKE(call, wanted) (handled = 0, provoked((call), wanted, #wanted))

/* Afterwards everybody can still talk to everybody, and nothing is lying about. */
static void sound(void) {
  int a = rank, b = -1, flag = 1, sum = 0;
  MPI_Sendrecv(&a, 1, MPI_INT, right, TAG + 9, &b, 1, MPI_INT, left, TAG + 9, WORLD, NOSTATUS);
  MPI_Allreduce(&a, &sum, 1, MPI_INT, MPI_SUM, WORLD);
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, &flag, NOSTATUS);
  CHECK(b == left && sum == size * (size - 1) / 2 && !flag);
}

static int x, y, mem[8];
static char text[64];
static MPI_Request r;
static MPI_Comm c;
static MPI_Datatype t;
static MPI_Win w;
static MPI_File f;
static MPI_Info info;
static MPI_Errhandler comms_, wins_, files_;

static void with_handlers(void (*body)(void)) {
  MPI_Errhandler old_self, old_world, old_file;
  MPI_Comm_create_errhandler(on_comm, &comms_);
  MPI_Win_create_errhandler(on_win, &wins_);
  MPI_File_create_errhandler(on_file, &files_);
  MPI_Comm_get_errhandler(MPI_COMM_SELF, &old_self);
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &old_world);
  MPI_File_get_errhandler(MPI_FILE_NULL, &old_file);
  MPI_Comm_set_errhandler(WORLD, comms_);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, comms_);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, comms_);
  MPI_File_set_errhandler(MPI_FILE_NULL, files_);
  MPI_Info_create(&info);
  body();
  sound();
  MPI_Info_free(&info);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, old_self);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, old_world);
  MPI_File_set_errhandler(MPI_FILE_NULL, old_file);
  MPI_Errhandler_free(&old_self);
  MPI_Errhandler_free(&old_world);
  MPI_Errhandler_free(&old_file);
  MPI_Errhandler_free(&comms_);
  MPI_Errhandler_free(&wins_);
  MPI_Errhandler_free(&files_);
}
/* A class and its meaning. */
#define CLASS(name, means)                                                                                              \
  static void name##_(void);                                                                                            \
  static void name(void) { with_handlers(name##_); }                                                                    \
  __attribute__((constructor)) static void add_##name(void) { tests_[ntests_++] = (struct test){#name, 1, means, name}; } \
  static void name##_(void)

static void window(void) {
  MPI_Win_create(mem, sizeof mem, sizeof(int), MPI_INFO_NULL, WORLD, &w);
  MPI_Win_set_errhandler(w, wins_);
}
static char *own(const char *of) {
  snprintf(text, sizeof text, "%s.%d", of, rank);
  return text;
}
static void file(const char *of, int mode) { MPI_File_open(MPI_COMM_SELF, own(of), mode, MPI_INFO_NULL, &f); }
enum { NEW = MPI_MODE_CREATE | MPI_MODE_RDWR };
static void gone(void) { MPI_File_close(&f), MPI_File_delete(text, MPI_INFO_NULL); }

CLASS(ERR_BUFFER, "Invalid buffer pointer argument") { PROVOKE(MPI_Send(NULL, 3, MPI_INT, 0, TAG, WORLD), MPI_ERR_BUFFER); }
CLASS(ERR_COUNT, "Invalid count argument") { PROVOKE(MPI_Send(&x, -1, MPI_INT, 0, TAG, WORLD), MPI_ERR_COUNT); }
CLASS(ERR_TYPE, "Invalid datatype argument") { PROVOKE(MPI_Send(&x, 1, MPI_DATATYPE_NULL, 0, TAG, WORLD), MPI_ERR_TYPE); }
CLASS(ERR_TAG, "Invalid tag argument") { PROVOKE(MPI_Send(&x, 1, MPI_INT, 0, -5, WORLD), MPI_ERR_TAG); }
CLASS(ERR_COMM, "Invalid communicator argument") { PROVOKE(MPI_Comm_rank(MPI_COMM_NULL, &x), MPI_ERR_COMM); }
CLASS(ERR_RANK, "Invalid rank argument") { PROVOKE(MPI_Send(&x, 1, MPI_INT, size, TAG, WORLD), MPI_ERR_RANK); }
CLASS(ERR_REQUEST, "Invalid request argument") { r = MPI_REQUEST_NULL; PROVOKE(MPI_Start(&r), MPI_ERR_REQUEST); }
CLASS(ERR_ROOT, "Invalid root argument") { PROVOKE(MPI_Bcast(&x, 1, MPI_INT, size, WORLD), MPI_ERR_ROOT); }
CLASS(ERR_GROUP, "Invalid group argument") { PROVOKE(MPI_Group_size(MPI_GROUP_NULL, &x), MPI_ERR_GROUP); }
CLASS(ERR_OP, "Invalid operation argument") { PROVOKE(MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_OP_NULL, WORLD), MPI_ERR_OP); }
CLASS(ERR_TOPOLOGY, "Invalid topology argument") { PROVOKE(MPI_Cartdim_get(WORLD, &x), MPI_ERR_TOPOLOGY); }
CLASS(ERR_DIMS, "Invalid dimension argument") { int d[2] = {5, 0}; PROVOKE(MPI_Dims_create(6, 2, d), MPI_ERR_DIMS); }
CLASS(ERR_ARG, "Invalid argument of some other kind") { PROVOKE(MPI_Comm_split(WORLD, -3, 0, &c), MPI_ERR_ARG); }
CLASS(ERR_TRUNCATE, "Message truncated on receive") {
  int a[4] = {0};
  MPI_Isend(a, 4, MPI_INT, rank, TAG, WORLD, &r);
  PROVOKE(MPI_Recv(&x, 1, MPI_INT, rank, TAG, WORLD, NOSTATUS), MPI_ERR_TRUNCATE);
  MPI_Wait(&r, NOSTATUS);
}
CLASS(ERR_IN_STATUS, "Error code is in status") {
  int a[4] = {0};
  MPI_Request q[1];
  MPI_Status s[1];
  MPI_Irecv(&x, 1, MPI_INT, rank, TAG, WORLD, q);
  MPI_Send(a, 4, MPI_INT, rank, TAG, WORLD);
  PROVOKE(MPI_Waitall(1, q, s), MPI_ERR_IN_STATUS);
}
CLASS(ERR_KEYVAL, "Invalid keyval argument") { PROVOKE(MPI_Comm_set_attr(WORLD, MPI_KEYVAL_INVALID, &x), MPI_ERR_KEYVAL); }
CLASS(ERR_INFO, "Invalid info argument") { MPI_Info none = MPI_INFO_NULL; PROVOKE(MPI_Info_free(&none), MPI_ERR_INFO); }
CLASS(ERR_INFO_KEY, "Key longer than MPI_MAX_INFO_KEY") { PROVOKE(MPI_Info_set(info, "", "1"), MPI_ERR_INFO_KEY); }
CLASS(ERR_INFO_NOKEY, "Invalid key passed to MPI_INFO_DELETE") { PROVOKE(MPI_Info_delete(info, "none"), MPI_ERR_INFO_NOKEY); }
CLASS(ERR_INFO_VALUE, "Value longer than MPI_MAX_INFO_VAL") {
  static char value[MPI_MAX_INFO_VAL + 20];
  memset(value, 'v', sizeof value - 1);
  PROVOKE(MPI_Info_set(info, "key", value), MPI_ERR_INFO_VALUE);
}
CLASS(ERR_PORT, "Invalid port name passed to MPI_COMM_CONNECT") { PROVOKE(MPI_Comm_connect("no such port", MPI_INFO_NULL, 0, MPI_COMM_SELF, &c), MPI_ERR_PORT); }
CLASS(ERR_WIN, "Invalid window argument") { PROVOKE(MPI_Win_fence(0, MPI_WIN_NULL), MPI_ERR_WIN); }
CLASS(ERR_SIZE, "Invalid size argument") { PROVOKE(MPI_Win_create(mem, -1, 1, MPI_INFO_NULL, MPI_COMM_SELF, &w), MPI_ERR_SIZE); }
CLASS(ERR_DISP, "Invalid displacement argument") { PROVOKE(MPI_Win_create(mem, 8, 0, MPI_INFO_NULL, MPI_COMM_SELF, &w), MPI_ERR_DISP); }
CLASS(ERR_LOCKTYPE, "Invalid locktype argument") { window(), PROVOKE(MPI_Win_lock(-5, 0, 0, w), MPI_ERR_LOCKTYPE), MPI_Win_free(&w); }
CLASS(ERR_RMA_SYNC, "Wrong synchronization of RMA calls") { window(), PROVOKE(MPI_Win_unlock(0, w), MPI_ERR_RMA_SYNC), MPI_Win_free(&w); }
CLASS(ERR_RMA_RANGE, "Target memory is not part of the window") {
  window(), MPI_Win_fence(0, w);
  PROVOKE(MPI_Put(&x, 1, MPI_INT, right, LENGTH(mem), 1, MPI_INT, w), MPI_ERR_RMA_RANGE);
  MPI_Win_fence(0, w), MPI_Win_free(&w);
}
CLASS(ERR_FILE, "Invalid file handle argument") { PROVOKE(MPI_File_read(MPI_FILE_NULL, &x, 1, MPI_INT, NOSTATUS), MPI_ERR_FILE); }
CLASS(ERR_AMODE, "Error related to the amode passed to MPI_FILE_OPEN") { PROVOKE(MPI_File_open(MPI_COMM_SELF, own("amode"), MPI_MODE_RDWR | MPI_MODE_RDONLY, MPI_INFO_NULL, &f), MPI_ERR_AMODE); }
CLASS(ERR_NO_SUCH_FILE, "File does not exist") { PROVOKE(MPI_File_open(MPI_COMM_SELF, own("none"), MPI_MODE_RDONLY, MPI_INFO_NULL, &f), MPI_ERR_NO_SUCH_FILE); }
CLASS(ERR_FILE_EXISTS, "File exists") {
  MPI_File again;
  file("exists", NEW);
  PROVOKE(MPI_File_open(MPI_COMM_SELF, text, NEW | MPI_MODE_EXCL, MPI_INFO_NULL, &again), MPI_ERR_FILE_EXISTS);
  gone();
}
CLASS(ERR_READ_ONLY, "Read-only file or file system") {
  file("readonly", NEW), MPI_File_close(&f), file("readonly", MPI_MODE_RDONLY);
  PROVOKE(MPI_File_write(f, &x, 1, MPI_INT, NOSTATUS), MPI_ERR_READ_ONLY);
  gone();
}
CLASS(ERR_UNSUPPORTED_DATAREP, "Unsupported datarep passed to MPI_FILE_SET_VIEW") { file("datarep", NEW), PROVOKE(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "none such", MPI_INFO_NULL), MPI_ERR_UNSUPPORTED_DATAREP), gone(); }
CLASS(ERR_UNSUPPORTED_OPERATION, "Unsupported operation, such as seeking on a file which supports sequential access only") { file("sequential", NEW & ~MPI_MODE_RDWR | MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL), PROVOKE(MPI_File_seek(f, 0, MPI_SEEK_SET), MPI_ERR_UNSUPPORTED_OPERATION), gone(); }
CLASS(ERR_IO, "Other I/O error") {
  file("io", NEW), MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
  PROVOKE(MPI_File_write(f, &x, 3, MPI_BYTE, NOSTATUS), MPI_ERR_IO);
  gone();
}
#ifdef __wasm__
/* Where MPICH 4.0 goes on, ends the process, or has other limits. */
CLASS(ERR_OTHER, "Known error not in this list") { PROVOKE(MPI_Init(NULL, NULL), MPI_ERR_OTHER); }
CLASS(ERR_ACCESS, "Permission denied") { file("access", NEW & ~MPI_MODE_RDWR | MPI_MODE_WRONLY), PROVOKE(MPI_File_read(f, &x, 1, MPI_INT, NOSTATUS), MPI_ERR_ACCESS), gone(); }
CLASS(ERR_ASSERT, "Invalid assertion argument") { window(), PROVOKE(MPI_Win_fence(3, w), MPI_ERR_ASSERT), MPI_Win_free(&w); }
CLASS(ERR_BAD_FILE, "Invalid file name (e.g., path name too long)") { PROVOKE(MPI_File_open(MPI_COMM_SELF, "a b", NEW, MPI_INFO_NULL, &f), MPI_ERR_BAD_FILE); }
CLASS(ERR_BASE, "Invalid base passed to MPI_FREE_MEM") {
  void *p;
  MPI_Alloc_mem(64, MPI_INFO_NULL, &p);
  PROVOKE(MPI_Free_mem((char *)p + 16), MPI_ERR_BASE);
  CHECK(MPI_Free_mem(p) == MPI_SUCCESS);
  PROVOKE(MPI_Free_mem(p), MPI_ERR_BASE);
  PROVOKE(MPI_Free_mem(mem), MPI_ERR_BASE);
}
CLASS(ERR_NO_MEM, "MPI_ALLOC_MEM failed because memory is exhausted") { void *p; PROVOKE(MPI_Alloc_mem(0x7fff0000, MPI_INFO_NULL, &p), MPI_ERR_NO_MEM); }
static int extent_of(MPI_Datatype of, MPI_Aint *extent, void *state) { MPI_Aint lb; return MPI_Type_get_extent(of, &lb, extent); }
static int no_conversion(void *buffer, MPI_Datatype of, int count, void *file, MPI_Offset position, void *state) { return MPI_ERR_OTHER; }
CLASS(ERR_CONVERSION, "An error occurred in a user supplied data conversion function") {
  static int registered;
  char raw[4];
  if (!registered++) MPI_Register_datarep("no conversion", no_conversion, no_conversion, extent_of, NULL);
  file("conversion", NEW), MPI_File_write(f, &x, 1, MPI_INT, NOSTATUS);
  MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "no conversion", MPI_INFO_NULL);
  PROVOKE(MPI_File_write(f, &x, 1, MPI_INT, NOSTATUS), MPI_ERR_CONVERSION);
  PROVOKE(MPI_File_read(f, raw, 1, MPI_INT, NOSTATUS), MPI_ERR_CONVERSION);
  gone();
}
CLASS(ERR_DUP_DATAREP, "Conversion functions could not be registered because a data representation identifier that was already defined was passed") { PROVOKE(MPI_Register_datarep("native", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, extent_of, NULL), MPI_ERR_DUP_DATAREP); }
CLASS(ERR_FILE_IN_USE, "File operation could not be completed, as the file is currently open by some process") { file("inuse", NEW), PROVOKE(MPI_File_delete(text, MPI_INFO_NULL), MPI_ERR_FILE_IN_USE), gone(); }
CLASS(ERR_NAME, "Invalid service name passed to MPI_LOOKUP_NAME") { char port[MPI_MAX_PORT_NAME]; PROVOKE(MPI_Lookup_name("nobody published this", MPI_INFO_NULL, port), MPI_ERR_NAME); }
CLASS(ERR_NOT_SAME, "Collective argument not identical on all processes") {
  if (size == 1) return;
  PROVOKE(MPI_File_open(WORLD, "same", MPI_MODE_CREATE | (rank ? MPI_MODE_RDWR : MPI_MODE_WRONLY), MPI_INFO_NULL, &f), MPI_ERR_NOT_SAME);
}
CLASS(ERR_QUOTA, "Quota exceeded") { file("quota", NEW), PROVOKE(MPI_File_set_size(f, (MPI_Offset)1 << 40), MPI_ERR_QUOTA), gone(); }
CLASS(ERR_RMA_ATTACH, "Memory cannot be attached (e.g., because of resource exhaustion)") {
  MPI_Win_create_dynamic(MPI_INFO_NULL, WORLD, &w), MPI_Win_set_errhandler(w, wins_), MPI_Win_attach(w, mem, 16);
  PROVOKE(MPI_Win_attach(w, mem + 2, 4), MPI_ERR_RMA_ATTACH);
  MPI_Win_detach(w, mem), MPI_Win_free(&w);
}
CLASS(ERR_RMA_SHARED, "Memory cannot be shared") { int *base; if (size > 1) PROVOKE(MPI_Win_allocate_shared(64, 4, MPI_INFO_NULL, WORLD, &base, &w), MPI_ERR_RMA_SHARED); }
CLASS(ERR_RMA_FLAVOR, "Passed window has the wrong flavor for the called function") { window(), PROVOKE(MPI_Win_attach(w, mem, 4), MPI_ERR_RMA_FLAVOR), MPI_Win_free(&w); }
CLASS(ERR_SERVICE, "Invalid service name passed to MPI_UNPUBLISH_NAME") { PROVOKE(MPI_Unpublish_name("nobody published this", MPI_INFO_NULL, "x"), MPI_ERR_SERVICE); }
CLASS(ERR_SPAWN, "Error in spawning processes") { PROVOKE(MPI_Comm_spawn("./other", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &c, MPI_ERRCODES_IGNORE), MPI_ERR_SPAWN); }
CLASS(ERR_VALUE_TOO_LARGE, "Value is too large to store") { MPI_Status s; PROVOKE(MPI_Status_set_elements_x(&s, MPI_DOUBLE, (MPI_Count)1 << 62), MPI_ERR_VALUE_TOO_LARGE); }
CLASS(ERR_SESSION, "Invalid session argument") { MPI_Session none = MPI_SESSION_NULL; PROVOKE(MPI_Session_finalize(&none), MPI_ERR_SESSION); }
CLASS(ERR_ERRHANDLER, "Invalid errhandler argument") {
  MPI_Errhandler h;
  PROVOKE(MPI_Comm_set_errhandler(WORLD, MPI_ERRHANDLER_NULL), MPI_ERR_ERRHANDLER);
  h = (MPI_Errhandler)(intptr_t)0x7654321;
  PROVOKE(MPI_Comm_set_errhandler(WORLD, h), MPI_ERR_ERRHANDLER);
}
#endif
/* What no call of this library answers (docs/mpi-coverage.md says why): a program may raise it, and it is treated like any other. */
#define RAISED(name, means)                                                                                             \
  CLASS(name, means) {                                                                                                  \
    CHECK((handled = 0, MPI_Comm_call_errhandler(WORLD, MPI_##name)) == MPI_SUCCESS);                                   \
    provoked(MPI_##name, MPI_##name, #name);                                                                            \
  }
RAISED(ERR_UNKNOWN, "Unknown error")
RAISED(ERR_INTERN, "Internal MPI (implementation) error")
RAISED(ERR_PENDING, "Pending request")
RAISED(ERR_NO_SPACE, "Not enough space")
RAISED(ERR_RMA_CONFLICT, "Conflicting accesses to window")
#ifdef __wasm__
RAISED(ERR_PROC_ABORTED, "Operation failed because a peer process has aborted")
RAISED(ERR_ABI, "Invalid or unsupported use of the ABI")
#endif
