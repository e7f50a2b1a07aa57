/*
 * Buffers of size_t and ptrdiff_t, which have 32 bits, as the datatypes of 64 bits that they are on a 64-bit machine: peers that have an
 * unsigned long there, reductions, requests, packing, files. The values are those of a machine with a size_t of 64 bits.
 */
#include <stddef.h>
#include <stdint.h>
#include "check.h"

#define BCAST(p, t) MPI_Bcast((p), 1, (t), 0, MPI_COMM_WORLD)
typedef size_t idx_t;
typedef struct { int before; size_t n; int after; } guarded;

static void point_to_point(int rank, int size) {
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    guarded g = {11, 0, 22};
    size_t n = 7 + rank;
    unsigned long wide = 0;
    MPI_Status status;
    int count;
    /* "… type matching": a size_t at one side, an unsigned long at the other. */
    MPI_Sendrecv(&n, 1, MPI_UNSIGNED_LONG, right, 1, &wide, 1, MPI_UNSIGNED_LONG, left, 1, MPI_COMM_WORLD, &status);
    CHECK(wide == 7UL + left);
    MPI_Get_count(&status, MPI_UNSIGNED_LONG, &count);
    CHECK(count == 1);
    wide = 100 + rank;
    MPI_Sendrecv(&wide, 1, MPI_UNSIGNED_LONG, right, 2, &g.n, 1, MPI_UNSIGNED_LONG, left, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(g.before == 11 && g.n == 100u + left && g.after == 22);
    /* The datatype in a variable, the buffer converted by the program. */
    MPI_Datatype t = MPI_UINT64_T;
    size_t list[4] = {rank, 3000000000u, SIZE_MAX, 4}, got[5] = {0, 0, 0, 0, 99};
    MPI_Request r[2];
    MPI_Irecv((void *)got, 4, t, left, 3, MPI_COMM_WORLD, &r[0]);
    MPI_Isend((const void *)list, 4, t, right, 3, MPI_COMM_WORLD, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    CHECK(got[0] == (size_t)left && got[1] == 3000000000u && got[2] == SIZE_MAX && got[3] == 4 && got[4] == 99);
    ptrdiff_t d = -3 - rank, e[2] = {0, 77};
    long far = 0;
    MPI_Recv_init(e, 1, MPI_LONG_LONG, left, 4, MPI_COMM_WORLD, &r[0]);
    MPI_Send_init(&d, 1, MPI_LONG, right, 4, MPI_COMM_WORLD, &r[1]);
    MPI_Startall(2, r);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    MPI_Request_free(&r[0]);
    MPI_Request_free(&r[1]);
    CHECK(e[0] == -3 - left && e[1] == 77);
    MPI_Sendrecv(&d, 1, MPI_LONG, right, 5, &far, 1, MPI_LONG, left, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(far == -3L - left);
    MPI_Sendrecv_replace(list, 4, MPI_UNSIGNED_LONG, right, 6, left, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(list[0] == (size_t)left && list[3] == 4);
    /* As MPI_UNSIGNED_LONG a size_t is what it holds; as MPI_LONG a difference below zero is that. */
    n = 3000000000u;
    MPI_Sendrecv(&n, 1, MPI_UNSIGNED_LONG, right, 7, &wide, 1, MPI_UNSIGNED_LONG, left, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(wide == 3000000000UL);
    n = (size_t)0 - 7;
    MPI_Sendrecv(&n, 1, MPI_LONG, right, 8, &far, 1, MPI_LONG, left, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(far == -7);
    int probed;
    idx_t idx = 5, idx2[2] = {0, 66};
    MPI_Isend(&idx, 1, MPI_UNSIGNED_LONG, right, 9, MPI_COMM_WORLD, &r[0]);
    MPI_Probe(left, 9, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_UNSIGNED_LONG, &probed);
    CHECK(probed == 1);
    MPI_Recv(idx2, 2, MPI_UNSIGNED_LONG, left, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    CHECK(idx2[0] == 5 && idx2[1] == 66);
    BCAST(&idx, MPI_UNSIGNED_LONG);
    BCAST(&wide, MPI_UNSIGNED_LONG);
    CHECK(idx == 5 && wide == 3000000000UL);
}

static void collective(int rank, int size) {
    size_t n = rank + 1, sum = 0, table[2][3] = {{1, 2, 3}, {4, 5, 6}};
    ptrdiff_t d = rank == 0 ? -4 : 9, least = 0;
    MPI_Allreduce(&n, &sum, 1, MPI_UNSIGNED_LONG, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == (size_t)size * (size + 1) / 2);
    MPI_Allreduce(&d, &least, 1, MPI_LONG, MPI_MIN, MPI_COMM_WORLD);
    CHECK(least == -4);
    sum = rank == 0 ? SIZE_MAX : 12;
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_UNSIGNED_LONG, MPI_MIN, MPI_COMM_WORLD);
    CHECK(sum == (size > 1 ? 12 : SIZE_MAX));
    sum = n;
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_UNSIGNED_LONG_LONG, MPI_BOR, MPI_COMM_WORLD);
    MPI_Scan(&n, &sum, 1, MPI_UNSIGNED_LONG, MPI_PROD, MPI_COMM_WORLD);
    CHECK(sum == (size_t)(rank == 0 ? 1 : rank == 1 ? 2 : rank == 2 ? 6 : 24));
    MPI_Bcast(table, 6, MPI_UNSIGNED_LONG, size - 1, MPI_COMM_WORLD);
    CHECK(table[0][0] == 1 && table[1][2] == 6);
    size_t *all = malloc((size + 1) * sizeof *all);
    all[size] = 55;
    MPI_Allgather(&n, 1, MPI_UNSIGNED_LONG, all, 1, MPI_UNSIGNED_LONG, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++) CHECK(all[i] == i + 1u);
    CHECK(all[size] == 55);
    /* A real unsigned long gathered into size_t. */
    unsigned long w = 40 + rank;
    MPI_Gather(&w, 1, MPI_UNSIGNED_LONG, all, 1, MPI_UNSIGNED_LONG, 0, MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < size; i++) CHECK(all[i] == 40u + i);
    MPI_Scatter(all, 1, MPI_UNSIGNED_LONG, &w, 1, MPI_UNSIGNED_LONG, 0, MPI_COMM_WORLD);
    CHECK(w == 40UL + rank && all[size] == 55);
    int *counts = malloc(size * sizeof(int)), *displs = malloc(size * sizeof(int));
    size_t *v = calloc(2 * size, sizeof *v);
    for (int i = 0; i < size; i++) counts[i] = 1, displs[i] = 2 * i;
    MPI_Allgatherv(&n, 1, MPI_UNSIGNED_LONG, v, counts, displs, MPI_UNSIGNED_LONG, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++) CHECK(v[2 * i] == i + 1u && v[2 * i + 1] == 0);
    for (int i = 0; i < size; i++) all[i] = 10 * rank + i, displs[i] = i;
    MPI_Alltoall(all, 1, MPI_UNSIGNED_LONG, v, 1, MPI_UNSIGNED_LONG, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++) CHECK(v[i] == (size_t)(10 * i + rank));
    MPI_Alltoallv(all, counts, displs, MPI_UNSIGNED_LONG, v, counts, displs, MPI_UNSIGNED_LONG, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++) CHECK(v[i] == (size_t)(10 * i + rank));
    for (int i = 0; i < size; i++) all[i] = i + 1;
    MPI_Reduce_scatter_block(all, &sum, 1, MPI_UNSIGNED_LONG, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == (size_t)(rank + 1) * size);
    size_t into = 5;
    MPI_Reduce_local(&n, &into, 1, MPI_UNSIGNED_LONG, MPI_MAX);
    CHECK(into == (n > 5 ? n : 5));
    MPI_Request r;
    MPI_Iallreduce(&n, &sum, 1, MPI_UNSIGNED_LONG, MPI_MAX, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    CHECK(sum == (size_t)size);
    free(all); free(v); free(counts); free(displs);
}

static void add(void *in, void *inout, int *n, MPI_Datatype *t) { (void)in; (void)inout; (void)n; (void)t; }

static void errors(void) {
    /* What has more than 32 bits does not fit, and says so. */
    size_t n[2] = {1, 2};
    unsigned long big = 5000000000UL;
    MPI_Request r;
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Isend(&big, 1, MPI_UNSIGNED_LONG, 0, 1, MPI_COMM_SELF, &r);
    CHECK(class_of(MPI_Recv(n, 1, MPI_UNSIGNED_LONG, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE)) == MPI_ERR_TRUNCATE);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    CHECK(n[0] == 1 && n[1] == 2);
    n[0] = 4000000000u;
    size_t sum = 8, out[2] = {3, 4};
    CHECK(MPI_Allreduce(n, &sum, 1, MPI_UNSIGNED_LONG, MPI_SUM, MPI_COMM_SELF) == MPI_SUCCESS && sum == 4000000000u);
    MPI_Op op;
    MPI_Op_create(add, 1, &op);
    CHECK(class_of(MPI_Allreduce(n, out, 1, MPI_UNSIGNED_LONG, op, MPI_COMM_SELF)) == MPI_ERR_OP);
    MPI_Op_free(&op);
    /* A member of the type size_t would write over the next one. */
    int one[3] = {1, 1, 1};
    MPI_Aint at[3] = {offsetof(guarded, before), offsetof(guarded, n), offsetof(guarded, after)};
    MPI_Datatype types[3] = {MPI_INT, MPI_UNSIGNED_LONG, MPI_INT}, t;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK(class_of(MPI_Type_create_struct(3, one, at, types, &t)) == MPI_ERR_ARG);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    types[1] = MPI_UINT32_T;
    CHECK(MPI_Type_create_struct(3, one, at, types, &t) == MPI_SUCCESS);
    MPI_Type_free(&t);
}

static void storage(int rank, int size) {
    size_t n[2] = {rank, 3}, back[3] = {0, 0, 9};
    unsigned long w[2];
    char room[64];
    int at = 0, bytes;
    MPI_Pack_size(2, MPI_UNSIGNED_LONG, MPI_COMM_WORLD, &bytes);
    CHECK(bytes >= 16);
    MPI_Pack(n, 2, MPI_UNSIGNED_LONG, room, 64, &at, MPI_COMM_WORLD);
    CHECK(at == 16);
    at = 0;
    MPI_Unpack(room, 64, &at, w, 2, MPI_UNSIGNED_LONG, MPI_COMM_WORLD);
    CHECK(w[0] == (unsigned long)rank && w[1] == 3);
    at = 0;
    MPI_Unpack(room, 64, &at, back, 2, MPI_UNSIGNED_LONG, MPI_COMM_WORLD);
    CHECK(back[0] == (size_t)rank && back[1] == 3 && back[2] == 9);
    /* A file has 8 bytes of each, as natively. */
    MPI_File f;
    MPI_Offset length;
    MPI_File_open(MPI_COMM_WORLD, "sizes.dat", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);
    MPI_File_set_view(f, 0, MPI_UNSIGNED_LONG, MPI_UNSIGNED_LONG, "native", MPI_INFO_NULL);
    MPI_File_write_at_all(f, 2 * rank, n, 2, MPI_UNSIGNED_LONG, MPI_STATUS_IGNORE);
    MPI_File_sync(f);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_get_size(f, &length);
    CHECK(length == 16 * size);
    MPI_File_read_at(f, 2 * (size - 1), back, 2, MPI_UNSIGNED_LONG, MPI_STATUS_IGNORE);
    CHECK(back[0] == size - 1u && back[1] == 3 && back[2] == 9);
    MPI_File_read_at_all(f, 2 * (size - 1), w, 2, MPI_UNSIGNED_LONG, MPI_STATUS_IGNORE);
    CHECK(w[0] == size - 1UL && w[1] == 3);
    MPI_File_close(&f);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    point_to_point(rank_, size_);
    collective(rank_, size_);
    errors();
    storage(rank_, size_);
    return finish();
}
