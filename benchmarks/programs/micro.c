/*
 * Microbenchmarks: what one operation takes, by kind and size. Each measurement repeats its operation for about `budget` seconds, which the clock's coarse ticks
 * (1 ms here) ask for. Prints "name bytes ranks microseconds", and "done".
 *
 *   micro [seconds per measurement [seconds for all]] [p2p] [collectives] [nonblocking] [neighbours] [types] [onesided]
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 20, WINDOW = 16 };
static int rank, size;
static double budget = 0.1, until = 1e300;
static char *a, *b;

typedef void operation(int bytes, int peer);

/*
 * The mean of one call at rank 0; ranks with peer −1 look on. The number of calls grows until they last half the budget: that run counts. `share`: the part of a
 * call that is told.
 */
static void measure(const char *name, operation *op, int bytes, int peer, double share) {
  /* Over the limit nothing is measured any more. Rank 0's clock decides for all. */
  int n = MPI_Wtime() < until ? 4 : 0;
  MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);
  while (n > 0) {
    MPI_Barrier(MPI_COMM_WORLD);
    double began = MPI_Wtime();
    if (peer != -1)
      for (int i = 0; i < n; i++) op(bytes, peer);
    double t = MPI_Wtime() - began;
    int done = t >= budget / 2 || n >= 1 << 22;
    if (done && rank == 0) {
      printf("%s %d %d %.4f\n", name, bytes, size, 1e6 * t / n * share);
      fflush(stdout);
    }
    n = done ? 0 : t < budget / 16 ? 8 * n : (int)(n * budget / t) + 1;
    MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
}

