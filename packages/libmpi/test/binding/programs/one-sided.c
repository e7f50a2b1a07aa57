/* One-sided communication (MPI 4.1 chapter 12). */
#include "check.h"

#define N 16

static int mod(int a) { return ((a % size_) + size_) % size_; }

static void fences(void) {
  int mem[N], got[4], i;
  MPI_Win win;
  for (i = 0; i < N; i++) mem[i] = -1;
  CHECK(MPI_Win_create(mem, sizeof mem, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win) == MPI_SUCCESS);
  /* §12.5.1: "RMA operations on win started by a process after the fence call returns will access their target window only after MPI_WIN_FENCE has been called by the target process." */
  MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
  for (int round = 0; round < 5; round++) {
    int v[2] = {100 * round + rank_, 7};
    MPI_Put(v, 1, MPI_INT, mod(rank_ + 1), 0, 1, MPI_INT, win);
    MPI_Put(&v[1], 1, MPI_INT, mod(rank_ + 2), 1, 1, MPI_INT, win);
    v[0] = -5; /* the origin's buffer may not be changed before the fence by the standard; here it has been taken */
    MPI_Win_fence(0, win);
    CHECK(mem[0] == 100 * round + mod(rank_ - 1));
    CHECK(mem[1] == 7);
    mem[2] = 1000 * round + rank_;
    mem[3] = rank_;
    MPI_Win_fence(0, win);
    MPI_Get(got, 2, MPI_INT, mod(rank_ - 1), 2, 2, MPI_INT, win);
    MPI_Win_fence(MPI_MODE_NOSTORE, win);
    CHECK(got[0] == 1000 * round + mod(rank_ - 1) && got[1] == mod(rank_ - 1));
  }
  /* §12.3.4: everybody adds to everybody. "the outcome is as if these accesses occurred in some order". */
  mem[4] = mem[5] = 0;
  MPI_Win_fence(0, win);
  for (int r = 0; r < size_; r++) {
    int one[2] = {1, rank_};
    MPI_Accumulate(one, 2, MPI_INT, r, 4, 2, MPI_INT, MPI_SUM, win);
  }
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  CHECK(mem[4] == size_ && mem[5] == size_ * (size_ - 1) / 2);
  MPI_Win_free(&win);
  CHECK(win == MPI_WIN_NULL);
}

