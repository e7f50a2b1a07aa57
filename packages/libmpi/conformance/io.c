/* Files (MPI 4.1 chapter 14): opening, views, all kinds of positions, collective and split access, external32, consistency. ranks: 1 3 8 | 13 */
#include "check.h"

/* A new file of all ranks, which goes when it is closed. */
static MPI_File fresh(const char *name) {
  MPI_File f = MPI_FILE_NULL;
  if (rank == 0) MPI_File_delete(name, MPI_INFO_NULL);
  MPI_Barrier(WORLD);
  CHECK(MPI_File_open(WORLD, name, MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &f) == MPI_SUCCESS);
  return f;
}
/* What was written by everybody is there for everybody. */
static void settle(MPI_File f) {
  MPI_File_sync(f);
  MPI_Barrier(WORLD);
  MPI_File_sync(f);
}
static MPI_Offset size_of(MPI_File f) {
  MPI_Offset n = -1;
  MPI_File_get_size(f, &n);
  return n;
}
static MPI_Offset position(MPI_File f) {
  MPI_Offset n = -1;
  MPI_File_get_position(f, &n);
  return n;
}
static int ints(MPI_File f, MPI_Offset bytes, int *to, int n) {
  MPI_Status s;
  MPI_File_set_view(f, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
  MPI_File_read_at(f, bytes, to, n, MPI_INT, &s);
  return count_of(&s, MPI_INT);
}

TEST(open_excl, 1, "§14.2.1: MPI_MODE_EXCL -- error if creating file that already exists") {
  MPI_File f = fresh("io-excl"), g;
  CHECK(class_of(MPI_File_open(WORLD, "io-excl", MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR, MPI_INFO_NULL, &g)) == MPI_ERR_FILE_EXISTS);
  MPI_File_close(&f);
  CHECK(f == MPI_FILE_NULL);
}
TEST(open_missing, 1, "§14.7: MPI_ERR_NO_SUCH_FILE: File does not exist; the default file error handler is MPI_ERRORS_RETURN") {
  MPI_File f;
  CHECK(class_of(MPI_File_open(WORLD, "io-none", MPI_MODE_RDONLY, MPI_INFO_NULL, &f)) == MPI_ERR_NO_SUCH_FILE);
}
TEST(open_amode, 1, "§14.2.1: exactly one of MPI_MODE_RDONLY, MPI_MODE_RDWR, or MPI_MODE_WRONLY must be specified") {
  MPI_File f;
  CHECK(class_of(MPI_File_open(WORLD, "io-amode", MPI_MODE_CREATE, MPI_INFO_NULL, &f)) == MPI_ERR_AMODE);
  CHECK(class_of(MPI_File_open(WORLD, "io-amode", MPI_MODE_CREATE | MPI_MODE_RDONLY, MPI_INFO_NULL, &f)) == MPI_ERR_AMODE);
}
TEST(delete_on_close, 1, "§14.2.2: If the file was opened with MPI_MODE_DELETE_ON_CLOSE, the file is deleted when it is closed") {
  MPI_File f = fresh("io-gone");
  int x = 1;
  MPI_File_write_at(f, 0, &x, 1, MPI_INT, NOSTATUS);
  MPI_File_close(&f);
  MPI_Barrier(WORLD);
  CHECK(class_of(MPI_File_open(WORLD, "io-gone", MPI_MODE_RDONLY, MPI_INFO_NULL, &f)) == MPI_ERR_NO_SUCH_FILE);
}
TEST(wrong_direction, 1, "§14.7: MPI_ERR_READ_ONLY: Read-only file or file system; MPI_ERR_ACCESS: Permission denied") {
  MPI_File f, g;
  int x = 5;
  if (rank == 0) MPI_File_delete("io-way", MPI_INFO_NULL);
  MPI_Barrier(WORLD);
  MPI_File_open(WORLD, "io-way", MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &f);
  CHECK(class_of(MPI_File_read_at(f, 0, &x, 1, MPI_INT, NOSTATUS)) == MPI_ERR_ACCESS);
  MPI_File_close(&f);
  MPI_File_open(WORLD, "io-way", MPI_MODE_RDONLY | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &g);
  CHECK(class_of(MPI_File_write_at(g, 0, &x, 1, MPI_INT, NOSTATUS)) == MPI_ERR_READ_ONLY);
  MPI_File_close(&g);
}
TEST(sizes, 1, "§14.2.4, §14.2.5: if size is larger than the current file size ... ; preallocate: if size is less than the current size, the file size is unchanged") {
  MPI_File f = fresh("io-size");
  MPI_Offset n[4];
  /* The calls are collective, but nobody has to wait in them: what one changes next, another may not have looked at yet. */
  for (int i = 0; i < 4; i++) {
    if (i == 0) MPI_File_set_size(f, 100);
    if (i == 1) MPI_File_preallocate(f, 50);
    if (i == 2) MPI_File_preallocate(f, 150);
    if (i == 3) MPI_File_set_size(f, 10);
    MPI_Barrier(WORLD);
    n[i] = size_of(f);
    MPI_Barrier(WORLD);
  }
  SAY("%d %d %d %d", (int)n[0], (int)n[1], (int)n[2], (int)n[3]);
  MPI_File_close(&f);
}
TEST(asked, 1, "§14.2.6: MPI_FILE_GET_GROUP returns a duplicate of the group of the communicator; MPI_FILE_GET_AMODE the access mode") {
  MPI_File f = fresh("io-asked");
  MPI_Group g;
  int amode, n, me;
  MPI_File_get_amode(f, &amode);
  CHECK(amode == (MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE));
  MPI_File_get_group(f, &g);
  MPI_Group_size(g, &n);
  MPI_Group_rank(g, &me);
  CHECK(n == size && me == rank);
  MPI_Group_free(&g);
  MPI_File_close(&f);
}
TEST(explicit_offsets, 1, "§14.4.2: data access with explicit offsets; no file pointer is used or updated") {
  MPI_File f = fresh("io-at");
  int a[4], b[4] = {0};
  MPI_Status s;
  fill(a, 4, rank);
  MPI_File_write_at(f, 16 * rank, a, 4, MPI_INT, &s);
  CHECK(count_of(&s, MPI_INT) == 4 && position(f) == 0);
  settle(f);
  MPI_File_read_at_all(f, 16 * right, b, 4, MPI_INT, &s);
  CHECK(filled(b, 4, right) && count_of(&s, MPI_INT) == 4);
  SAY("%d", (int)size_of(f));
  MPI_File_close(&f);
}
TEST(individual_pointer, 1, "§14.4.3: after an individual file pointer operation is initiated, the individual file pointer is updated to point to the next etype") {
  MPI_File f = fresh("io-pointer");
  int a[6], b[6];
  fill(a, 6, rank);
  MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
  MPI_File_seek(f, 6 * rank, MPI_SEEK_SET);
  MPI_File_write(f, a, 2, MPI_INT, NOSTATUS);
  MPI_File_write(f, a + 2, 4, MPI_INT, NOSTATUS);
  CHECK(position(f) == 6 * rank + 6);
  settle(f);
  MPI_File_seek(f, -6, MPI_SEEK_CUR);
  MPI_File_read(f, b, 6, MPI_INT, NOSTATUS);
  CHECK(filled(b, 6, rank));
  MPI_File_seek(f, -1, MPI_SEEK_END);
  MPI_File_read(f, b, 1, MPI_INT, NOSTATUS);
  CHECK(b[0] == value(size - 1, 5));
  CHECK(MPI_File_seek(f, -1, MPI_SEEK_SET) != MPI_SUCCESS);
  MPI_File_close(&f);
}
TEST(end_of_file, 1, "§14.4.1: the amount of data accessed is returned in status; reading beyond the end of file reads what is there") {
  MPI_File f = fresh("io-end");
  int a[5], b[5] = {-1, -1, -1, -1, -1};
  MPI_Status s, t;
  fill(a, 5, 0);
  if (rank == 0) MPI_File_write_at(f, 0, a, 5, MPI_INT, NOSTATUS);
  settle(f);
  MPI_File_read_at(f, 12, b, 5, MPI_INT, &s);
  MPI_File_read_at(f, 400, b + 2, 2, MPI_INT, &t);
  CHECK(b[0] == a[3] && b[1] == a[4] && b[2] == -1);
  SAY("%d %d", count_of(&s, MPI_INT), count_of(&t, MPI_INT));
  MPI_File_close(&f);
}
TEST(view_tiles, 1, "§14.3: a file view ... a pattern described by the filetype is repeated, beginning at the displacement") {
  MPI_File f = fresh("io-tiles");
  MPI_Datatype block, tile;
  int a[8], all_[8 * 13];
  fill(a, 8, rank);
  MPI_Type_contiguous(2, MPI_INT, &block);
  MPI_Type_create_resized(block, 0, 8 * size, &tile);
  MPI_Type_commit(&tile);
  MPI_File_set_view(f, 4 + 8 * rank, MPI_INT, tile, "native", MPI_INFO_NULL);
  MPI_File_write_all(f, a, 8, MPI_INT, NOSTATUS);
  CHECK(position(f) == 8);
  settle(f);
  CHECK(ints(f, 4, all_, 8 * size) == 8 * size);
  int ok = 1;
  for (int i = 0; i < 8 * size; i++) ok &= all_[i] == value(i / 2 % size, i / (2 * size) * 2 + i % 2);
  CHECK(ok);
  SAY("%d", (int)size_of(f));
  MPI_Type_free(&block);
  MPI_Type_free(&tile);
  MPI_File_close(&f);
}
TEST(view_and_memory, 1, "§14.4: the datatype describes memory, the view the file; both may have holes") {
  MPI_File f = fresh("io-both");
  MPI_Datatype memory, file;
  int a[24], b[24], raw[24];
  MPI_Status s;
  fill(a, 24, rank);
  for (int i = 0; i < 24; i++) b[i] = -1;
  MPI_Type_vector(4, 2, 3, MPI_INT, &memory);
  MPI_Type_indexed(3, (int[]){1, 2, 1}, (int[]){0, 2, 7}, MPI_INT, &file);
  MPI_Type_commit(&memory);
  MPI_Type_commit(&file);
  MPI_File_set_view(f, 96 * rank, MPI_INT, file, "native", MPI_INFO_NULL);
  MPI_File_write_at_all(f, 0, a, 1, memory, &s);
  CHECK(count_of(&s, memory) == 1 && count_of(&s, MPI_INT) == 8);
  MPI_File_read_at_all(f, 0, b, 1, memory, NOSTATUS);
  CHECK(b[0] == a[0] && b[1] == a[1] && b[2] == -1 && b[3] == a[3] && b[10] == a[10] && b[11] == -1);
  settle(f);
  int n = ints(f, 96 * rank, raw, 16);
  CHECK(n == 16 && raw[0] == a[0] && raw[2] == a[1] && raw[3] == a[3] && raw[7] == a[4] && raw[8] == a[6] && raw[15] == a[10]);
  MPI_Type_free(&memory);
  MPI_Type_free(&file);
  MPI_File_close(&f);
}
TEST(view_holes_kept, 1, "§14.3: the data in the holes of the filetype are not accessed") {
  MPI_File f = fresh("io-holes");
  MPI_Datatype t;
  int full[8], mine[4] = {1, 2, 3, 4}, got[8];
  fill(full, 8, 9);
  if (rank == 0) MPI_File_write_at(f, 0, full, 8, MPI_INT, NOSTATUS);
  settle(f);
  MPI_Type_vector(4, 1, 2, MPI_INT, &t);
  MPI_Type_commit(&t);
  MPI_File_set_view(f, 4, MPI_INT, t, "native", MPI_INFO_NULL);
  if (rank == 0) MPI_File_write_at(f, 0, mine, 4, MPI_INT, NOSTATUS);
  settle(f);
  ints(f, 0, got, 8);
  CHECK(got[0] == full[0] && got[1] == 1 && got[2] == full[2] && got[3] == 2 && got[6] == full[6] && got[7] == 4);
  MPI_Type_free(&t);
  MPI_File_close(&f);
}
TEST(view_asked, 1, "§14.3: MPI_FILE_GET_VIEW returns the process's view; MPI_FILE_GET_BYTE_OFFSET converts a view-relative offset into an absolute byte position") {
  MPI_File f = fresh("io-view");
  MPI_Datatype t, e, ft;
  MPI_Offset d, o;
  char name[MPI_MAX_DATAREP_STRING];
  int n;
  MPI_Aint lb, extent;
  MPI_Type_vector(3, 1, 4, MPI_INT, &t);
  MPI_Type_commit(&t);
  MPI_File_set_view(f, 40, MPI_INT, t, "native", MPI_INFO_NULL);
  MPI_File_get_view(f, &d, &e, &ft, name);
  MPI_Type_size(ft, &n);
  MPI_Type_get_extent(ft, &lb, &extent);
  CHECK(d == 40 && e == MPI_INT && n == 12 && extent == 36);
  MPI_File_get_byte_offset(f, 2, &o);
  SAY("%s %d", name, (int)o);
  MPI_File_get_byte_offset(f, 4, &o);
  SAY("%d", (int)o);
  MPI_Type_free(&ft);
  MPI_Type_free(&t);
  MPI_File_close(&f);
}
TEST(subarrays, 1, "§14.3: filetypes partition data among the processes: rows are written, columns are read") {
  MPI_File f = fresh("io-matrix");
  int n = 2 * size, at[2], part[2], whole[2] = {n, n}, *a = malloc(sizeof(int) * 2 * n), ok = 1;
  MPI_Datatype rows, columns;
  part[0] = 2, part[1] = n, at[0] = 2 * rank, at[1] = 0;
  MPI_Type_create_subarray(2, whole, part, at, MPI_ORDER_C, MPI_INT, &rows);
  part[0] = n, part[1] = 2, at[0] = 0, at[1] = 2 * rank;
  MPI_Type_create_subarray(2, whole, part, at, MPI_ORDER_C, MPI_INT, &columns);
  MPI_Type_commit(&rows);
  MPI_Type_commit(&columns);
  for (int i = 0; i < 2 * n; i++) a[i] = 2 * rank * n + i;
  MPI_File_set_view(f, 0, MPI_INT, rows, "native", MPI_INFO_NULL);
  MPI_File_write_all(f, a, 2 * n, MPI_INT, NOSTATUS);
  settle(f);
  MPI_File_set_view(f, 0, MPI_INT, columns, "native", MPI_INFO_NULL);
  MPI_File_read_all(f, a, 2 * n, MPI_INT, NOSTATUS);
  for (int i = 0; i < 2 * n; i++) ok &= a[i] == i / 2 * n + 2 * rank + i % 2;
  CHECK(ok);
  MPI_Type_free(&rows);
  MPI_Type_free(&columns);
  MPI_File_close(&f);
  free(a);
}
TEST(darrays, 1, "§14.3, §5.1.4: a distributed array as filetype: cyclic blocks") {
  MPI_File f = fresh("io-cyclic");
  int g = 3 * size + 2, dist = MPI_DISTRIBUTE_CYCLIC, arg = 2, n, a[3 * 13 + 2], ok = 1;
  MPI_Datatype t;
  MPI_Type_create_darray(size, rank, 1, &g, &dist, &arg, &size, MPI_ORDER_C, MPI_INT, &t);
  MPI_Type_commit(&t);
  MPI_Type_size(t, &n);
  n /= 4;
  for (int i = 0; i < n; i++) a[i] = 100 * rank + i;
  MPI_File_set_view(f, 0, MPI_INT, t, "native", MPI_INFO_NULL);
  MPI_File_write_all(f, a, n, MPI_INT, NOSTATUS);
  settle(f);
  ints(f, 0, a, g);
  for (int i = 0; i < g; i++) ok &= a[i] == 100 * (i / 2 % size) + i / (2 * size) * 2 + i % 2;
  CHECK(ok);
  SAY("%d of %d", n, g);
  MPI_Type_free(&t);
  MPI_File_close(&f);
}
TEST(ordered, 1, "§14.4.4: accesses to the file will be in the order determined by the ranks of the processes within the group") {
  MPI_File f = fresh("io-ordered");
  int a[3], all_[2 * 13], at = 0, ok = 1;
  MPI_Offset o;
  fill(a, 3, rank);
  MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
  MPI_File_write_ordered(f, a, 1 + rank % 3, MPI_INT, NOSTATUS);
  MPI_File_get_position_shared(f, &o);
  MPI_Barrier(WORLD);
  MPI_File_seek_shared(f, 0, MPI_SEEK_SET);
  int b[3] = {0};
  MPI_File_read_ordered(f, b, 1 + rank % 3, MPI_INT, NOSTATUS);
  CHECK(filled(b, 1 + rank % 3, rank));
  settle(f);
  ints(f, 0, all_, (int)o);
  for (int r = 0; r < size; r++)
    for (int i = 0; i < 1 + r % 3; i++) ok &= all_[at++] == value(r, i);
  CHECK(ok && at == o);
  MPI_File_close(&f);
}
TEST(shared_pointer, 1, "§14.4.4: multiple calls behave as if the calls were serialized; the order is not deterministic") {
  MPI_File f = fresh("io-shared");
  int a[2], all_[2 * 13], seen[13] = {0};
  MPI_Status s;
  fill(a, 2, rank);
  MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
  MPI_File_write_shared(f, a, 2, MPI_INT, &s);
  CHECK(count_of(&s, MPI_INT) == 2);
  settle(f);
  ints(f, 0, all_, 2 * size);
  for (int i = 0; i < 2 * size; i += 2)
    for (int r = 0; r < size; r++) seen[r] += all_[i] == value(r, 0) && all_[i + 1] == value(r, 1);
  CHECK(all(seen, size, 1));
  MPI_File_close(&f);
}
TEST(split_collective, 1, "§14.4.5: each file handle may have at most one active split collective operation at any time") {
  MPI_File f = fresh("io-split");
  int a[5], b[5] = {0};
  MPI_Status s;
  fill(a, 5, rank);
  MPI_File_write_at_all_begin(f, 20 * rank, a, 5, MPI_INT);
  MPI_File_write_at_all_end(f, a, &s);
  CHECK(count_of(&s, MPI_INT) == 5);
  settle(f);
  MPI_File_seek(f, 20 * right, MPI_SEEK_SET);
  MPI_File_read_all_begin(f, b, 5, MPI_INT);
  MPI_File_read_all_end(f, b, &s);
  CHECK(filled(b, 5, right) && position(f) == 20 * right + 20);
  MPI_File_close(&f);
}
TEST(nonblocking, 1, "§14.4.1: nonblocking accesses are completed by a request complete call") {
  MPI_File f = fresh("io-requests");
  MPI_Request r[3];
  MPI_Status s[3];
  int a[6], b[6];
  fill(a, 6, rank);
  for (int i = 0; i < 3; i++) MPI_File_iwrite_at(f, 24 * rank + 8 * i, a + 2 * i, 2, MPI_INT, &r[i]);
  MPI_Waitall(3, r, s);
  CHECK(count_of(&s[2], MPI_INT) == 2);
  settle(f);
  MPI_File_seek(f, 24 * left, MPI_SEEK_SET);
  for (int i = 0; i < 3; i++) MPI_File_iread(f, b + 2 * i, 2, MPI_INT, &r[i]);
  CHECK(position(f) == 24 * left + 24);
  MPI_Waitall(3, r, s);
  CHECK(filled(b, 6, left));
  MPI_File_iwrite_at_all(f, 24 * (size + rank), a, 6, MPI_INT, &r[0]);
  MPI_Wait(r, s);
  MPI_File_iread_at_all(f, 24 * (size + rank), b, 6, MPI_INT, &r[0]);
  MPI_Wait(r, s);
  CHECK(filled(b, 6, rank));
  MPI_File_close(&f);
}
TEST(external32, 1, "§14.5.2: external32 is big-endian IEEE") {
  MPI_File f = fresh("io-external");
  int x = 0x01020304 + rank, back = 0;
  double d = 1.5;
  unsigned char raw[12];
  MPI_Aint extent;
  MPI_File_set_view(f, 12 * rank, MPI_BYTE, MPI_BYTE, "external32", MPI_INFO_NULL);
  MPI_File_get_type_extent(f, MPI_INT, &extent);
  MPI_File_write_at(f, 0, &x, 1, MPI_INT, NOSTATUS);
  MPI_File_write_at(f, 4, &d, 1, MPI_DOUBLE, NOSTATUS);
  MPI_File_read_at(f, 0, &back, 1, MPI_INT, NOSTATUS);
  CHECK(back == x && extent == 4);
  settle(f);
  MPI_File_set_view(f, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
  MPI_File_read_at(f, 12 * rank, raw, 12, MPI_BYTE, NOSTATUS);
  CHECK(raw[0] == 1 && raw[3] == 4 + rank && raw[4] == 0x3f && raw[5] == 0xf8 && raw[11] == 0);
  MPI_File_close(&f);
}
/* Integers whose bytes are turned around in the file. The state counts the calls. */
static int turned[2];
static void turn(int *to, const int *from, int n) {
  for (int i = 0; i < n; i++) to[i] = (int)__builtin_bswap32((unsigned)from[i]);
}
static int stride_of(MPI_Datatype t) {
  MPI_Aint lb, extent;
  MPI_Type_get_extent(t, &lb, &extent);
  return (int)extent / 4;
}
static int each_of(MPI_Datatype t) {
  int n;
  MPI_Type_size(t, &n);
  return n / 4;
}
static int turn_extent(MPI_Datatype t, MPI_Aint *extent, void *state) {
  int n;
  MPI_Type_size(t, &n);
  *extent = n;
  return MPI_SUCCESS;
}
static int turn_write(void *user, MPI_Datatype t, int count, void *file, MPI_Offset position, void *state) {
  ((int *)state)[0]++;
  for (int i = 0; i < count; i++) turn((int *)file + i * each_of(t), (int *)user + i * stride_of(t), each_of(t));
  return position == 0 ? MPI_SUCCESS : MPI_ERR_OTHER;
}
static int turn_read(void *user, MPI_Datatype t, int count, void *file, MPI_Offset position, void *state) {
  ((int *)state)[1]++;
  for (int i = 0; i < count; i++) turn((int *)user + i * stride_of(t), (int *)file + i * each_of(t), each_of(t));
  return position == 0 ? MPI_SUCCESS : MPI_ERR_OTHER;
}
TEST(own_datarep, 1, "§14.5.3: The function read_conversion_fn must convert from file data representation to native representation ... in conversion functions the datatype is that of the data in userbuf") {
  MPI_File f = fresh("io-own");
  int a[12], b[12], raw[6];
  MPI_Datatype apart;
  MPI_Request r;
  MPI_Status s;
  MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &apart);
  MPI_Type_commit(&apart);
  fill(a, 12, rank);
  CHECK(MPI_Register_datarep("turned", turn_read, turn_write, turn_extent, turned) == MPI_SUCCESS);
  CHECK(class_of(MPI_Register_datarep("turned", turn_read, turn_write, turn_extent, turned)) == MPI_ERR_DUP_DATAREP);
  CHECK(MPI_File_set_view(f, 48 * rank, MPI_INT, MPI_INT, "turned", MPI_INFO_NULL) == MPI_SUCCESS);
  CHECK(MPI_File_write_all(f, a, 6, apart, &s) == MPI_SUCCESS && count_of(&s, MPI_INT) == 6);
  MPI_File_iwrite_at(f, 6, a, 6, MPI_INT, &r);
  MPI_Wait(&r, NOSTATUS);
  memset(b, 0, sizeof b);
  MPI_File_iread_at_all(f, 0, b, 6, apart, &r);
  MPI_Wait(&r, NOSTATUS);
  for (int i = 0; i < 12; i++) CHECK(b[i] == (i % 2 ? 0 : a[i]));
  /* Past the end of what there is: whole elements only. */
  if (rank == size - 1) {
    MPI_File_read_at(f, 8, b, 12, MPI_INT, &s);
    CHECK(count_of(&s, MPI_INT) == 4 && b[0] == a[2] && b[3] == a[5]);
  }
  CHECK(turned[0] == 2 && turned[1] == 1 + (rank == size - 1));
  settle(f);
  MPI_File_set_view(f, 48 * left, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
  MPI_File_read_at(f, 0, raw, 6, MPI_INT, NOSTATUS);
  for (int i = 0; i < 6; i++) CHECK((int)__builtin_bswap32((unsigned)raw[i]) == value(left, 2 * i));
  MPI_Type_free(&apart);
  MPI_File_close(&f);
}
TEST(no_such_datarep, 1, "§14.7: MPI_ERR_UNSUPPORTED_DATAREP: Unsupported datarep passed to MPI_FILE_SET_VIEW") {
  MPI_File f = fresh("io-datarep");
  CHECK(class_of(MPI_File_set_view(f, 0, MPI_BYTE, MPI_BYTE, "mine", MPI_INFO_NULL)) == MPI_ERR_UNSUPPORTED_DATAREP);
  MPI_File_close(&f);
}
TEST(append, 1, "§14.2.1: MPI_MODE_APPEND -- set initial position of all file pointers to end of file") {
  MPI_File f;
  MPI_Offset o;
  int x = 3;
  if (rank == 0) {
    MPI_File_delete("io-append", MPI_INFO_NULL);
    MPI_File_open(MPI_COMM_SELF, "io-append", MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &f);
    MPI_File_write(f, &x, 1, MPI_INT, NOSTATUS);
    MPI_File_close(&f);
  }
  MPI_Barrier(WORLD);
  MPI_File_open(WORLD, "io-append", MPI_MODE_APPEND | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &f);
  MPI_File_get_position_shared(f, &o);
  SAY("%d %d", (int)position(f), (int)o);
  MPI_File_close(&f);
}
TEST(atomic_mode, 2, "§14.6.1: if atomic mode is set ... the data written by one process is immediately visible to another") {
  MPI_File f = fresh("io-atomic");
  int flag = -1, x = 7 + rank, y = 0;
  MPI_File_set_atomicity(f, 1);
  MPI_File_get_atomicity(f, &flag);
  MPI_File_write_at(f, 4 * rank, &x, 1, MPI_INT, NOSTATUS);
  MPI_Barrier(WORLD);
  MPI_File_read_at(f, 4 * right, &y, 1, MPI_INT, NOSTATUS);
  CHECK(flag == 1 && y == 7 + right);
  MPI_File_close(&f);
}
static int handled;
static void on_error(MPI_File *f, int *code, ...) {
  (void)f;
  handled = class_of(*code);
}
TEST(error_handler, 1, "§9.3.4: an error handler is attached to a file; §14.7: MPI_FILE_NULL has that of new files") {
  MPI_File f;
  MPI_Errhandler eh, was;
  int x = 0;
  MPI_File_create_errhandler(on_error, &eh);
  f = fresh("io-handler");
  MPI_File_get_errhandler(f, &was);
  CHECK(was == MPI_ERRORS_RETURN);
  MPI_File_set_errhandler(f, eh);
  handled = 0;
  MPI_File_call_errhandler(f, MPI_ERR_IO);
  int first = handled;
  handled = 0;
  MPI_File_write_at(f, 0, &x, -1, MPI_INT, NOSTATUS);
  CHECK(first == MPI_ERR_IO && handled == MPI_ERR_COUNT);
  MPI_File_set_errhandler(f, MPI_ERRORS_RETURN);
  MPI_File_close(&f);
}
TEST(part_of_a_type, 1, "§14.4.1: MPI_GET_COUNT and MPI_GET_ELEMENTS tell the amount of data accessed") {
  MPI_File f = fresh("io-part");
  MPI_Datatype three;
  MPI_Status s;
  int a[9], n, count;
  fill(a, 9, 0);
  if (rank == 0) MPI_File_write_at(f, 0, a, 7, MPI_INT, NOSTATUS);
  settle(f);
  MPI_Type_contiguous(3, MPI_INT, &three);
  MPI_Type_commit(&three);
  MPI_File_read_at(f, 0, a, 3, three, &s);
  MPI_Get_elements(&s, three, &n);
  MPI_Get_count(&s, three, &count);
  CHECK(count == MPI_UNDEFINED);
  SAY("%d", n);
  MPI_Type_free(&three);
  MPI_File_close(&f);
}
TEST(own_files, 1, "§14.2.1: MPI_COMM_SELF: every process may open a file independently") {
  MPI_File f;
  char name[32];
  int x = rank, y = -1;
  snprintf(name, sizeof name, "io-own-%d", rank);
  MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &f);
  MPI_File_write(f, &x, 1, MPI_INT, NOSTATUS);
  MPI_File_seek(f, 0, MPI_SEEK_SET);
  MPI_File_read(f, &y, 1, MPI_INT, NOSTATUS);
  CHECK(y == rank);
  MPI_File_close(&f);
}
TEST(sequential, 1, "§14.2.1: MPI_MODE_SEQUENTIAL -- file will only be accessed sequentially: shared file pointers alone") {
  MPI_File f;
  int x = 1, y = -1;
  if (rank == 0) MPI_File_delete("io-sequence", MPI_INFO_NULL);
  MPI_Barrier(WORLD);
  MPI_File_open(WORLD, "io-sequence", MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL, MPI_INFO_NULL, &f);
  MPI_File_write_ordered(f, &rank, 1, MPI_INT, NOSTATUS);
  CHECK(class_of(MPI_File_write_at(f, 0, &x, 1, MPI_INT, NOSTATUS)) == MPI_ERR_UNSUPPORTED_OPERATION);
  MPI_File_close(&f);
  MPI_Barrier(WORLD);
  MPI_File_open(WORLD, "io-sequence", MPI_MODE_RDONLY | MPI_MODE_SEQUENTIAL | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &f);
  MPI_File_read_ordered(f, &y, 1, MPI_INT, NOSTATUS);
  CHECK(y == rank);
  MPI_File_close(&f);
}
#if MPI_AT_LEAST(4, 0)
/* Everybody writes two numbers at a place of its own and reads them again; `k` counts the places. */
#define ACCESS(write, read)                                                                                             \
  do {                                                                                                                  \
    fill(a, 2, rank + k), b[0] = b[1] = -1;                                                                             \
    write;                                                                                                              \
    settle(f);                                                                                                          \
    read;                                                                                                               \
    CHECK(a[0] == b[0] && a[1] == b[1]);                                                                                \
    MPI_Barrier(WORLD);                                                                                                 \
    k++;                                                                                                                \
  } while (0)
#define OWN ((MPI_Offset)2 * (k * size + rank))
#define TO_OWN MPI_File_seek(f, OWN, MPI_SEEK_SET)
#define TOGETHER MPI_File_seek_shared(f, 2 * k * size, MPI_SEEK_SET)
#define ENDS MPI_Wait(&r, NOSTATUS)
TEST(access_forms, 1, "§14.4: every form of an access; §2.5.8: with large counts") {
  MPI_File f = fresh("io-forms");
  int a[2], b[2], k = 0;
  MPI_Count extent = -1;
  MPI_Request r;
  MPI_Info info;
  MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
  ACCESS(MPI_File_write_at_c(f, OWN, a, 2, MPI_INT, NOSTATUS), MPI_File_read_at_c(f, OWN, b, 2, MPI_INT, NOSTATUS));
  ACCESS(MPI_File_write_at_all_c(f, OWN, a, 2, MPI_INT, NOSTATUS), MPI_File_read_at_all_c(f, OWN, b, 2, MPI_INT, NOSTATUS));
  ACCESS((MPI_File_iwrite_at_c(f, OWN, a, 2, MPI_INT, &r), ENDS), (MPI_File_iread_at(f, OWN, b, 2, MPI_INT, &r), ENDS));
  ACCESS((MPI_File_iwrite_at_all_c(f, OWN, a, 2, MPI_INT, &r), ENDS), (MPI_File_iread_at_c(f, OWN, b, 2, MPI_INT, &r), ENDS));
  ACCESS((MPI_File_iwrite_at_all(f, OWN, a, 2, MPI_INT, &r), ENDS), (MPI_File_iread_at_all_c(f, OWN, b, 2, MPI_INT, &r), ENDS));
  ACCESS((MPI_File_write_at_all_begin(f, OWN, a, 2, MPI_INT), MPI_File_write_at_all_end(f, a, NOSTATUS)), (MPI_File_read_at_all_begin(f, OWN, b, 2, MPI_INT), MPI_File_read_at_all_end(f, b, NOSTATUS)));
  ACCESS((MPI_File_write_at_all_begin_c(f, OWN, a, 2, MPI_INT), MPI_File_write_at_all_end(f, a, NOSTATUS)), (MPI_File_read_at_all_begin_c(f, OWN, b, 2, MPI_INT), MPI_File_read_at_all_end(f, b, NOSTATUS)));
  ACCESS((TO_OWN, MPI_File_write_c(f, a, 2, MPI_INT, NOSTATUS)), (TO_OWN, MPI_File_read_c(f, b, 2, MPI_INT, NOSTATUS)));
  ACCESS((TO_OWN, MPI_File_write_all_c(f, a, 2, MPI_INT, NOSTATUS)), (TO_OWN, MPI_File_read_all_c(f, b, 2, MPI_INT, NOSTATUS)));
  ACCESS((TO_OWN, MPI_File_iwrite(f, a, 2, MPI_INT, &r), ENDS), (TO_OWN, MPI_File_iread_c(f, b, 2, MPI_INT, &r), ENDS));
  ACCESS((TO_OWN, MPI_File_iwrite_c(f, a, 2, MPI_INT, &r), ENDS), (TO_OWN, MPI_File_iread(f, b, 2, MPI_INT, &r), ENDS));
  ACCESS((TO_OWN, MPI_File_iwrite_all(f, a, 2, MPI_INT, &r), ENDS), (TO_OWN, MPI_File_iread_all(f, b, 2, MPI_INT, &r), ENDS));
  ACCESS((TO_OWN, MPI_File_iwrite_all_c(f, a, 2, MPI_INT, &r), ENDS), (TO_OWN, MPI_File_iread_all_c(f, b, 2, MPI_INT, &r), ENDS));
  ACCESS((TO_OWN, MPI_File_write_all_begin(f, a, 2, MPI_INT), MPI_File_write_all_end(f, a, NOSTATUS)), (TO_OWN, MPI_File_read_all_begin(f, b, 2, MPI_INT), MPI_File_read_all_end(f, b, NOSTATUS)));
  ACCESS((TO_OWN, MPI_File_write_all_begin_c(f, a, 2, MPI_INT), MPI_File_write_all_end(f, a, NOSTATUS)), (TO_OWN, MPI_File_read_all_begin_c(f, b, 2, MPI_INT), MPI_File_read_all_end(f, b, NOSTATUS)));
  ACCESS((TOGETHER, MPI_File_write_ordered_c(f, a, 2, MPI_INT, NOSTATUS)), (TOGETHER, MPI_File_read_ordered_c(f, b, 2, MPI_INT, NOSTATUS)));
  ACCESS((TOGETHER, MPI_File_write_ordered_begin(f, a, 2, MPI_INT), MPI_File_write_ordered_end(f, a, NOSTATUS)), (TOGETHER, MPI_File_read_ordered_begin(f, b, 2, MPI_INT), MPI_File_read_ordered_end(f, b, NOSTATUS)));
  ACCESS((TOGETHER, MPI_File_write_ordered_begin_c(f, a, 2, MPI_INT), MPI_File_write_ordered_end(f, a, NOSTATUS)), (TOGETHER, MPI_File_read_ordered_begin_c(f, b, 2, MPI_INT), MPI_File_read_ordered_end(f, b, NOSTATUS)));
  MPI_File_get_type_extent_c(f, MPI_INT, &extent);
  CHECK(extent == 4);
  MPI_Info_create(&info);
  CHECK(MPI_File_set_info(f, info) == MPI_SUCCESS);
  MPI_Info_free(&info);
  CHECK(MPI_File_get_info(f, &info) == MPI_SUCCESS && info != MPI_INFO_NULL);
  MPI_Info_free(&info);
  MPI_File_close(&f);
}
/* Whoever comes takes the next two numbers: both of one rank. */
#define ANYBODY(write, read)                                                                                            \
  do {                                                                                                                  \
    fill(a, 2, rank), b[0] = b[1] = -1;                                                                                 \
    TOGETHER, MPI_Barrier(WORLD);                                                                                       \
    write;                                                                                                              \
    settle(f);                                                                                                          \
    TOGETHER, MPI_Barrier(WORLD);                                                                                       \
    read;                                                                                                               \
    CHECK(b[0] % 1000 == a[0] % 1000 && b[1] - b[0] == a[1] - a[0] && b[0] / 1000 < size);                              \
    MPI_Allreduce(b, &sum, 1, MPI_INT, MPI_SUM, WORLD);                                                                 \
    CHECK(sum == size * a[0] + 1000 * (size * (size - 1) / 2 - size * rank));                                           \
    k++;                                                                                                                \
  } while (0)
TEST(shared_forms, 1, "§14.4.4: noncollective operations with the shared file pointer: each gets a place of its own") {
  MPI_File f = fresh("io-all");
  int a[2], b[2], k = 0, sum;
  MPI_Request r;
  MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
  ANYBODY(MPI_File_write_shared_c(f, a, 2, MPI_INT, NOSTATUS), MPI_File_read_shared(f, b, 2, MPI_INT, NOSTATUS));
  ANYBODY((MPI_File_iwrite_shared(f, a, 2, MPI_INT, &r), ENDS), MPI_File_read_shared_c(f, b, 2, MPI_INT, NOSTATUS));
  ANYBODY((MPI_File_iwrite_shared_c(f, a, 2, MPI_INT, &r), ENDS), (MPI_File_iread_shared(f, b, 2, MPI_INT, &r), ENDS));
  ANYBODY(MPI_File_write_shared(f, a, 2, MPI_INT, NOSTATUS), (MPI_File_iread_shared_c(f, b, 2, MPI_INT, &r), ENDS));
  MPI_File_close(&f);
}
#endif
