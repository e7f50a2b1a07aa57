/* MPI 4.1 chapter 14. Runs under any MPI: in the working directory, on any number of processes. */
#include "check.h"
#define FAILS(call, class) do { int code_ = (call); checks_++; if (class_of(code_) != (class)) { failures_++; printf("%d: line %d: %s answers %d, not %s\n", rank_, __LINE__, #call, class_of(code_), #class); } } while (0)
#define N 24
static int handled; static MPI_File handled_file;
static void on_error(MPI_File *f, int *code, ...) { (void)code; handled++; handled_file = *f; }
static int count_of(MPI_Status *s, MPI_Datatype t) { int n; MPI_Get_count(s, t, &n); return n; }
static MPI_Comm W;

static void opening(void) {
  MPI_File f, g; int n; MPI_Info info; MPI_Group group;
  if (rank_ == 0) MPI_File_delete("open.dat", MPI_INFO_NULL);
  MPI_Barrier(W);
  /* "MPI_ERR_NO_SUCH_FILE: File does not exist", and the default handler of files is MPI_ERRORS_RETURN (14.7) */
  FAILS(MPI_File_open(W, "open.dat", MPI_MODE_RDONLY, MPI_INFO_NULL, &f), MPI_ERR_NO_SUCH_FILE);
  FAILS(MPI_File_open(W, "open.dat", MPI_MODE_RDONLY | MPI_MODE_WRONLY, MPI_INFO_NULL, &f), MPI_ERR_AMODE);
  FAILS(MPI_File_open(W, "open.dat", MPI_MODE_CREATE, MPI_INFO_NULL, &f), MPI_ERR_AMODE);
  FAILS(MPI_File_open(W, "open.dat", MPI_MODE_CREATE | MPI_MODE_RDONLY, MPI_INFO_NULL, &f), MPI_ERR_AMODE);
  FAILS(MPI_File_open(W, "open.dat", MPI_MODE_SEQUENTIAL | MPI_MODE_RDWR, MPI_INFO_NULL, &f), MPI_ERR_AMODE);
  MPI_Info_create(&info); MPI_Info_set(info, "cb_buffer_size", "65536"); MPI_Info_set(info, "no_such_hint", "1");
  CHECK(MPI_File_open(W, "ufs:./open.dat", MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_WRONLY, info, &f) == MPI_SUCCESS);
  MPI_File_get_amode(f, &n); CHECK(n == (MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_WRONLY));
  MPI_File_get_group(f, &group); MPI_Group_size(group, &n); CHECK(n == size_); MPI_Group_rank(group, &n); CHECK(n == rank_); MPI_Group_free(&group);
  MPI_Info used; MPI_File_get_info(f, &used); CHECK(used != MPI_INFO_NULL); MPI_Info_free(&used); MPI_Info_free(&info);
  CHECK(MPI_File_set_info(f, MPI_INFO_NULL) == MPI_SUCCESS || 1);
  FAILS(MPI_File_read(f, &n, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_ACCESS);
  FAILS(MPI_File_write_at(f, -1, &n, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_ARG);
  FAILS(MPI_File_write(f, &n, -1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_COUNT);
  FAILS(MPI_File_write(f, &n, 1, MPI_DATATYPE_NULL, MPI_STATUS_IGNORE), MPI_ERR_TYPE);
  MPI_File_close(&f); CHECK(f == MPI_FILE_NULL);
  FAILS(MPI_File_open(W, "open.dat", MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR, MPI_INFO_NULL, &f), MPI_ERR_FILE_EXISTS);
  FAILS(MPI_File_read(MPI_FILE_NULL, &n, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_FILE);
  MPI_File_open(W, "open.dat", MPI_MODE_RDONLY | MPI_MODE_UNIQUE_OPEN, MPI_INFO_NULL, &f);
  FAILS(MPI_File_write(f, &n, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_READ_ONLY);
  MPI_Status s; n = 7; MPI_File_read(f, &n, 1, MPI_INT, &s); CHECK(count_of(&s, MPI_INT) == 0 && n == 7);
  MPI_File_close(&f);
  /* "MPI_MODE_DELETE_ON_CLOSE"; every process may open a file of its own. */
  char name[32]; sprintf(name, "own%d.dat", rank_);
  MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &f);
  MPI_File_write(f, name, 5, MPI_CHAR, &s); CHECK(count_of(&s, MPI_CHAR) == 5); MPI_File_close(&f);
  FAILS(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &f), MPI_ERR_NO_SUCH_FILE);
  FAILS(MPI_File_delete(name, MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE);
  /* Error handlers: of a file, and of MPI_FILE_NULL, which new files get. */
  MPI_Errhandler eh, was; MPI_File_create_errhandler(on_error, &eh);
  MPI_File_get_errhandler(MPI_FILE_NULL, &was); CHECK(was == MPI_ERRORS_RETURN);
  MPI_File_set_errhandler(MPI_FILE_NULL, eh);
  MPI_File_open(W, "open.dat", MPI_MODE_RDONLY, MPI_INFO_NULL, &f);
  handled = 0; MPI_File_write(f, &n, 1, MPI_INT, MPI_STATUS_IGNORE); CHECK(handled == 1 && handled_file == f);
  MPI_File_call_errhandler(f, MPI_ERR_OTHER); CHECK(handled == 2);
  MPI_File_open(W, "none.dat", MPI_MODE_RDONLY, MPI_INFO_NULL, &g); CHECK(handled == 3 && handled_file == MPI_FILE_NULL);
  MPI_File_set_errhandler(f, MPI_ERRORS_RETURN); MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
#ifdef __wasm__ /* MPICH 4.0 stumbles over it */
  MPI_Errhandler_free(&eh);
#endif
  MPI_File_close(&f);
  /* What is removed by POSIX's means is gone as well. */
  MPI_File_open(W, "gone.dat", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f); MPI_File_close(&f);
  if (rank_ == 0) CHECK(remove("gone.dat") == 0);
  MPI_Barrier(W);
  FAILS(MPI_File_open(W, "gone.dat", MPI_MODE_RDONLY, MPI_INFO_NULL, &f), MPI_ERR_NO_SUCH_FILE);
  MPI_Barrier(W);
}

static void sizes(void) {
  MPI_File f; MPI_Offset o; int flag;
  MPI_File_open(W, "size.dat", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);
  MPI_File_set_size(f, 100); MPI_File_get_size(f, &o); CHECK(o == 100);
  MPI_File_preallocate(f, 50); MPI_File_get_size(f, &o); CHECK(o == 100);
  MPI_File_preallocate(f, 150); MPI_File_get_size(f, &o); CHECK(o == 150);
  MPI_File_set_size(f, 10); MPI_File_get_size(f, &o); CHECK(o == 10);
  FAILS(MPI_File_set_size(f, -1), MPI_ERR_ARG); MPI_Barrier(W);
  MPI_File_get_atomicity(f, &flag); CHECK(!flag); MPI_File_set_atomicity(f, 1); MPI_File_get_atomicity(f, &flag); CHECK(flag);
  /* "if atomic mode is set, … the data written by one process is immediately visible" after a barrier (14.6) */
  int x = 1000 + rank_, y = -1; MPI_File_write_at(f, 4 * rank_, &x, 4, MPI_BYTE, MPI_STATUS_IGNORE); MPI_Barrier(W);
  MPI_File_read_at(f, 4 * ((rank_ + 1) % size_), &y, 4, MPI_BYTE, MPI_STATUS_IGNORE); CHECK(y == 1000 + (rank_ + 1) % size_);
  MPI_File_close(&f);
  MPI_File_open(W, "size.dat", MPI_MODE_APPEND | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &f);
  MPI_Offset end; MPI_File_get_size(f, &end); MPI_File_get_position(f, &o); CHECK(o == end);
  MPI_File_get_position_shared(f, &o); CHECK(o == end);
  MPI_File_close(&f);
}

static void pointers(void) {
  MPI_File f; MPI_Status s; MPI_Offset o; int a[N], b[N], i; MPI_Request q, r[2]; int flag;
  MPI_File_open(W, "pointers.dat", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);
  MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
  for (i = 0; i < N; i++) a[i] = rank_ * N + i;
  MPI_File_seek(f, rank_ * N, MPI_SEEK_SET); MPI_File_write(f, a, N / 2, MPI_INT, &s); CHECK(count_of(&s, MPI_INT) == N / 2);
  MPI_File_get_position(f, &o); CHECK(o == rank_ * N + N / 2);
  MPI_File_iwrite(f, a + N / 2, N / 2, MPI_INT, &q); MPI_File_get_position(f, &o); CHECK(o == (rank_ + 1) * N); MPI_Wait(&q, &s); CHECK(count_of(&s, MPI_INT) == N / 2);
  MPI_File_sync(f); MPI_Barrier(W); MPI_File_sync(f);
  MPI_File_seek(f, -(rank_ + 1) * N, MPI_SEEK_CUR); MPI_File_get_position(f, &o); CHECK(o == 0);
  FAILS(MPI_File_seek(f, -1, MPI_SEEK_SET), MPI_ERR_ARG); FAILS(MPI_File_seek(f, 0, 12345), MPI_ERR_ARG);
  MPI_File_seek(f, -N, MPI_SEEK_END); MPI_File_get_position(f, &o); CHECK(o == (size_ - 1) * N);
  memset(b, 0, sizeof b); MPI_File_read(f, b, N, MPI_INT, &s); for (flag = 1, i = 0; i < N; i++) flag &= b[i] == (size_ - 1) * N + i; CHECK(flag);
  /* At the end: less than asked for, then nothing. */
  MPI_File_seek(f, -3, MPI_SEEK_END); MPI_File_read(f, b, N, MPI_INT, &s); CHECK(count_of(&s, MPI_INT) == 3); MPI_File_read(f, b, N, MPI_INT, &s); CHECK(count_of(&s, MPI_INT) == 0);
  MPI_File_get_byte_offset(f, 5, &o); CHECK(o == 20);
  /* Explicit offsets leave the pointer alone. */
  MPI_File_seek(f, 7, MPI_SEEK_SET); MPI_File_read_at(f, 2, b, 1, MPI_INT, &s); CHECK(b[0] == 2); MPI_File_get_position(f, &o); CHECK(o == 7);
  MPI_File_iread_at(f, 3, b, 1, MPI_INT, &r[0]); MPI_File_iread(f, b + 1, 1, MPI_INT, &r[1]); MPI_Waitall(2, r, MPI_STATUSES_IGNORE); CHECK(b[0] == 3 && b[1] == 7);
  MPI_File_iread_at(f, 4, b, 1, MPI_INT, &q); do MPI_Test(&q, &flag, &s); while (!flag); CHECK(b[0] == 4 && count_of(&s, MPI_INT) == 1);
  MPI_File_iread_at_all(f, rank_, b, 1, MPI_INT, &q); MPI_Wait(&q, &s); CHECK(b[0] == rank_);
  MPI_File_seek(f, rank_, MPI_SEEK_SET); MPI_File_iread_all(f, b, 1, MPI_INT, &q); MPI_Wait(&q, &s); CHECK(b[0] == rank_);
  MPI_Barrier(W); /* whoever looks for the end has found it */
  b[0] = 5 + rank_; MPI_File_iwrite_at_all(f, (size_ + rank_) * N, b, 1, MPI_INT, &q); MPI_Wait(&q, &s); CHECK(count_of(&s, MPI_INT) == 1);
  b[1] = -1; MPI_File_read_at_all(f, (size_ + rank_) * N, b + 1, 1, MPI_INT, &s); CHECK(b[1] == 5 + rank_);
  MPI_File_seek(f, (size_ + rank_) * N, MPI_SEEK_SET); b[0] = 77; MPI_File_iwrite_all(f, b, 1, MPI_INT, &q); MPI_Wait(&q, &s);
  MPI_File_iwrite_at(f, (size_ + rank_) * N + 1, b, 1, MPI_INT, &q); MPI_Wait(&q, &s); b[2] = b[3] = 0; MPI_File_read_at(f, (size_ + rank_) * N, b + 2, 2, MPI_INT, &s); CHECK(b[2] == 77 && b[3] == 77);
  /* Split collective operations: one at a time. */
  MPI_File_seek(f, rank_ * N, MPI_SEEK_SET); MPI_File_read_all_begin(f, b, N, MPI_INT); CHECK(MPI_File_read_at_all_begin(f, 0, a, 1, MPI_INT) != MPI_SUCCESS);
  MPI_File_read_all_end(f, b, &s); CHECK(count_of(&s, MPI_INT) == N && b[N - 1] == rank_ * N + N - 1);
  CHECK(MPI_File_read_all_end(f, b, &s) != MPI_SUCCESS);
  MPI_File_write_at_all_begin(f, rank_ * N, b, N, MPI_INT); MPI_File_write_at_all_end(f, b, &s); CHECK(count_of(&s, MPI_INT) == N);
  MPI_File_seek(f, rank_ * N, MPI_SEEK_SET); MPI_File_write_all_begin(f, b, N, MPI_INT); MPI_File_write_all_end(f, b, &s); CHECK(count_of(&s, MPI_INT) == N);
  MPI_File_read_at_all_begin(f, rank_ * N, a, N, MPI_INT); MPI_File_read_at_all_end(f, a, &s); CHECK(!memcmp(a, b, sizeof a));
  CHECK(MPI_File_write_at_c(f, rank_ * N, b, (MPI_Count)N, MPI_INT, &s) == MPI_SUCCESS);
  MPI_File_close(&f);
}

static void shared(void) {
  MPI_File f; MPI_Status s; MPI_Offset o; int i, n = size_, flag, *all = calloc(4 * size_ + 8, sizeof(int)); MPI_Request q;
  MPI_File_open(W, "shared.dat", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);
  MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
  /* "collective … in the order determined by the ranks" (14.4.4) */
  int two[3] = {rank_, rank_ + 100, rank_ + 200}; MPI_File_write_ordered(f, two, 2 + rank_ % 2, MPI_INT, &s); CHECK(count_of(&s, MPI_INT) == 2 + rank_ % 2);
  int total = 2 * n + n / 2; MPI_File_get_position_shared(f, &o); CHECK(o == total);
  MPI_Barrier(W);
  MPI_File_seek_shared(f, 0, MPI_SEEK_SET); int got[3] = {-1, -1, -1}; MPI_File_read_ordered(f, got, 2 + rank_ % 2, MPI_INT, &s); CHECK(got[0] == rank_ && got[1] == rank_ + 100 && (rank_ % 2 == 0 || got[2] == rank_ + 200));
  MPI_File_seek_shared(f, -total, MPI_SEEK_CUR); MPI_File_get_position_shared(f, &o); CHECK(o == 0);
  MPI_Barrier(W);
  MPI_File_seek_shared(f, 0, MPI_SEEK_END); MPI_File_get_position_shared(f, &o); CHECK(o == total);
  MPI_Barrier(W);
  /* Everybody's shared access gets a place of its own. */
  int x = 1000 + rank_; MPI_File_write_shared(f, &x, 1, MPI_INT, &s); CHECK(count_of(&s, MPI_INT) == 1); x += 1000; MPI_File_iwrite_shared(f, &x, 1, MPI_INT, &q); MPI_Wait(&q, &s); CHECK(count_of(&s, MPI_INT) == 1);
  MPI_File_sync(f); MPI_Barrier(W); MPI_File_sync(f);
  MPI_File_read_at(f, total, all, 2 * n, MPI_INT, &s); CHECK(count_of(&s, MPI_INT) == 2 * n);
  for (flag = 1, i = 0; i < n; i++) { int ones = 0, twos = 0; for (int k = 0; k < 2 * n; k++) { ones += all[k] == 1000 + i; twos += all[k] == 2000 + i; } flag &= ones == 1 && twos == 1; } CHECK(flag);
  MPI_File_get_size(f, &o); CHECK(o == 4 * (total + 2 * n));
  MPI_File_seek_shared(f, 0, MPI_SEEK_SET); x = -1; MPI_File_read_shared(f, &x, 1, MPI_INT, &s); CHECK(count_of(&s, MPI_INT) == 1 && x >= 0); MPI_File_iread_shared(f, &x, 1, MPI_INT, &q); MPI_Wait(&q, &s); CHECK(count_of(&s, MPI_INT) == 1);
  MPI_Barrier(W); MPI_File_get_position_shared(f, &o); CHECK(o == 2 * n); MPI_Barrier(W);
  MPI_File_seek_shared(f, 0, MPI_SEEK_SET);
  MPI_File_write_ordered_begin(f, two, 1, MPI_INT); MPI_File_write_ordered_end(f, two, &s); CHECK(count_of(&s, MPI_INT) == 1);
  MPI_File_seek_shared(f, 0, MPI_SEEK_SET); x = -1; MPI_File_read_ordered_begin(f, &x, 1, MPI_INT); MPI_File_read_ordered_end(f, &x, &s); CHECK(x == rank_);
#ifdef __wasm__ /* with MPICH rank 0 alone hears of it */
  FAILS(MPI_File_seek_shared(f, -5, MPI_SEEK_SET), MPI_ERR_ARG);
#endif
  MPI_File_close(&f);
  /* Sequential files know shared pointers only. */
  MPI_File_open(W, "shared.dat", MPI_MODE_RDONLY | MPI_MODE_SEQUENTIAL, MPI_INFO_NULL, &f);
  FAILS(MPI_File_read_at(f, 0, &x, 1, MPI_INT, &s), MPI_ERR_UNSUPPORTED_OPERATION); FAILS(MPI_File_read(f, &x, 1, MPI_INT, &s), MPI_ERR_UNSUPPORTED_OPERATION);
  FAILS(MPI_File_seek(f, 0, MPI_SEEK_SET), MPI_ERR_UNSUPPORTED_OPERATION);
  x = -1; MPI_File_read_shared(f, &x, 4, MPI_BYTE, &s); CHECK(count_of(&s, MPI_BYTE) == 4);
  MPI_File_close(&f);
  free(all);
}

static void views(void) {
  MPI_File f; MPI_Status s; MPI_Offset o; int i, k, flag; char rep[MPI_MAX_DATAREP_STRING]; MPI_Datatype e, t, u, v, mine;
  MPI_File_open(W, "views.dat", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);
  MPI_File_get_view(f, &o, &e, &t, rep); CHECK(o == 0 && e == MPI_BYTE && t == MPI_BYTE && !strcmp(rep, "native"));
  /* Processes take turns of three ints: what one writes lies between what the others write (14.3, "complementary filetypes"). */
  MPI_Type_vector(4, 3, 3 * size_, MPI_INT, &u); MPI_Type_create_resized(u, 0, 4 * 3 * size_ * sizeof(int), &mine); MPI_Type_commit(&mine);
  MPI_File_set_view(f, 8 + rank_ * 3 * sizeof(int), MPI_INT, mine, "native", MPI_INFO_NULL);
  MPI_File_get_view(f, &o, &e, &t, rep); CHECK(o == (MPI_Offset)(8 + rank_ * 3 * sizeof(int)) && e == MPI_INT); MPI_Type_size(t, &i); CHECK(i == 48); MPI_Type_free(&t);
  int a[30], b[30]; for (i = 0; i < 30; i++) a[i] = rank_ * 1000 + i;
  MPI_File_write_all(f, a, 30, MPI_INT, &s); CHECK(count_of(&s, MPI_INT) == 30);
  MPI_File_get_position(f, &o); CHECK(o == 30); MPI_File_get_byte_offset(f, 4, &o); CHECK(o == (MPI_Offset)(8 + (rank_ * 3 + 3 * size_ + 1) * sizeof(int)));
  memset(b, 0, sizeof b); MPI_File_read_at_all(f, 0, b, 30, MPI_INT, &s); CHECK(!memcmp(a, b, sizeof a));
  MPI_File_read_at(f, 5, b, 4, MPI_INT, &s); CHECK(!memcmp(b, a + 5, 16));
  MPI_File_sync(f); MPI_Barrier(W); MPI_File_sync(f);
  MPI_File_set_view(f, 8, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
  for (flag = 1, i = 0; i < 10; i++) for (k = 0; k < size_; k++) { MPI_File_read(f, b, 3, MPI_INT, &s); flag &= b[0] == k * 1000 + 3 * i && b[2] == b[0] + 2; } CHECK(flag);
  /* Memory of any layout, too: every other int. */
  MPI_Type_vector(5, 1, 2, MPI_INT, &v); MPI_Type_commit(&v);
  for (i = 0; i < 30; i++) a[i] = -i; MPI_File_write_at(f, 100 * size_ + 5 * rank_, a, 1, v, &s); CHECK(count_of(&s, v) == 1);
  MPI_File_read_at(f, 100 * size_ + 5 * rank_, b, 5, MPI_INT, &s); for (flag = 1, i = 0; i < 5; i++) flag &= b[i] == -2 * i; CHECK(flag);
  memset(b, 9, sizeof b); MPI_File_read_at(f, 100 * size_ + 5 * rank_, b, 1, v, &s); for (flag = 1, i = 0; i < 5; i++) flag &= b[2 * i] == -2 * i && b[2 * i + 1] == 0x09090909; CHECK(flag);
  /* A block of a matrix that is spread over the processes. */
  int sizes[2] = {4, 6 * size_}, subs[2] = {4, 6}, starts[2] = {0, 6 * rank_};
  MPI_Type_create_subarray(2, sizes, subs, starts, MPI_ORDER_C, MPI_DOUBLE, &t); MPI_Type_commit(&t);
  MPI_File_set_size(f, 0); MPI_File_set_view(f, 0, MPI_DOUBLE, t, "native", MPI_INFO_NULL);
  double m[24], w[24]; for (i = 0; i < 24; i++) m[i] = rank_ + i / 100.0; MPI_File_write_all(f, m, 24, MPI_DOUBLE, &s);
  MPI_File_sync(f); MPI_Barrier(W); MPI_File_sync(f);
  MPI_File_get_size(f, &o); CHECK(o == (MPI_Offset)(24 * size_ * sizeof(double)));
  MPI_File_seek(f, 0, MPI_SEEK_SET); MPI_File_read_all(f, w, 24, MPI_DOUBLE, &s); CHECK(!memcmp(m, w, sizeof m));
  MPI_File_seek(f, 0, MPI_SEEK_END); MPI_File_get_position(f, &o); CHECK(o == 24);
  FAILS(MPI_File_write(f, m, 3, MPI_BYTE, &s), MPI_ERR_IO);
  FAILS(MPI_File_set_view(f, -5, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), MPI_ERR_ARG);
  FAILS(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "no such", MPI_INFO_NULL), MPI_ERR_UNSUPPORTED_DATAREP);
  FAILS(MPI_File_set_view(f, 0, MPI_DOUBLE, MPI_INT, "native", MPI_INFO_NULL), MPI_ERR_ARG);
  MPI_Type_free(&t); MPI_Type_free(&u); MPI_Type_free(&v); MPI_Type_free(&mine);
  int ones[2] = {1, 1}, back[2] = {3, 0}; MPI_Type_indexed(2, ones, back, MPI_INT, &t); MPI_Type_commit(&t);
  FAILS(MPI_File_set_view(f, 0, MPI_INT, t, "native", MPI_INFO_NULL), MPI_ERR_IO); MPI_Type_free(&t);
  MPI_Aint extent; MPI_File_get_type_extent(f, MPI_DOUBLE, &extent); CHECK(extent == 8);
  MPI_File_close(&f);
}

static void representations(void) {
  MPI_File f; MPI_Status s; int x[2] = {0x01020304, -2}, y[2] = {0, 0}; unsigned char raw[8]; double d = 1.5, z = 0;
  MPI_File_open(W, "external.dat", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);
  MPI_File_set_view(f, 16 * rank_, MPI_INT, MPI_INT, "external32", MPI_INFO_NULL);
  MPI_File_write(f, x, 2, MPI_INT, &s); CHECK(count_of(&s, MPI_INT) == 2); MPI_File_read_at(f, 0, y, 2, MPI_INT, &s); CHECK(y[0] == x[0] && y[1] == x[1]);
  MPI_File_set_view(f, 16 * rank_, MPI_DOUBLE, MPI_DOUBLE, "external32", MPI_INFO_NULL); MPI_File_write_at(f, 1, &d, 1, MPI_DOUBLE, &s); MPI_File_read_at(f, 1, &z, 1, MPI_DOUBLE, &s); CHECK(z == 1.5);
  MPI_File_set_view(f, 16 * rank_, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
  MPI_File_read_at(f, 0, raw, 8, MPI_BYTE, &s); CHECK(raw[0] == 1 && raw[1] == 2 && raw[2] == 3 && raw[3] == 4 && raw[7] == 0xfe);
  MPI_File_read_at(f, 8, raw, 8, MPI_BYTE, &s); CHECK(raw[0] == 0x3f && raw[1] == 0xf8 && raw[7] == 0);
  CHECK(MPI_File_set_view(f, 0, MPI_BYTE, MPI_BYTE, "internal", MPI_INFO_NULL) == MPI_SUCCESS);
#ifdef __wasm__
  FAILS(MPI_Register_datarep("native", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, NULL, NULL), MPI_ERR_DUP_DATAREP);
#endif
  MPI_File_close(&f);
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_WORLD, &W);
  /* With an argument: what has most of its state in flight. */
  if (argc > 1) shared(), representations();
  else opening(), sizes(), pointers(), shared(), views(), representations();
  MPI_Comm_free(&W);
  return finish();
}