static void derived(void) {
  double mem[36], src[36], back[36];
  int i, j;
  MPI_Win win;
  MPI_Datatype column, block, hole;
  for (i = 0; i < 36; i++) { mem[i] = 0; src[i] = 100 * rank_ + i; back[i] = -1; }
  MPI_Type_vector(6, 1, 6, MPI_DOUBLE, &column);
  MPI_Type_commit(&column);
  MPI_Type_vector(2, 2, 6, MPI_DOUBLE, &block);
  MPI_Type_commit(&block);
  MPI_Win_create(mem, sizeof mem, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_fence(0, win);
  /* a row here becomes a column there */
  MPI_Put(src, 6, MPI_DOUBLE, mod(rank_ + 1), 2, 1, column, win);
  MPI_Win_fence(0, win);
  for (i = 0; i < 6; i++) CHECK(mem[6 * i + 2] == 100 * mod(rank_ - 1) + i);
  MPI_Win_fence(0, win); /* one of these is overwritten by the next put */
  MPI_Put(src, 1, column, mod(rank_ + 1), 6, 6, MPI_DOUBLE, win);
  MPI_Win_fence(0, win);
  for (i = 0; i < 6; i++) CHECK(mem[6 + i] == 100 * mod(rank_ - 1) + 6 * i);
  MPI_Get(back, 1, block, mod(rank_ + 1), 6, 4, MPI_DOUBLE, win);
  MPI_Win_fence(0, win);
  CHECK(back[0] == 100 * rank_ && back[1] == 100 * rank_ + 6 && back[2] == -1 && back[6] == 100 * rank_ + 12 && back[7] == 100 * rank_ + 18);
  MPI_Get(back + 12, 4, MPI_DOUBLE, mod(rank_ + 1), 6, 1, block, win);
  MPI_Win_fence(0, win);
  CHECK(back[12] == 100 * rank_ && back[13] == 100 * rank_ + 6);
  for (j = 0; j < 36; j++) mem[j] = 1;
  MPI_Win_fence(0, win);
  MPI_Accumulate(src, 4, MPI_DOUBLE, mod(rank_ + 1), 7, 1, block, MPI_SUM, win);
  MPI_Type_free(&block); /* §5.1.9: "Any communication that is currently using this datatype will complete normally." */
  MPI_Win_fence(0, win);
  CHECK(mem[7] == 1 + 100 * mod(rank_ - 1) && mem[8] == 2 + 100 * mod(rank_ - 1) && mem[9] == 1 && mem[13] == 3 + 100 * mod(rank_ - 1) && mem[14] == 4 + 100 * mod(rank_ - 1));
  /* an element that begins before its address */
  { int len = 1; MPI_Aint d = -8; MPI_Type_create_hindexed(1, &len, &d, MPI_DOUBLE, &hole); MPI_Type_commit(&hole); }
  MPI_Put(src + 3, 1, MPI_DOUBLE, mod(rank_ + 1), 1, 1, hole, win);
  MPI_Win_fence(0, win);
  CHECK(mem[0] == 100 * mod(rank_ - 1) + 3);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  CHECK(class_of(MPI_Put(src, 1, MPI_DOUBLE, 0, 0, 1, hole, win)) == MPI_ERR_RMA_RANGE);
  MPI_Win_fence(0, win);
  MPI_Type_free(&hole);
  MPI_Type_free(&column);
  MPI_Win_free(&win);
}

/* §12.5.2: general active target synchronisation, each with its neighbours only. */
static void neighbours(void) {
  int mem[4] = {0, 0, 0, 0}, flag = 0, n = 0, list[2];
  MPI_Group world, near;
  MPI_Win win;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  list[n++] = mod(rank_ + 1);
  if (mod(rank_ - 1) != list[0]) list[n++] = mod(rank_ - 1);
  MPI_Group_incl(world, n, list, &near);
  MPI_Win_create(mem, sizeof mem, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  for (int round = 0; round < 4; round++) {
    int v = 10 * round + rank_, got = -1;
    mem[2] = v;
    /* "MPI_WIN_START is allowed to block until the corresponding MPI_WIN_POST calls … but is not required to" : here the post may come later */
    if (round % 2 == 0) MPI_Win_post(near, 0, win);
    MPI_Win_start(near, 0, win);
    MPI_Put(&v, 1, MPI_INT, mod(rank_ + 1), 0, 1, MPI_INT, win);
    MPI_Put(&v, 1, MPI_INT, mod(rank_ - 1), 1, 1, MPI_INT, win);
    MPI_Get(&got, 1, MPI_INT, mod(rank_ + 1), 2, 1, MPI_INT, win);
    if (round % 2 == 1) MPI_Win_post(near, 0, win);
    MPI_Win_complete(win);
    CHECK(got == 10 * round + mod(rank_ + 1));
    if (round < 2) MPI_Win_wait(win);
    else for (flag = 0; !flag;) MPI_Win_test(win, &flag);
    CHECK(mem[0] == 10 * round + mod(rank_ - 1) && mem[1] == 10 * round + mod(rank_ + 1));
  }
  /* an empty group is a group */
  MPI_Win_post(MPI_GROUP_EMPTY, 0, win);
  MPI_Win_start(MPI_GROUP_EMPTY, 0, win);
  MPI_Win_complete(win);
  MPI_Win_wait(win);
  MPI_Win_free(&win);
  MPI_Group_free(&near);
  MPI_Group_free(&world);
}

/* §12.5.3: passive target. Nobody but the origin takes part; the others are in a barrier or on their way to it. */
static void locks(void) {
  long *mem, sum = 0, one = 1, old, mine[3];
  int i;
  MPI_Win win;
  MPI_Request q[3];
  MPI_Win_allocate(4 * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank_, 0, win);
  for (i = 0; i < 4; i++) mem[i] = 0;
  MPI_Win_unlock(rank_, win);
  MPI_Barrier(MPI_COMM_WORLD);
  /* a counter without atomics: read, add, write under an exclusive lock */
  for (i = 0; i < 5; i++) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Get(&old, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
    MPI_Win_flush(0, win);
    old += rank_ + 1;
    MPI_Put(&old, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
    MPI_Win_unlock(0, win);
  }
  /* "MPI_FETCH_AND_OP … atomically": tickets */
  MPI_Win_lock_all(0, win);
  for (i = 0; i < 5; i++) {
    MPI_Fetch_and_op(&one, &old, MPI_LONG, size_ - 1, 1, MPI_SUM, win);
    MPI_Win_flush(size_ - 1, win);
    CHECK(old >= 0 && old < 5 * size_);
    sum += old;
  }
  MPI_Raccumulate(&one, 1, MPI_LONG, 0, 2, 1, MPI_LONG, MPI_SUM, win, &q[0]);
  MPI_Rget(mine, 1, MPI_LONG, size_ - 1, 1, 1, MPI_LONG, win, &q[1]);
  MPI_Rput(&one, 1, MPI_LONG, rank_, 3, 1, MPI_LONG, win, &q[2]);
  MPI_Waitall(3, q, MPI_STATUSES_IGNORE);
  CHECK(mine[0] >= 5 && mine[0] <= 5 * size_);
  MPI_Win_flush_all(win);
  CHECK(mem[3] == 1);
  MPI_Rget_accumulate(&one, 1, MPI_LONG, mine, 1, MPI_LONG, rank_, 3, 1, MPI_LONG, MPI_REPLACE, win, &q[0]);
  MPI_Wait(&q[0], MPI_STATUS_IGNORE);
  CHECK(mine[0] == 1);
  MPI_Get_accumulate(NULL, 0, MPI_DATATYPE_NULL, mine, 1, MPI_LONG, rank_, 3, 1, MPI_LONG, MPI_NO_OP, win);
  MPI_Win_flush_local(rank_, win);
  CHECK(mine[0] == 1);
  MPI_Win_unlock_all(win);
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  CHECK(sum == (long)5 * size_ * (5 * size_ - 1) / 2);
  MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
  MPI_Get(mine, 3, MPI_LONG, 0, 0, 3, MPI_LONG, win);
  MPI_Win_unlock(0, win);
  CHECK(mine[0] == 5 * (long)size_ * (size_ + 1) / 2);
  CHECK(mine[2] == size_);
  /* MPI_Compare_and_swap: one of all gets in */
  { long me = rank_ + 1, zero = 0, was; int won, all;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank_, 0, win); mem[3] = 0; MPI_Win_unlock(rank_, win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, MPI_MODE_NOCHECK, win);
    MPI_Compare_and_swap(&me, &zero, &was, MPI_LONG, 0, 3, win);
    MPI_Win_unlock(0, win);
    won = was == 0;
    MPI_Allreduce(&won, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(all == 1);
  }
  /* several locks at a time, and to nobody */
  MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
  if (size_ > 1) MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
  MPI_Win_lock(MPI_LOCK_SHARED, MPI_PROC_NULL, 0, win);
  MPI_Put(&one, 1, MPI_LONG, MPI_PROC_NULL, 0, 1, MPI_LONG, win);
  MPI_Rget(mine, 1, MPI_LONG, MPI_PROC_NULL, 0, 1, MPI_LONG, win, &q[0]);
  MPI_Wait(&q[0], MPI_STATUS_IGNORE);
  MPI_Win_unlock(MPI_PROC_NULL, win);
  if (size_ > 1) MPI_Win_unlock(1, win);
  MPI_Win_unlock(0, win);
  MPI_Win_free(&win);
}

/* A flag in window memory: the target looks at it in a loop of MPI_Win_sync, §12.7 ("progress"). */
static void flags(void) {
  volatile int *mem;
  int one = 1;
  MPI_Win win;
  MPI_Win_allocate(2 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, (void *)&mem, &win);
  mem[0] = mem[1] = 0;
  MPI_Win_lock_all(0, win);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank_ == 0) { MPI_Accumulate(&one, 1, MPI_INT, mod(1), 0, 1, MPI_INT, MPI_REPLACE, win); MPI_Win_flush(mod(1), win); }
  while (mem[0] == 0) MPI_Win_sync(win);
  if (rank_ != 0) { MPI_Put(&one, 1, MPI_INT, mod(rank_ + 1), 0, 1, MPI_INT, win); MPI_Win_flush(mod(rank_ + 1), win); }
  CHECK(mem[0] == 1);
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
}

static void dynamic(void) {
  int mem[8], other[4], i, got = 0;
  MPI_Aint at, *all = malloc(size_ * sizeof(MPI_Aint));
  MPI_Win win;
  for (i = 0; i < 8; i++) mem[i] = 10 * rank_ + i;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  CHECK(MPI_Win_attach(win, mem, sizeof mem) == MPI_SUCCESS);
  /* §12.2.4: "… it is erroneous to attach overlapping memory" */
  CHECK(class_of(MPI_Win_attach(win, mem + 2, 4)) == MPI_ERR_RMA_ATTACH);
  CHECK(class_of(MPI_Win_detach(win, other)) == MPI_ERR_RMA_ATTACH);
  MPI_Get_address(mem, &at);
  MPI_Allgather(&at, 1, MPI_AINT, all, 1, MPI_AINT, MPI_COMM_WORLD);
  MPI_Win_fence(0, win);
  MPI_Get(&got, 1, MPI_INT, mod(rank_ + 1), MPI_Aint_add(all[mod(rank_ + 1)], 12), 1, MPI_INT, win);
  MPI_Win_fence(0, win);
  CHECK(got == 10 * mod(rank_ + 1) + 3);
  /* memory that is not attached: the origin hears of it */
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  MPI_Win_lock(MPI_LOCK_SHARED, mod(rank_ + 1), 0, win);
  got = 5;
  MPI_Put(&got, 1, MPI_INT, mod(rank_ + 1), all[mod(rank_ + 1)] + 32, 1, MPI_INT, win);
  /* the target meets it inside a call that does not wait: the message behind it comes the same way */
  MPI_Send(NULL, 0, MPI_INT, mod(rank_ + 1), 77, MPI_COMM_WORLD);
  for (i = 0; !i;) MPI_Iprobe(mod(rank_ - 1), 77, MPI_COMM_WORLD, &i, MPI_STATUS_IGNORE);
  MPI_Recv(NULL, 0, MPI_INT, mod(rank_ - 1), 77, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK(class_of(MPI_Win_flush(mod(rank_ + 1), win)) == MPI_ERR_RMA_RANGE);
  MPI_Put(&got, 1, MPI_INT, mod(rank_ + 1), all[mod(rank_ + 1)] + 28, 1, MPI_INT, win);
  CHECK(MPI_Win_unlock(mod(rank_ + 1), win) == MPI_SUCCESS);
  { MPI_Request q; MPI_Win_lock(MPI_LOCK_SHARED, mod(rank_ + 1), 0, win);
    MPI_Rget(&got, 1, MPI_INT, mod(rank_ + 1), 8, 1, MPI_INT, win, &q);
    CHECK(class_of(MPI_Wait(&q, MPI_STATUS_IGNORE)) == MPI_ERR_RMA_RANGE);
    MPI_Win_unlock(mod(rank_ + 1), win); }
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(mem[7] == 5);
  CHECK(MPI_Win_detach(win, mem) == MPI_SUCCESS);
  MPI_Win_free(&win);
  free(all);
}

static int copies, deletes, handled;
static int deleted(MPI_Win w, int key, void *value, void *extra) { (void)w; (void)key; deletes += *(int *)value + *(int *)extra; return MPI_SUCCESS; }
static int copied(MPI_Win w, int key, void *extra, void *in, void *out, int *flag) { (void)w; (void)key; (void)extra; (void)in; (void)out; *flag = 0; copies++; return MPI_SUCCESS; }
static MPI_Win handled_win;
static void handler(MPI_Win *w, int *code, ...) { handled++; handled_win = *w; CHECK(class_of(*code) == MPI_ERR_RMA_SYNC); }

static void objects(void) {
  int mem[4], flag, key, seven = 7, extra = 100, len, unit, *flavor, *model, *du, *value;
  MPI_Aint *bytes, size;
  void *base;
  char name[MPI_MAX_OBJECT_NAME];
  MPI_Win win, shared;
  MPI_Comm alone;
  MPI_Info info;
  MPI_Group g, w;
  MPI_Errhandler eh, got;
  MPI_Win_create(mem, sizeof mem, 2, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_get_attr(win, MPI_WIN_BASE, &base, &flag);
  CHECK(flag && base == mem);
  MPI_Win_get_attr(win, MPI_WIN_SIZE, &bytes, &flag);
  CHECK(flag && *bytes == sizeof mem);
  MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &du, &flag);
  CHECK(flag && *du == 2);
  MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &flavor, &flag);
  CHECK(flag && *flavor == MPI_WIN_FLAVOR_CREATE);
  MPI_Win_get_attr(win, MPI_WIN_MODEL, &model, &flag);
  CHECK(flag && *model == MPI_WIN_UNIFIED);
  MPI_Win_create_keyval(copied, deleted, &key, &extra);
  MPI_Win_get_attr(win, key, &value, &flag);
  CHECK(!flag);
  MPI_Win_set_attr(win, key, &seven);
  MPI_Win_get_attr(win, key, &value, &flag);
  CHECK(flag && *value == 7);
  MPI_Win_delete_attr(win, key);
  CHECK(deletes == 107);
  MPI_Win_set_attr(win, key, &seven);
  MPI_Win_free_keyval(&key);
  CHECK(key == MPI_KEYVAL_INVALID);
  MPI_Win_set_name(win, "the window");
  MPI_Win_get_name(win, name, &len);
  CHECK(len == 10 && strcmp(name, "the window") == 0);
  MPI_Win_get_group(win, &g);
  MPI_Comm_group(MPI_COMM_WORLD, &w);
  MPI_Group_compare(g, w, &flag);
  CHECK(flag == MPI_IDENT);
  MPI_Group_free(&g);
  MPI_Group_free(&w);
  MPI_Win_get_info(win, &info);
  MPI_Info_get(info, "no_locks", 9, name, &flag);
  CHECK(flag && strcmp(name, "false") == 0);
  MPI_Info_set(info, "same_size", "true");
  MPI_Win_set_info(win, info);
  MPI_Info_free(&info);
  /* §9.3: "… attached to a window"; the default is MPI_ERRORS_ARE_FATAL */
  MPI_Win_get_errhandler(win, &got);
  CHECK(got == MPI_ERRORS_ARE_FATAL);
  MPI_Win_create_errhandler(handler, &eh);
  MPI_Win_set_errhandler(win, eh);
  CHECK(class_of(MPI_Win_unlock(0, win)) == MPI_ERR_RMA_SYNC);
  CHECK(handled == 1 && handled_win == win);
  MPI_Win_call_errhandler(win, MPI_ERR_RMA_SYNC);
  CHECK(handled == 2);
  MPI_Errhandler_free(&eh);
  MPI_Win_free(&win);
  CHECK(deletes == 214 && copies == 0);
  /* §12.2.3: memory that ranks of one node share; a rank of Mayfly is alone there */
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &alone);
  MPI_Win_allocate_shared(64, 4, MPI_INFO_NULL, alone, &base, &shared);
  MPI_Win_shared_query(shared, MPI_PROC_NULL, &size, &unit, &value);
  CHECK(size == 64 && unit == 4 && value == base);
  MPI_Win_lock_all(0, shared);
  value[3] = rank_;
  MPI_Win_sync(shared);
  MPI_Win_unlock_all(shared);
  MPI_Win_get_attr(shared, MPI_WIN_CREATE_FLAVOR, &flavor, &flag);
  CHECK(*flavor == MPI_WIN_FLAVOR_SHARED);
  MPI_Win_free(&shared);
  if (size_ > 1) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK(class_of(MPI_Win_allocate_shared(64, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &shared)) == MPI_ERR_RMA_SHARED);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  }
  MPI_Comm_free(&alone);
}

