/* One-sided communication (MPI 4.1 chapter 12). ranks: 1 2 5 | 13 */
#include "check.h"

/* Debian's MPICH (over UCX) takes the base of a window for a multiple of 16, and writes before it where it is none. */
#define ALIGNED _Alignas(64)

/* A window on an array of ints, in units of ints, whose errors come back. */
static MPI_Win window(int *mem, int n) {
  MPI_Win w;
  MPI_Win_create(mem, n * (MPI_Aint)sizeof(int), sizeof(int), MPI_INFO_NULL, WORLD, &w);
  MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN);
  return w;
}

TEST(fence_put, 1, "§12.5.1: The RMA calls on win started by a process before the fence call will complete at that process before the fence call returns; they complete at their target before the fence call returns at the target") {
  ALIGNED int mem[2] = {-1, -1};
  int v = 10 + rank;
  MPI_Win w = window(mem, 2);
  MPI_Win_fence(MPI_MODE_NOPRECEDE, w);
  MPI_Put(&v, 1, MPI_INT, right, 0, 1, MPI_INT, w);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, w);
  CHECK(mem[0] == 10 + left && mem[1] == -1);
  SAY("%d", mem[0]);
  MPI_Win_free(&w);
}
TEST(fence_get, 1, "§12.5.1: ... the local window was not written by stores since the last synchronization; the fence completes gets at the origin") {
  ALIGNED int mem[4];
  int got[4];
  fill(mem, 4, rank);
  MPI_Win w = window(mem, 4);
  MPI_Win_fence(0, w);
  for (int r = 0, k = 0; r < 4; r++, k++) MPI_Get(&got[k], 1, MPI_INT, (rank + r) % size, r, 1, MPI_INT, w);
  MPI_Win_fence(0, w);
  for (int r = 0; r < 4; r++) CHECK(got[r] == value((rank + r) % size, r));
  MPI_Win_free(&w);
}
TEST(fence_epochs, 1, "§12.5.1: The call starts an RMA access epoch if it is followed by another fence call and by RMA calls issued between the two; many epochs in a row") {
  ALIGNED int mem[1] = {0};
  MPI_Win w = window(mem, 1);
  MPI_Win_fence(0, w);
  for (int i = 1; i <= 20; i++) {
    int v = 100 * i + rank;
    MPI_Put(&v, 1, MPI_INT, (rank + i) % size, 0, 1, MPI_INT, w);
    MPI_Win_fence(0, w);
    CHECK(mem[0] == 100 * i + (rank + i * (size - 1)) % size);
    MPI_Win_fence(0, w);
  }
  MPI_Win_free(&w);
}
TEST(accumulate_sum, 1, "§12.3.4: Accumulate the contents of the origin buffer to the buffer specified by target_disp, target_count, and target_datatype using the operation op") {
  ALIGNED int mem[3] = {1, 2, 3};
  int v[3] = {rank, 1, rank * rank};
  MPI_Win w = window(mem, 3);
  MPI_Win_fence(0, w);
  for (int r = 0; r < size; r++) MPI_Accumulate(v, 3, MPI_INT, r, 0, 3, MPI_INT, MPI_SUM, w);
  MPI_Win_fence(0, w);
  int s = 0, q = 0;
  for (int r = 0; r < size; r++) s += r, q += r * r;
  CHECK(mem[0] == 1 + s && mem[1] == 2 + size && mem[2] == 3 + q);
  SAY("%d %d %d", mem[0], mem[1], mem[2]);
  MPI_Win_free(&w);
}
TEST(accumulate_ops, 1, "§12.3.4: Any of the predefined operations for MPI_REDUCE can be used. User-defined functions cannot be used") {
  ALIGNED int mem[8] = {5, 5, 5, 5, 5, 5, 5, 5};
  int v = 3;
  MPI_Op ops[8] = {MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX, MPI_BAND, MPI_BOR, MPI_BXOR, MPI_REPLACE};
  int want[8] = {8, 15, 3, 5, 1, 7, 6, 3};
  MPI_Win w = window(mem, 8);
  MPI_Win_fence(0, w);
  for (int i = 0; i < 8; i++) MPI_Accumulate(&v, 1, MPI_INT, right, i, 1, MPI_INT, ops[i], w);
  MPI_Win_fence(0, w);
  for (int i = 0; i < 8; i++) CHECK(mem[i] == want[i]);
  MPI_Win_free(&w);
}
TEST(accumulate_logical, 1, "§12.3.4: ... the predefined operations for MPI_REDUCE: logical ones") {
  ALIGNED int mem[3] = {2, 0, 2};
  int v[3] = {0, 3, 3};
  MPI_Win w = window(mem, 3);
  MPI_Win_fence(0, w);
  MPI_Accumulate(&v[0], 1, MPI_INT, right, 0, 1, MPI_INT, MPI_LAND, w);
  MPI_Accumulate(&v[1], 1, MPI_INT, right, 1, 1, MPI_INT, MPI_LOR, w);
  MPI_Accumulate(&v[2], 1, MPI_INT, right, 2, 1, MPI_INT, MPI_LXOR, w);
  MPI_Win_fence(0, w);
  CHECK(mem[0] == 0 && mem[1] == 1 && mem[2] == 0);
  MPI_Win_free(&w);
}
TEST(accumulate_pairs, 1, "§12.3.4: ... predefined operations, MPI_MAXLOC on a pair type among them") {
  struct pair { double v; int i; };
  ALIGNED struct pair mem = {-1, 99};
  struct pair mine = {(rank * 3) % 5, rank}, best = mine;
  MPI_Win w;
  MPI_Win_create(&mem, sizeof mem, 1, MPI_INFO_NULL, WORLD, &w);
  MPI_Win_fence(0, w);
  MPI_Accumulate(&mine, 1, MPI_DOUBLE_INT, 0, 0, 1, MPI_DOUBLE_INT, MPI_MAXLOC, w);
  MPI_Win_fence(0, w);
  MPI_Reduce(&mine, &best, 1, MPI_DOUBLE_INT, MPI_MAXLOC, 0, WORLD);
  if (rank == 0) CHECK(mem.v == best.v && mem.i == best.i);
  MPI_Win_free(&w);
}
TEST(put_vector, 1, "§12.3.1: The target_datatype ... its effect is as if the origin process had sent the data to the target: layouts on both sides may differ") {
  ALIGNED int mem[36];
  int src[36];
  MPI_Datatype column;
  memset(mem, 0, sizeof mem);
  fill(src, 36, rank);
  MPI_Type_vector(6, 1, 6, MPI_INT, &column);
  MPI_Type_commit(&column);
  MPI_Win w = window(mem, 36);
  MPI_Win_fence(0, w);
  MPI_Put(src, 6, MPI_INT, right, 3, 1, column, w);
  MPI_Win_fence(0, w);
  for (int i = 0; i < 6; i++) CHECK(mem[6 * i + 3] == value(left, i));
  MPI_Type_free(&column);
  MPI_Win_free(&w);
}
TEST(get_indexed, 1, "§12.3.2: Similar to MPI_PUT, except that the direction of data transfer is reversed") {
  ALIGNED int mem[12];
  int got[12], lengths[3] = {1, 3, 2}, at[3] = {10, 0, 5};
  MPI_Datatype t;
  fill(mem, 12, rank);
  for (int i = 0; i < 12; i++) got[i] = -1;
  MPI_Type_indexed(3, lengths, at, MPI_INT, &t);
  MPI_Type_commit(&t);
  MPI_Win w = window(mem, 12);
  MPI_Win_fence(0, w);
  MPI_Get(got, 6, MPI_INT, right, 0, 1, t, w);
  MPI_Type_free(&t);
  MPI_Win_fence(0, w);
  CHECK(got[0] == value(right, 10) && got[1] == value(right, 0) && got[3] == value(right, 2) && got[4] == value(right, 5) && got[5] == value(right, 6) && got[6] == -1);
  MPI_Win_free(&w);
}
TEST(accumulate_subarray, 1, "§12.3.4: Each datatype argument must be a predefined datatype or a derived datatype, where all basic components are of the same predefined datatype") {
  ALIGNED double mem[16];
  double add[4] = {1, 2, 3, 4};
  int sizes[2] = {4, 4}, sub[2] = {2, 2}, at[2] = {1, 1};
  MPI_Datatype t;
  for (int i = 0; i < 16; i++) mem[i] = i;
  MPI_Type_create_subarray(2, sizes, sub, at, MPI_ORDER_C, MPI_DOUBLE, &t);
  MPI_Type_commit(&t);
  MPI_Win w;
  MPI_Win_create(mem, sizeof mem, sizeof(double), MPI_INFO_NULL, WORLD, &w);
  MPI_Win_fence(0, w);
  MPI_Accumulate(add, 4, MPI_DOUBLE, right, 0, 1, t, MPI_SUM, w);
  MPI_Win_fence(0, w);
  CHECK(mem[5] == 6 && mem[6] == 8 && mem[9] == 12 && mem[10] == 14 && mem[4] == 4 && mem[7] == 7);
  MPI_Type_free(&t);
  MPI_Win_free(&w);
}
TEST(disp_units, 1, "§12.2.1: The various processes in the group of comm may specify completely different target windows, in location, size, displacement units, and info arguments") {
  ALIGNED char mem[64];
  int unit = 1 << (rank % 3), other = 1 << (right % 3);
  memset(mem, 'a' + rank, sizeof mem);
  MPI_Win w;
  MPI_Win_create(mem, rank == 0 ? 64 : 32, unit, MPI_INFO_NULL, WORLD, &w);
  MPI_Win_fence(0, w);
  MPI_Put("xy", 2, MPI_CHAR, right, 3, 2, MPI_CHAR, w);
  MPI_Win_fence(0, w);
  CHECK(mem[3 * unit] == 'x' && mem[3 * unit + 1] == 'y' && mem[3 * unit + 2] == 'a' + rank);
  SAY("%d", other);
  MPI_Win_free(&w);
}
TEST(size_zero, 1, "§12.2.1: A process may elect to expose no memory by specifying size = 0") {
  ALIGNED int mem = 7;
  int v = 5;
  MPI_Win w;
  MPI_Win_create(rank == 0 ? &mem : NULL, rank == 0 ? sizeof mem : 0, 1, MPI_INFO_NULL, WORLD, &w);
  MPI_Win_fence(0, w);
  if (rank == size - 1) MPI_Put(&v, 1, MPI_INT, 0, 0, 1, MPI_INT, w);
  MPI_Win_fence(0, w);
  if (rank == 0) CHECK(mem == 5);
  MPI_Win_free(&w);
  CHECK(w == MPI_WIN_NULL);
}
TEST(pscw, 2, "§12.5.2: MPI_WIN_WAIT ... will block until all outstanding MPI_WIN_COMPLETE calls have been issued; all RMA accesses to the local window have then completed") {
  ALIGNED int mem[2] = {0, 0};
  int got = -1, v = rank + 1;
  MPI_Group g, from, to;
  MPI_Comm_group(WORLD, &g);
  MPI_Group_incl(g, 1, &left, &from);
  MPI_Group_incl(g, 1, &right, &to);
  mem[1] = 50 + rank;
  MPI_Win w = window(mem, 2);
  for (int i = 0; i < 5; i++) {
    v += 10;
    MPI_Win_post(from, 0, w);
    MPI_Win_start(to, 0, w);
    MPI_Put(&v, 1, MPI_INT, right, 0, 1, MPI_INT, w);
    MPI_Get(&got, 1, MPI_INT, right, 1, 1, MPI_INT, w);
    MPI_Win_complete(w);
    CHECK(got == 50 + right);
    MPI_Win_wait(w);
    CHECK(mem[0] == left + 1 + 10 * (i + 1));
  }
  MPI_Win_free(&w);
  MPI_Group_free(&g);
  MPI_Group_free(&from);
  MPI_Group_free(&to);
}
TEST(pscw_test, 2, "§12.5.2: MPI_WIN_TEST ... returns flag = true if all accesses to the local window by the group to which it was exposed by the corresponding MPI_WIN_POST call have been completed") {
  ALIGNED int mem = 0;
  int v = 9, flag = 0, zero = 0;
  MPI_Group g, one;
  MPI_Comm_group(WORLD, &g);
  MPI_Win w = window(&mem, 1);
  if (rank == 0) {
    MPI_Group_excl(g, 1, &zero, &one);
    MPI_Win_post(one, 0, w);
    while (!flag) MPI_Win_test(w, &flag);
    CHECK(mem == 9 * (size - 1));
    MPI_Group_free(&one);
  } else {
    MPI_Group_incl(g, 1, &zero, &one);
    MPI_Win_start(one, 0, w);
    MPI_Accumulate(&v, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, w);
    MPI_Win_complete(w);
    MPI_Group_free(&one);
  }
  MPI_Group_free(&g);
  MPI_Win_free(&w);
}
TEST(lock_exclusive, 1, "§12.5.3: Accesses that are protected by an exclusive lock will not be concurrent at the window site with other accesses to the same window that are lock protected") {
  ALIGNED int mem = 0;
  int n;
  MPI_Win w = window(&mem, 1);
  MPI_Barrier(WORLD);
  for (int i = 0; i < 10; i++) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w);
    MPI_Get(&n, 1, MPI_INT, 0, 0, 1, MPI_INT, w);
    MPI_Win_flush(0, w);
    n += rank + 1;
    MPI_Put(&n, 1, MPI_INT, 0, 0, 1, MPI_INT, w);
    MPI_Win_unlock(0, w);
  }
  MPI_Barrier(WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w);
  MPI_Get(&n, 1, MPI_INT, 0, 0, 1, MPI_INT, w);
  MPI_Win_unlock(0, w);
  CHECK(n == 10 * size * (size + 1) / 2);
  MPI_Win_free(&w);
}
TEST(unlock_completes, 2, "§12.5.3: RMA operations issued during this epoch will have completed both at the origin and at the target when the call returns") {
  ALIGNED int mem = 0;
  int v = 77;
  MPI_Win w = window(&mem, 1);
  if (rank == 0) {
    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, w);
    MPI_Put(&v, 1, MPI_INT, 1, 0, 1, MPI_INT, w);
    MPI_Win_unlock(1, w);
    MPI_Send(NULL, 0, MPI_INT, 1, TAG, WORLD);
  }
  if (rank == 1) {
    MPI_Recv(NULL, 0, MPI_INT, 0, TAG, WORLD, NOSTATUS);
    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, w);
    CHECK(mem == 77);
    MPI_Win_unlock(1, w);
  }
  MPI_Win_free(&w);
}
TEST(fetch_and_op, 1, "§12.3.4: MPI_FETCH_AND_OP ... the accumulate is atomic with respect to other accumulates: tickets") {
  ALIGNED int mem = 0;
  int one = 1, t, sum = 0;
  MPI_Win w = window(&mem, 1);
  MPI_Barrier(WORLD);
  MPI_Win_lock_all(0, w);
  for (int i = 0; i < 8; i++) {
    MPI_Fetch_and_op(&one, &t, MPI_INT, 0, 0, MPI_SUM, w);
    MPI_Win_flush(0, w);
    sum += t;
  }
  MPI_Win_unlock_all(w);
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, WORLD);
  CHECK(sum == 8 * size * (8 * size - 1) / 2);
  SAY("%d", sum);
  MPI_Win_free(&w);
}
TEST(compare_and_swap, 1, "§12.3.4: This function compares one element ... with the buffer at the target and replaces the value at the target with the value in the origin buffer if the compare buffer and the target buffer are identical") {
  ALIGNED int mem = -1;
  int none = -1, old, won, n;
  MPI_Win w = window(&mem, 1);
  MPI_Barrier(WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w);
  MPI_Compare_and_swap(&rank, &none, &old, MPI_INT, 0, 0, w);
  MPI_Win_unlock(0, w);
  won = old == -1;
  MPI_Allreduce(&won, &n, 1, MPI_INT, MPI_SUM, WORLD);
  CHECK(n == 1);
  MPI_Barrier(WORLD);
  MPI_Win_free(&w);
}
TEST(get_accumulate, 1, "§12.3.4: ... returns in the result buffer the contents of the target buffer before the accumulation") {
  ALIGNED int mem[4];
  int v[4] = {1, 1, 1, 1}, old[4] = {0}, now[4] = {0};
  fill(mem, 4, rank);
  MPI_Win w = window(mem, 4);
  MPI_Win_fence(0, w);
  MPI_Get_accumulate(v, 4, MPI_INT, old, 4, MPI_INT, right, 0, 4, MPI_INT, MPI_SUM, w);
  MPI_Win_fence(0, w);
  CHECK(filled(old, 4, right));
  MPI_Get_accumulate(NULL, 0, MPI_INT, now, 4, MPI_INT, right, 0, 4, MPI_INT, MPI_NO_OP, w);
  MPI_Win_fence(0, w);
  for (int i = 0; i < 4; i++) CHECK(now[i] == value(right, i) + 1 && mem[i] == value(rank, i) + 1);
  MPI_Win_free(&w);
}
TEST(request_based, 1, "§12.3.5: ... returns a communication request handle that can be used to wait for completion: of a get, that the data is available in the origin buffer") {
  ALIGNED int mem[4];
  int got[2], v = 3, old = -1;
  MPI_Request q[4];
  fill(mem, 4, rank);
  mem[3] = 0;
  MPI_Win w = window(mem, 4);
  MPI_Barrier(WORLD);
  MPI_Win_lock_all(0, w);
  MPI_Rget(got, 2, MPI_INT, right, 0, 2, MPI_INT, w, &q[0]);
  MPI_Rput(&v, 1, MPI_INT, right, 2, 1, MPI_INT, w, &q[1]);
  MPI_Raccumulate(&v, 1, MPI_INT, 0, 3, 1, MPI_INT, MPI_SUM, w, &q[2]);
  MPI_Rget_accumulate(&v, 1, MPI_INT, &old, 1, MPI_INT, 0, 3, 1, MPI_INT, MPI_SUM, w, &q[3]);
  MPI_Waitall(4, q, MPI_STATUSES_IGNORE);
  CHECK(filled(got, 2, right) && old % 3 == 0 && old < 6 * size);
  MPI_Win_unlock_all(w);
  MPI_Barrier(WORLD);
  CHECK(mem[2] == 3);
  MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w);
  MPI_Get(&old, 1, MPI_INT, 0, 3, 1, MPI_INT, w);
  MPI_Win_unlock(0, w);
  CHECK(old == 6 * size);
  MPI_Win_free(&w);
}
TEST(same_origin_order, 1, "§12.7.2: ... accumulates from the same origin to the same target location with the same window are ordered by default") {
  ALIGNED int mem = 0;
  int n = -1;
  MPI_Win w = window(&mem, 1);
  MPI_Win_fence(0, w);
  for (int i = 1; i <= 20; i++) MPI_Accumulate(&i, 1, MPI_INT, right, 0, 1, MPI_INT, MPI_REPLACE, w);
  MPI_Win_fence(0, w);
  CHECK(mem == 20);
  MPI_Win_fence(0, w);
  n = 5;
  MPI_Accumulate(&n, 1, MPI_INT, right, 0, 1, MPI_INT, MPI_PROD, w);
  MPI_Accumulate(&n, 1, MPI_INT, right, 0, 1, MPI_INT, MPI_SUM, w);
  MPI_Win_fence(0, w);
  CHECK(mem == 105);
  MPI_Win_free(&w);
}
TEST(proc_null, 1, "§12.3: MPI_PROC_NULL is a valid target rank in all MPI RMA communication calls. The effect is the same as for MPI_PROC_NULL in MPI point-to-point communication") {
  ALIGNED int mem = 4;
  int v = 9;
  MPI_Request q;
  MPI_Win w = window(&mem, 1);
  MPI_Win_fence(0, w);
  MPI_Put(&v, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, w);
  MPI_Get(&v, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, w);
  MPI_Accumulate(&v, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, MPI_SUM, w);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, w);
  MPI_Win_lock(MPI_LOCK_SHARED, MPI_PROC_NULL, 0, w);
  MPI_Rput(&v, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, w, &q);
  MPI_Wait(&q, NOSTATUS);
  MPI_Win_unlock(MPI_PROC_NULL, w);
  CHECK(mem == 4 && v == 9);
  MPI_Win_free(&w);
}
TEST(allocate, 1, "§12.2.2: On each process, it allocates memory of at least size bytes, returns a pointer to it, and returns a window object") {
  int *mem, flag, *flavor, *unit;
  MPI_Aint *bytes;
  void *base;
  MPI_Win w;
  MPI_Win_allocate(40, 4, MPI_INFO_NULL, WORLD, &mem, &w);
  MPI_Win_get_attr(w, MPI_WIN_BASE, &base, &flag);
  CHECK(flag && base == mem);
  MPI_Win_get_attr(w, MPI_WIN_SIZE, &bytes, &flag);
  CHECK(flag && *bytes == 40);
  MPI_Win_get_attr(w, MPI_WIN_DISP_UNIT, &unit, &flag);
  CHECK(flag && *unit == 4);
  MPI_Win_get_attr(w, MPI_WIN_CREATE_FLAVOR, &flavor, &flag);
  CHECK(flag && *flavor == MPI_WIN_FLAVOR_ALLOCATE);
  MPI_Win_fence(0, w);
  MPI_Put(&rank, 1, MPI_INT, right, 9, 1, MPI_INT, w);
  MPI_Win_fence(0, w);
  CHECK(mem[9] == left);
  MPI_Win_free(&w);
}
TEST(dynamic, 1, "§12.2.4: ... the target_disp for RMA functions is the address at the target, as returned by MPI_GET_ADDRESS at the target") {
  ALIGNED int mem[4] = {1, 2, 3, 4};
  int v = 40 + rank;
  MPI_Aint here, there;
  MPI_Win w;
  MPI_Win_create_dynamic(MPI_INFO_NULL, WORLD, &w);
  MPI_Win_attach(w, mem, sizeof mem);
  MPI_Get_address(&mem[2], &here);
  MPI_Sendrecv(&here, 1, MPI_AINT, left, TAG, &there, 1, MPI_AINT, right, TAG, WORLD, NOSTATUS);
  MPI_Win_fence(0, w);
  MPI_Put(&v, 1, MPI_INT, right, there, 1, MPI_INT, w);
  MPI_Win_fence(0, w);
  CHECK(mem[2] == 40 + left && mem[1] == 2 && mem[3] == 4);
  MPI_Win_detach(w, mem);
  MPI_Win_free(&w);
}
TEST(info_and_name, 1, "§12.2.7, §7.8: MPI_WIN_GET_INFO returns a new info object containing the hints of the window; names are cached on windows") {
  ALIGNED int mem;
  int flag, n;
  char text[MPI_MAX_OBJECT_NAME], got[16] = "";
  MPI_Info i;
  MPI_Win w = window(&mem, 1);
  MPI_Win_get_info(w, &i);
  CHECK(i != MPI_INFO_NULL);
  MPI_Info_get(i, "no_locks", 15, got, &flag);
  CHECK(flag && strcmp(got, "false") == 0);
  MPI_Info_free(&i);
  MPI_Win_get_name(w, text, &n);
  CHECK(n == 0);
  MPI_Win_set_name(w, "mine");
  MPI_Win_get_name(w, text, &n);
  CHECK(n == 4 && strcmp(text, "mine") == 0);
  MPI_Win_free(&w);
}
static int freed_keys;
static int on_delete(MPI_Win w, int key, void *v, void *extra) {
  (void)w, (void)key, (void)extra;
  freed_keys += *(int *)v;
  return MPI_SUCCESS;
}
TEST(attributes, 1, "§7.7.3: ... this function is called by MPI_WIN_FREE, MPI_WIN_DELETE_ATTR and MPI_WIN_SET_ATTR") {
  ALIGNED int mem;
  int key, one = 1, ten = 10, flag, *got;
  MPI_Win w = window(&mem, 1);
  freed_keys = 0;
  MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, on_delete, &key, NULL);
  MPI_Win_set_attr(w, key, &one);
  MPI_Win_set_attr(w, key, &ten);
  CHECK(freed_keys == 1);
  MPI_Win_get_attr(w, key, &got, &flag);
  CHECK(flag && *got == 10);
  MPI_Win_free(&w);
  CHECK(freed_keys == 11);
  MPI_Win_free_keyval(&key);
}
static int seen_error;
static void on_error(MPI_Win *w, int *code, ...) {
  (void)w;
  seen_error = class_of(*code);
}
TEST(error_handler, 1, "§9.3.2: ... the error handler attached to the window is invoked") {
  ALIGNED int mem;
  int v = 0;
  MPI_Errhandler e;
  MPI_Win w = window(&mem, 1);
  seen_error = -1;
  MPI_Win_create_errhandler(on_error, &e);
  MPI_Win_set_errhandler(w, e);
  MPI_Win_fence(0, w);
  MPI_Put(&v, 1, MPI_INT, size, 0, 1, MPI_INT, w);
  CHECK(seen_error == MPI_ERR_RANK);
  MPI_Win_call_errhandler(w, MPI_ERR_OTHER);
  CHECK(seen_error == MPI_ERR_OTHER);
  MPI_Win_fence(0, w);
  MPI_Errhandler_free(&e);
  MPI_Win_free(&w);
}
TEST(wrong_epochs, 1, "§12.6: MPI_ERR_RMA_SYNC: wrong synchronization of RMA calls") {
  ALIGNED int mem = 1;
  int v = 2;
  MPI_Win w = window(&mem, 1);
  CHECK(class_of(MPI_Put(&v, 1, MPI_INT, 0, 0, 1, MPI_INT, w)) == MPI_ERR_RMA_SYNC);
  CHECK(class_of(MPI_Win_unlock(0, w)) == MPI_ERR_RMA_SYNC);
  CHECK(class_of(MPI_Win_complete(w)) == MPI_ERR_RMA_SYNC);
  CHECK(class_of(MPI_Win_flush(0, w)) == MPI_ERR_RMA_SYNC);
  CHECK(mem == 1);
  MPI_Barrier(WORLD);
  MPI_Win_free(&w);
}
TEST(wrong_arguments, 1, "§12.6: MPI_ERR_WIN, MPI_ERR_SIZE, MPI_ERR_DISP, MPI_ERR_LOCKTYPE, MPI_ERR_RMA_FLAVOR: invalid argument") {
  ALIGNED int mem[2] = {0, 0};
  int v = 2;
  MPI_Win w, none = MPI_WIN_NULL;
  errors_return(1);
  CHECK(class_of(MPI_Win_fence(0, none)) == MPI_ERR_WIN);
  CHECK(class_of(MPI_Win_create(mem, -1, 1, MPI_INFO_NULL, WORLD, &w)) == MPI_ERR_SIZE);
  w = window(mem, 2);
  CHECK(class_of(MPI_Win_lock(-5, 0, 0, w)) == MPI_ERR_LOCKTYPE);
  MPI_Win_fence(0, w);
  CHECK(class_of(MPI_Put(&v, 1, MPI_INT, 0, -1, 1, MPI_INT, w)) == MPI_ERR_DISP);
  CHECK(class_of(MPI_Put(&v, -1, MPI_INT, 0, 0, 1, MPI_INT, w)) == MPI_ERR_COUNT);
  CHECK(class_of(MPI_Accumulate(&v, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_OP_NULL, w)) == MPI_ERR_OP);
  MPI_Win_fence(0, w);
  CHECK(mem[0] == 0);
  MPI_Win_free(&w);
  errors_return(0);
}
#ifdef __wasm__
/* MPICH writes there, over whatever it is. */
TEST(outside, 1, "§12.6: MPI_ERR_RMA_RANGE: target memory is not part of the window") {
  ALIGNED int mem[2] = {0, 0};
  int v[2] = {8, 8};
  MPI_Win w = window(mem, 2);
  MPI_Win_fence(0, w);
  CHECK(class_of(MPI_Put(v, 2, MPI_INT, right, 1, 2, MPI_INT, w)) == MPI_ERR_RMA_RANGE);
  CHECK(class_of(MPI_Get(v, 1, MPI_INT, right, 2, 1, MPI_INT, w)) == MPI_ERR_RMA_RANGE);
  MPI_Win_fence(0, w);
  CHECK(mem[0] == 0 && mem[1] == 0 && v[0] == 8);
  MPI_Win_free(&w);
}
#endif
TEST(shared_alone, 1, "§12.2.3: MPI_WIN_SHARED_QUERY: queries the process-local address for remote memory segments; with rank = MPI_PROC_NULL of the lowest rank that specified size > 0") {
  int *mem, *got;
  MPI_Aint bytes;
  int unit;
  MPI_Win w;
  MPI_Win_allocate_shared(16, 4, MPI_INFO_NULL, MPI_COMM_SELF, &mem, &w);
  MPI_Win_shared_query(w, MPI_PROC_NULL, &bytes, &unit, &got);
  CHECK(bytes == 16 && unit == 4 && got == mem);
  MPI_Win_lock_all(0, w);
  mem[1] = rank;
  MPI_Win_sync(w);
  CHECK(got[1] == rank);
  MPI_Win_unlock_all(w);
  MPI_Win_free(&w);
}