static void ping_pong(int bytes, int peer) {
  if (rank < peer) {
    MPI_Send(a, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
    MPI_Recv(b, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(b, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(a, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
  }
}
static void stream(int bytes, int peer) {
  MPI_Request r[WINDOW];
  for (int i = 0; i < WINDOW; i++)
    if (rank < peer) MPI_Isend(a, bytes, MPI_BYTE, peer, 2, MPI_COMM_WORLD, &r[i]);
    else MPI_Irecv(b, bytes, MPI_BYTE, peer, 2, MPI_COMM_WORLD, &r[i]);
  MPI_Waitall(WINDOW, r, MPI_STATUSES_IGNORE);
  if (rank < peer) MPI_Recv(b, 1, MPI_BYTE, peer, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  else MPI_Send(a, 1, MPI_BYTE, peer, 3, MPI_COMM_WORLD);
}
static void both_ways(int bytes, int peer) {
  MPI_Request r[2 * WINDOW];
  for (int i = 0; i < WINDOW; i++) MPI_Irecv(b, bytes, MPI_BYTE, peer, 4, MPI_COMM_WORLD, &r[i]);
  for (int i = 0; i < WINDOW; i++) MPI_Isend(a, bytes, MPI_BYTE, peer, 4, MPI_COMM_WORLD, &r[WINDOW + i]);
  MPI_Waitall(2 * WINDOW, r, MPI_STATUSES_IGNORE);
}

#define COLLECTIVE(name, ...) static void name(int bytes, int peer) { (void)bytes; (void)peer; int n = bytes / 8; (void)n; __VA_ARGS__; }
COLLECTIVE(barrier, MPI_Barrier(MPI_COMM_WORLD))
COLLECTIVE(bcast, MPI_Bcast(a, bytes, MPI_BYTE, 0, MPI_COMM_WORLD))
COLLECTIVE(reduce, MPI_Reduce(a, b, n, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD))
COLLECTIVE(allreduce, MPI_Allreduce(a, b, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD))
COLLECTIVE(gather, MPI_Gather(a, bytes, MPI_BYTE, b, bytes, MPI_BYTE, 0, MPI_COMM_WORLD))
COLLECTIVE(scatter, MPI_Scatter(a, bytes, MPI_BYTE, b, bytes, MPI_BYTE, 0, MPI_COMM_WORLD))
COLLECTIVE(allgather, MPI_Allgather(a, bytes, MPI_BYTE, b, bytes, MPI_BYTE, MPI_COMM_WORLD))
COLLECTIVE(alltoall, MPI_Alltoall(a, bytes, MPI_BYTE, b, bytes, MPI_BYTE, MPI_COMM_WORLD))
COLLECTIVE(reduce_scatter, MPI_Reduce_scatter_block(a, b, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD))
COLLECTIVE(scan, MPI_Scan(a, b, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD))
COLLECTIVE(exscan, MPI_Exscan(a, b, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD))

/* The forms with a count per rank: equal ones, so that they compare with the plain form. */
static int *counts, *places;
static int *each(int bytes) {
  for (int i = 0; i < size; i++) {
    counts[i] = bytes;
    places[i] = i * bytes;
  }
  return counts;
}
COLLECTIVE(gatherv, MPI_Gatherv(a, bytes, MPI_BYTE, b, each(bytes), places, MPI_BYTE, 0, MPI_COMM_WORLD))
COLLECTIVE(scatterv, MPI_Scatterv(a, each(bytes), places, MPI_BYTE, b, bytes, MPI_BYTE, 0, MPI_COMM_WORLD))
COLLECTIVE(allgatherv, MPI_Allgatherv(a, bytes, MPI_BYTE, b, each(bytes), places, MPI_BYTE, MPI_COMM_WORLD))
COLLECTIVE(alltoallv, MPI_Alltoallv(a, each(bytes), places, MPI_BYTE, b, counts, places, MPI_BYTE, MPI_COMM_WORLD))
COLLECTIVE(reduce_scatter_v, MPI_Reduce_scatter(a, b, each(n), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD))
/* With a type per rank too: displacements are in bytes. */
static MPI_Datatype *kinds;
static MPI_Aint near[] = {0, 2 * MOST};
COLLECTIVE(alltoallw, MPI_Alltoallw(a, each(bytes), places, kinds, b, counts, places, kinds, MPI_COMM_WORLD))

/* Non-blocking ones, begun and waited for. */
#define WAITED(name, ...) COLLECTIVE(name, MPI_Request r; __VA_ARGS__; MPI_Wait(&r, MPI_STATUS_IGNORE))
WAITED(ibarrier, MPI_Ibarrier(MPI_COMM_WORLD, &r))
WAITED(ibcast, MPI_Ibcast(a, bytes, MPI_BYTE, 0, MPI_COMM_WORLD, &r))
WAITED(ireduce, MPI_Ireduce(a, b, n, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD, &r))
WAITED(iallreduce, MPI_Iallreduce(a, b, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &r))
WAITED(igather, MPI_Igather(a, bytes, MPI_BYTE, b, bytes, MPI_BYTE, 0, MPI_COMM_WORLD, &r))
WAITED(igatherv, MPI_Igatherv(a, bytes, MPI_BYTE, b, each(bytes), places, MPI_BYTE, 0, MPI_COMM_WORLD, &r))
WAITED(iscatter, MPI_Iscatter(a, bytes, MPI_BYTE, b, bytes, MPI_BYTE, 0, MPI_COMM_WORLD, &r))
WAITED(iscatterv, MPI_Iscatterv(a, each(bytes), places, MPI_BYTE, b, bytes, MPI_BYTE, 0, MPI_COMM_WORLD, &r))
WAITED(iallgather, MPI_Iallgather(a, bytes, MPI_BYTE, b, bytes, MPI_BYTE, MPI_COMM_WORLD, &r))
WAITED(iallgatherv, MPI_Iallgatherv(a, bytes, MPI_BYTE, b, each(bytes), places, MPI_BYTE, MPI_COMM_WORLD, &r))
WAITED(ialltoall, MPI_Ialltoall(a, bytes, MPI_BYTE, b, bytes, MPI_BYTE, MPI_COMM_WORLD, &r))
WAITED(ialltoallv, MPI_Ialltoallv(a, each(bytes), places, MPI_BYTE, b, counts, places, MPI_BYTE, MPI_COMM_WORLD, &r))
WAITED(ialltoallw, MPI_Ialltoallw(a, each(bytes), places, kinds, b, counts, places, kinds, MPI_COMM_WORLD, &r))
WAITED(ireduce_scatter, MPI_Ireduce_scatter_block(a, b, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &r))
WAITED(ireduce_scatter_v, MPI_Ireduce_scatter(a, b, each(n), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &r))
WAITED(iscan, MPI_Iscan(a, b, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &r))
WAITED(iexscan, MPI_Iexscan(a, b, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &r))

/* Persistent ones, started and waited for: made in the first run of a size, which is not the one that counts; freed by a call with no bytes. */
#define STARTED(name, ...) COLLECTIVE(name, static MPI_Request r; static int made; \
  if (made != bytes) { \
    if (made) MPI_Request_free(&r); \
    made = bytes; \
    if (made) __VA_ARGS__; \
  } \
  if (!made) return; \
  MPI_Start(&r); MPI_Wait(&r, MPI_STATUS_IGNORE))
STARTED(bcast_init, MPI_Bcast_init(a, bytes, MPI_BYTE, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &r))
STARTED(allreduce_init, MPI_Allreduce_init(a, b, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &r))
STARTED(alltoall_init, MPI_Alltoall_init(a, bytes, MPI_BYTE, b, bytes, MPI_BYTE, MPI_COMM_WORLD, MPI_INFO_NULL, &r))

/* Neighbours on a ring: two each. */
static MPI_Comm ring;
COLLECTIVE(neighbor_allgather, MPI_Neighbor_allgather(a, bytes, MPI_BYTE, b, bytes, MPI_BYTE, ring))
COLLECTIVE(neighbor_allgatherv, MPI_Neighbor_allgatherv(a, bytes, MPI_BYTE, b, each(bytes), places, MPI_BYTE, ring))
COLLECTIVE(neighbor_alltoall, MPI_Neighbor_alltoall(a, bytes, MPI_BYTE, b, bytes, MPI_BYTE, ring))
COLLECTIVE(neighbor_alltoallv, MPI_Neighbor_alltoallv(a, each(bytes), places, MPI_BYTE, b, counts, places, MPI_BYTE, ring))
COLLECTIVE(neighbor_alltoallw, MPI_Neighbor_alltoallw(a, each(bytes), near, kinds, b, counts, near, kinds, ring))
WAITED(ineighbor_allgather, MPI_Ineighbor_allgather(a, bytes, MPI_BYTE, b, bytes, MPI_BYTE, ring, &r))
WAITED(ineighbor_allgatherv, MPI_Ineighbor_allgatherv(a, bytes, MPI_BYTE, b, each(bytes), places, MPI_BYTE, ring, &r))
WAITED(ineighbor_alltoall, MPI_Ineighbor_alltoall(a, bytes, MPI_BYTE, b, bytes, MPI_BYTE, ring, &r))
WAITED(ineighbor_alltoallv, MPI_Ineighbor_alltoallv(a, each(bytes), places, MPI_BYTE, b, counts, places, MPI_BYTE, ring, &r))
WAITED(ineighbor_alltoallw, MPI_Ineighbor_alltoallw(a, each(bytes), near, kinds, b, counts, near, kinds, ring, &r))
STARTED(neighbor_alltoall_init, MPI_Neighbor_alltoall_init(a, bytes, MPI_BYTE, b, bytes, MPI_BYTE, ring, MPI_INFO_NULL, &r))

struct entry { const char *name; operation *op; };
#define ENTRY(name) {#name, name}
static const struct entry blocking[] = {ENTRY(bcast), ENTRY(reduce), ENTRY(allreduce), ENTRY(gather), ENTRY(scatter), ENTRY(allgather), ENTRY(alltoall),
  ENTRY(reduce_scatter), ENTRY(scan), ENTRY(exscan), ENTRY(gatherv), ENTRY(scatterv), ENTRY(allgatherv), ENTRY(alltoallv), ENTRY(alltoallw), ENTRY(reduce_scatter_v)};
static const struct entry waited[] = {ENTRY(ibcast), ENTRY(ireduce), ENTRY(iallreduce), ENTRY(igather), ENTRY(iscatter), ENTRY(iallgather), ENTRY(ialltoall),
  ENTRY(ireduce_scatter), ENTRY(iscan), ENTRY(iexscan), ENTRY(igatherv), ENTRY(iscatterv), ENTRY(iallgatherv), ENTRY(ialltoallv), ENTRY(ialltoallw), ENTRY(ireduce_scatter_v),
  ENTRY(bcast_init), ENTRY(allreduce_init), ENTRY(alltoall_init)};
static const struct entry neighbours[] = {ENTRY(neighbor_allgather), ENTRY(neighbor_allgatherv), ENTRY(neighbor_alltoall), ENTRY(neighbor_alltoallv),
  ENTRY(neighbor_alltoallw), ENTRY(ineighbor_allgather), ENTRY(ineighbor_allgatherv), ENTRY(ineighbor_alltoall), ENTRY(ineighbor_alltoallv), ENTRY(ineighbor_alltoallw),
  ENTRY(neighbor_alltoall_init)};

/* Each at 8 bytes, 1 and 64 KB. */
static void every(const struct entry *list, size_t n) {
  for (size_t k = 0; k < n; k++) {
    for (int bytes = 8; bytes <= 65536; bytes *= bytes == 8 ? 128 : 64) measure(list[k].name, list[k].op, bytes, 0, 1);
    list[k].op(0, 0);
  }
}
#define EVERY(list) every(list, sizeof list / sizeof *list)

/* Packing a shape by its type, and by a loop as one would write it: 64 KB of data each. */
static MPI_Datatype type;
static int blocks, length, stride;
static int *at;
static void by_type(int bytes, int peer) {
  int position = 0;
  (void)peer;
  MPI_Pack(a, 1, type, b, bytes, &position, MPI_COMM_SELF);
}
static void by_loop(int bytes, int peer) {
  double *from = (double *)a, *to = (double *)b;
  (void)bytes;
  (void)peer;
  for (int i = 0; i < blocks; i++)
    for (int k = 0; k < length; k++) *to++ = from[i * stride + k];
  __asm__ volatile("" : : "r"(b) : "memory");
}
static void by_index(int bytes, int peer) {
  double *from = (double *)a, *to = (double *)b;
  (void)bytes;
  (void)peer;
  for (int i = 0; i < blocks; i++)
    for (int k = 0; k < length; k++) *to++ = from[at[i] + k];
  __asm__ volatile("" : : "r"(b) : "memory");
}
struct particle { double x[3]; int id; float mass; double unused; };
static void by_member(int bytes, int peer) {
  struct particle *p = (struct particle *)a;
  char *to = b;
  (void)bytes;
  (void)peer;
  for (int i = 0; i < blocks; i++, to += 28) {
    memcpy(to, p[i].x, 24);
    memcpy(to + 24, &p[i].id, 4);
  }
  __asm__ volatile("" : : "r"(b) : "memory");
}
static void shapes(void) {
  struct { const char *name; int blocks, length, stride; } list[] = {{"vector1", 8192, 1, 4}, {"vector4", 2048, 4, 16}, {"vector64", 128, 64, 128}};
  char name[64];
  for (int i = 0; i < 3; i++) {
    blocks = list[i].blocks;
    length = list[i].length;
    stride = list[i].stride;
    MPI_Type_vector(blocks, length, stride, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    snprintf(name, sizeof name, "type_%s", list[i].name);
    measure(name, by_type, 65536, rank == 0 ? 0 : -1, 1);
    snprintf(name, sizeof name, "loop_%s", list[i].name);
    measure(name, by_loop, 65536, rank == 0 ? 0 : -1, 1);
    MPI_Type_free(&type);
  }
  for (int l = 1; l <= 8; l += 7) {
    blocks = 8192 / l;
    length = l;
    at = malloc((size_t)blocks * sizeof *at);
    for (int i = 0, p = 0; i < blocks; i++, p += l + 1 + i % 3) at[i] = p;
    MPI_Type_create_indexed_block(blocks, length, at, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    snprintf(name, sizeof name, "type_indexed%d", l);
    measure(name, by_type, 65536, rank == 0 ? 0 : -1, 1);
    snprintf(name, sizeof name, "loop_indexed%d", l);
    measure(name, by_index, 65536, rank == 0 ? 0 : -1, 1);
    MPI_Type_free(&type);
    free(at);
  }
  blocks = 2340;
  int lengths[] = {3, 1};
  MPI_Aint displs[] = {0, 24};
  MPI_Datatype types[] = {MPI_DOUBLE, MPI_INT}, one, whole;
  MPI_Type_create_struct(2, lengths, displs, types, &one);
  MPI_Type_create_resized(one, 0, sizeof(struct particle), &whole);
  MPI_Type_contiguous(blocks, whole, &type);
  MPI_Type_commit(&type);
  measure("type_struct", by_type, 65536, rank == 0 ? 0 : -1, 1);
  measure("loop_struct", by_member, 65536, rank == 0 ? 0 : -1, 1);
  MPI_Type_free(&type);
  MPI_Type_free(&one);
  MPI_Type_free(&whole);
}

static MPI_Win window;
static void put(int bytes, int peer) {
  MPI_Put(a, bytes, MPI_BYTE, peer, 0, bytes, MPI_BYTE, window);
  MPI_Win_flush(peer, window);
}
static void get(int bytes, int peer) {
  MPI_Get(a, bytes, MPI_BYTE, peer, 0, bytes, MPI_BYTE, window);
  MPI_Win_flush(peer, window);
}
static void accumulate(int bytes, int peer) {
  MPI_Accumulate(a, bytes / 8, MPI_LONG_LONG, peer, 0, bytes / 8, MPI_LONG_LONG, MPI_SUM, window);
  MPI_Win_flush(peer, window);
}
static void fetch_and_op(int bytes, int peer) {
  (void)bytes;
  MPI_Fetch_and_op(a, b, MPI_LONG_LONG, peer, 0, MPI_SUM, window);
  MPI_Win_flush(peer, window);
}
static void compare_and_swap(int bytes, int peer) {
  (void)bytes;
  MPI_Compare_and_swap(a, a + 8, b, MPI_LONG_LONG, peer, 0, window);
  MPI_Win_flush(peer, window);
}
static void locked(int bytes, int peer) {
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, peer, 0, window);
  MPI_Put(a, bytes, MPI_BYTE, peer, 0, bytes, MPI_BYTE, window);
  MPI_Win_unlock(peer, window);
}
static void fenced(int bytes, int peer) {
  (void)peer;
  MPI_Put(a, bytes, MPI_BYTE, (rank + 1) % size, 0, bytes, MPI_BYTE, window);
  MPI_Win_fence(0, window);
}

int main(int argc, char **argv) {
  int all = 1, p2p = 0, collectives = 0, nonblocking = 0, beside = 0, types = 0, onesided = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "p2p") == 0) p2p = 1;
    else if (strcmp(argv[i], "collectives") == 0) collectives = 1;
    else if (strcmp(argv[i], "nonblocking") == 0) nonblocking = 1;
    else if (strcmp(argv[i], "neighbours") == 0) beside = 1;
    else if (strcmp(argv[i], "types") == 0) types = 1;
    else if (strcmp(argv[i], "onesided") == 0) onesided = 1;
    else if (i == 1) budget = atof(argv[i]);
    else until = MPI_Wtime() + atof(argv[i]);
  }
  all = !p2p && !collectives && !nonblocking && !beside && !types && !onesided;
  a = calloc(1, (size_t)MOST * 16);
  b = calloc(1, (size_t)MOST * 16);
  counts = calloc(size, sizeof *counts);
  places = calloc(size, sizeof *places);
  kinds = calloc(size, sizeof *kinds);
  for (int i = 0; i < size; i++) kinds[i] = MPI_BYTE;
  int sizes[] = {8, 1024, 16384, 65536};
  int pair = rank == 0 ? 1 : rank == 1 ? 0 : -1;
  if (all || types) shapes();
  if (all || p2p) {
    for (int i = 0; i < 4; i++) measure("latency", ping_pong, sizes[i], pair, 0.5);
    for (int i = 1; i < 4; i++) measure("bandwidth", stream, sizes[i], pair, 1.0 / WINDOW);
    measure("bandwidth", stream, MOST / 2, pair, 1.0 / WINDOW);
    for (int i = 1; i < 4; i++) measure("bidirectional", both_ways, sizes[i], pair, 0.5 / WINDOW);
    int far = size % 2 == 0 ? (rank + size / 2) % size : -1;
    for (int i = 0; i < 3; i++) measure("multi_pair", stream, sizes[i], far, 1.0 / WINDOW / (size / 2));
  }
  if (all || collectives) {
    measure("barrier", barrier, 0, 0, 1);
    EVERY(blocking);
  }
  if (all || nonblocking) {
    measure("ibarrier", ibarrier, 0, 0, 1);
    EVERY(waited);
  }
  if (all || beside) {
    int round = 1;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &round, 0, &ring);
    EVERY(neighbours);
    MPI_Comm_free(&ring);
  }
  if (all || onesided) {
    void *base;
    MPI_Win_allocate(65536, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
    MPI_Win_fence(0, window);
    for (int i = 0; i < 3; i++) measure("put_fence", fenced, sizes[i], 0, 1);
    MPI_Win_fence(0, window);
    MPI_Win_lock_all(0, window);
    /* Rank 0 alone; the others wait in the barrier, which serves them. */
    for (int i = 0; i < 3; i++) measure("put_flush", put, sizes[i], rank == 0 ? 1 : -1, 1);
    for (int i = 0; i < 3; i++) measure("get_flush", get, sizes[i], rank == 0 ? 1 : -1, 1);
    for (int i = 0; i < 3; i++) measure("accumulate_flush", accumulate, sizes[i], rank == 0 ? 1 : -1, 1);
    measure("fetch_and_op", fetch_and_op, 8, rank == 0 ? 1 : -1, 1);
    measure("compare_and_swap", compare_and_swap, 8, rank == 0 ? 1 : -1, 1);
    MPI_Win_unlock_all(window);
    for (int i = 0; i < 3; i++) measure("put_lock", locked, sizes[i], rank == 0 ? 1 : -1, 1);
    MPI_Win_free(&window);
  }
  if (rank == 0) {
    puts("done");
    fflush(stdout);
  }
  MPI_Finalize();
  return 0;
}