static void errors(void) {
  int mem[4] = {0, 0, 0, 0}, v = 1, w2[2] = {0, 0};
  double d = 1;
  MPI_Win win, none = MPI_WIN_NULL;
  MPI_Request q;
  MPI_Group g;
  MPI_Datatype raw;
  MPI_Type_contiguous(2, MPI_INT, &raw);
  MPI_Comm_group(MPI_COMM_WORLD, &g);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  CHECK(class_of(MPI_Win_create(mem, -1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win)) == MPI_ERR_SIZE);
  CHECK(class_of(MPI_Win_create(mem, 16, 0, MPI_INFO_NULL, MPI_COMM_WORLD, &win)) == MPI_ERR_DISP);
  CHECK(class_of(MPI_Win_create(mem, 16, 4, MPI_INFO_NULL, MPI_COMM_NULL, &win)) == MPI_ERR_COMM);
  CHECK(class_of(MPI_Win_fence(0, none)) == MPI_ERR_WIN);
  CHECK(class_of(MPI_Put(&v, 1, MPI_INT, 0, 0, 1, MPI_INT, none)) == MPI_ERR_WIN);
  CHECK(class_of(MPI_Win_free(&none)) == MPI_ERR_WIN);
  MPI_Win_create(mem, sizeof mem, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  CHECK(class_of(MPI_Put(&v, 1, MPI_INT, 0, 0, 1, MPI_INT, win)) == MPI_ERR_RMA_SYNC);
  CHECK(class_of(MPI_Win_complete(win)) == MPI_ERR_RMA_SYNC);
  CHECK(class_of(MPI_Win_wait(win)) == MPI_ERR_RMA_SYNC);
  CHECK(class_of(MPI_Win_flush(0, win)) == MPI_ERR_RMA_SYNC);
  CHECK(class_of(MPI_Win_unlock_all(win)) == MPI_ERR_RMA_SYNC);
  CHECK(class_of(MPI_Win_fence(3, win)) == MPI_ERR_ASSERT);
  CHECK(class_of(MPI_Win_lock(5, 0, 0, win)) == MPI_ERR_LOCKTYPE);
  CHECK(class_of(MPI_Win_lock(MPI_LOCK_SHARED, size_, 0, win)) == MPI_ERR_RANK);
  CHECK(class_of(MPI_Win_attach(win, mem, 4)) == MPI_ERR_RMA_FLAVOR);
  MPI_Win_fence(0, win);
  CHECK(class_of(MPI_Put(&v, 1, MPI_INT, size_, 0, 1, MPI_INT, win)) == MPI_ERR_RANK);
  CHECK(class_of(MPI_Put(&v, 1, MPI_INT, 0, 4, 1, MPI_INT, win)) == MPI_ERR_RMA_RANGE);
  CHECK(class_of(MPI_Put(&v, 1, MPI_INT, 0, -1, 1, MPI_INT, win)) == MPI_ERR_DISP);
  CHECK(class_of(MPI_Put(&v, -1, MPI_INT, 0, 0, 1, MPI_INT, win)) == MPI_ERR_COUNT);
  CHECK(class_of(MPI_Put(w2, 1, raw, 0, 0, 2, MPI_INT, win)) == MPI_ERR_TYPE);
  CHECK(class_of(MPI_Get(&v, 1, MPI_INT, 0, 0, 2, MPI_INT, win)) == MPI_ERR_TRUNCATE);
  CHECK(class_of(MPI_Accumulate(&d, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, MPI_BAND, win)) == MPI_ERR_OP);
  CHECK(class_of(MPI_Accumulate(&d, 1, MPI_DOUBLE, 0, 0, 2, MPI_INT, MPI_SUM, win)) == MPI_ERR_TYPE);
  CHECK(class_of(MPI_Accumulate(&v, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_NO_OP, win)) == MPI_ERR_OP);
  CHECK(class_of(MPI_Accumulate(&v, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_OP_NULL, win)) == MPI_ERR_OP);
  CHECK(class_of(MPI_Compare_and_swap(&d, &d, &d, MPI_DOUBLE, 0, 0, win)) == MPI_ERR_TYPE);
  CHECK(class_of(MPI_Rput(&v, 1, MPI_INT, 0, 0, 1, MPI_INT, win, &q)) == MPI_ERR_RMA_SYNC);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
  CHECK(class_of(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win)) == MPI_ERR_RMA_SYNC);
  CHECK(class_of(MPI_Win_lock_all(0, win)) == MPI_ERR_RMA_SYNC);
  CHECK(class_of(MPI_Win_fence(0, win)) == MPI_ERR_RMA_SYNC);
  CHECK(class_of(MPI_Win_free(&win)) == MPI_ERR_RMA_SYNC);
  MPI_Win_unlock(0, win);
  MPI_Win_start(g, 0, win);
  CHECK(class_of(MPI_Win_start(g, 0, win)) == MPI_ERR_RMA_SYNC);
  CHECK(class_of(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win)) == MPI_ERR_RMA_SYNC);
  MPI_Win_post(g, 0, win);
  CHECK(class_of(MPI_Win_post(g, 0, win)) == MPI_ERR_RMA_SYNC);
  MPI_Win_complete(win);
  CHECK(MPI_Win_wait(win) == MPI_SUCCESS);
  CHECK(mem[0] == 0 && mem[1] == 0 && mem[2] == 0 && mem[3] == 0);
  MPI_Win_free(&win);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
  MPI_Group_free(&g);
  MPI_Type_free(&raw);
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  fences();
  derived();
  neighbours();
  locks();
  flags();
  dynamic();
  objects();
  errors();
  return finish();
}
