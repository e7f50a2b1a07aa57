/* Derived datatypes (MPI 4.1 chapter 5): constructors, extents, envelopes, communication. ranks: 1 2 */
#include "check.h"
#include <stddef.h>

/* What a type moves: the bytes of 64 ints that arrive, as a list of indices, in the order of the type map. */
static void moves(const char *what, MPI_Datatype t, int count) {
  int a[64], b[64], at = 0, n = 0, bytes, list[256];
  for (int i = 0; i < 64; i++) a[i] = i;
  memset(b, -1, sizeof b);
  MPI_Pack_size(count, t, WORLD, &bytes);
  char *room = malloc((size_t)bytes + 1);
  MPI_Pack(a, count, t, room, bytes, &at, WORLD);
  MPI_Type_size(t, &n);
  CHECK(at == n * count);
  memcpy(list, room, (size_t)at);
  SAY("%s", what);
  for (int i = 0; i < at / (int)sizeof(int); i++) SAY("%d", list[i]);
  at = 0;
  MPI_Unpack(room, n * count, &at, b, count, t, WORLD);
  for (int i = 0; i < n * count / (int)sizeof(int); i++) CHECK(b[list[i]] == list[i]);
  free(room);
}
/* Size, lower bound and extent, true ones: in ints. */
static void bounds(MPI_Datatype t) {
  int n;
  MPI_Aint lb, e, tlb, te;
  MPI_Type_size(t, &n);
  MPI_Type_get_extent(t, &lb, &e);
  MPI_Type_get_true_extent(t, &tlb, &te);
  SAY("size %d lb %d extent %d true %d %d;", n, (int)lb, (int)e, (int)tlb, (int)te);
}
static void show(MPI_Datatype t, int count) {
  MPI_Type_commit(&t);
  bounds(t);
  moves("moves", t, count);
  MPI_Type_free(&t);
}
#define I ((MPI_Aint)sizeof(int))

TEST(contiguous, 1, "§5.1.2: MPI_TYPE_CONTIGUOUS allows replication of a datatype into contiguous locations") {
  MPI_Datatype t;
  MPI_Type_contiguous(5, MPI_INT, &t);
  show(t, 2);
}
TEST(vector, 1, "§5.1.2: MPI_TYPE_VECTOR ... replication into locations that consist of equally spaced blocks") {
  MPI_Datatype t;
  MPI_Type_vector(3, 2, 4, MPI_INT, &t);
  show(t, 2);
}
TEST(vector_negative, 1, "§5.1.2: stride ... may be negative") {
  MPI_Datatype t, u;
  MPI_Type_vector(3, 2, -4, MPI_INT, &t);
  bounds(t);
  MPI_Aint at = 10 * I;
  int one = 1;
  MPI_Type_create_hindexed(1, &one, &at, t, &u);
  MPI_Type_free(&t);
  show(u, 1);
}
TEST(vector_overlap, 1, "§5.1.2: a stride less than the block length: the blocks overlap, and are sent so") {
  MPI_Datatype t;
  MPI_Type_vector(3, 3, 1, MPI_INT, &t);
  show(t, 1);
}
TEST(vector_zero, 1, "§5.1.2: count and blocklength may be zero") {
  MPI_Datatype t;
  MPI_Type_vector(0, 2, 4, MPI_INT, &t);
  show(t, 3);
  MPI_Type_vector(3, 0, 4, MPI_INT, &t);
  MPI_Type_commit(&t);
  moves("moves", t, 3);
  MPI_Type_free(&t);
  MPI_Type_contiguous(0, MPI_INT, &t);
  show(t, 3);
}
TEST(hvector, 1, "§5.1.2: MPI_TYPE_CREATE_HVECTOR is identical to MPI_TYPE_VECTOR, except that stride is given in bytes") {
  MPI_Datatype t;
  MPI_Type_create_hvector(3, 2, 5 * I, MPI_INT, &t);
  show(t, 2);
}
TEST(indexed, 1, "§5.1.2: MPI_TYPE_INDEXED allows replication into a sequence of blocks, where each block can contain a different number of copies and have a different displacement") {
  int lengths[] = {3, 1, 2}, at[] = {4, 0, 9};
  MPI_Datatype t;
  MPI_Type_indexed(3, lengths, at, MPI_INT, &t);
  show(t, 2);
}
TEST(indexed_holes_and_zero, 1, "§5.1.2: blocks of length zero contribute nothing") {
  int lengths[] = {0, 2, 0, 1}, at[] = {1, 3, 20, 6};
  MPI_Datatype t;
  MPI_Type_indexed(4, lengths, at, MPI_INT, &t);
  show(t, 1);
}
TEST(hindexed, 1, "§5.1.2: MPI_TYPE_CREATE_HINDEXED ... block displacements are specified in bytes") {
  int lengths[] = {1, 2};
  MPI_Aint at[] = {7 * I, 2 * I};
  MPI_Datatype t;
  MPI_Type_create_hindexed(2, lengths, at, MPI_INT, &t);
  show(t, 2);
}
TEST(indexed_block, 1, "§5.1.2: MPI_TYPE_CREATE_INDEXED_BLOCK ... the same blocklength for all blocks") {
  int at[] = {5, 0, 10};
  MPI_Datatype t;
  MPI_Type_create_indexed_block(3, 2, at, MPI_INT, &t);
  show(t, 1);
}
TEST(hindexed_block, 1, "§5.1.2: MPI_TYPE_CREATE_HINDEXED_BLOCK") {
  MPI_Aint at[] = {5 * I, 0, 10 * I};
  MPI_Datatype t;
  MPI_Type_create_hindexed_block(3, 2, at, MPI_INT, &t);
  show(t, 1);
}
TEST(struct_plain, 1, "§5.1.2: MPI_TYPE_CREATE_STRUCT ... allows each block to consist of replications of different datatypes") {
  struct { char c; int i[2]; double d; } a[3], b[3];
  int lengths[] = {1, 2, 1}, at = 0;
  MPI_Aint displs[] = {offsetof(__typeof__(a[0]), c), offsetof(__typeof__(a[0]), i), offsetof(__typeof__(a[0]), d)}, lb, extent;
  MPI_Datatype types[] = {MPI_CHAR, MPI_INT, MPI_DOUBLE}, t;
  char room[256];
  MPI_Type_create_struct(3, lengths, displs, types, &t);
  MPI_Type_commit(&t);
  MPI_Type_get_extent(t, &lb, &extent);
  CHECK(extent == sizeof a[0] && lb == 0);
  memset(b, 0, sizeof b);
  for (int i = 0; i < 3; i++) {
    a[i].c = (char)('a' + i);
    a[i].i[0] = i;
    a[i].i[1] = -i;
    a[i].d = i / 3.0;
  }
  MPI_Pack(a, 3, t, room, sizeof room, &at, WORLD);
  CHECK(at == 3 * (1 + 8 + 8));
  at = 0;
  MPI_Unpack(room, 51, &at, b, 3, t, WORLD);
  for (int i = 0; i < 3; i++) CHECK(b[i].c == a[i].c && b[i].i[1] == -i && b[i].d == a[i].d);
  MPI_Type_free(&t);
}
TEST(struct_padding, 1, "§5.1.6: extent ... epsilon is the least non-negative increment needed to round to the next multiple of the maximum alignment") {
  int lengths[] = {1, 1};
  MPI_Aint displs[] = {0, 8};
  MPI_Datatype types[] = {MPI_DOUBLE, MPI_CHAR}, t;
  MPI_Type_create_struct(2, lengths, displs, types, &t);
  bounds(t);
  MPI_Type_free(&t);
}
TEST(struct_reversed, 1, "§5.1.1: a type map's order need not be that of the displacements") {
  int lengths[] = {1, 2, 1};
  MPI_Aint displs[] = {6 * I, 2 * I, 0};
  MPI_Datatype types[] = {MPI_INT, MPI_INT, MPI_INT}, t;
  MPI_Type_create_struct(3, lengths, displs, types, &t);
  show(t, 2);
}
TEST(resized, 1, "§5.1.7: MPI_TYPE_CREATE_RESIZED returns a handle to a new datatype that is identical to oldtype, except that the lower bound and extent are set") {
  MPI_Datatype t, u;
  MPI_Type_vector(2, 1, 2, MPI_INT, &t);
  MPI_Type_create_resized(t, -I, 6 * I, &u);
  MPI_Type_free(&t);
  MPI_Aint lb, e;
  MPI_Type_get_extent(u, &lb, &e);
  CHECK(lb == -I && e == 6 * I);
  show(u, 2);
}
TEST(resized_inherited, 1, "§5.1.6: ... if the type map has explicit bounds, lb and ub are those of the explicit ones") {
  MPI_Datatype t, u;
  MPI_Type_create_resized(MPI_INT, 0, 3 * I, &t);
  MPI_Type_contiguous(4, t, &u);
  MPI_Type_free(&t);
  show(u, 2);
  MPI_Type_create_resized(MPI_INT, 0, 3 * I, &t);
  MPI_Type_vector(2, 2, 3, t, &u);
  MPI_Type_free(&t);
  show(u, 1);
}
TEST(resized_shrunk, 1, "§5.1.7: an extent may be smaller than the data: elements interleave") {
  MPI_Datatype t, u;
  MPI_Type_vector(4, 1, 4, MPI_INT, &t);
  MPI_Type_create_resized(t, 0, I, &u);
  MPI_Type_free(&t);
  show(u, 4);
}
TEST(subarray_c, 1, "§5.1.3: MPI_TYPE_CREATE_SUBARRAY ... order C") {
  int sizes[] = {4, 5}, subs[] = {2, 3}, starts[] = {1, 1};
  MPI_Datatype t;
  MPI_Type_create_subarray(2, sizes, subs, starts, MPI_ORDER_C, MPI_INT, &t);
  show(t, 2);
}
TEST(subarray_fortran, 1, "§5.1.3: ... order Fortran: the first dimension runs fastest") {
  int sizes[] = {4, 5}, subs[] = {2, 3}, starts[] = {1, 1};
  MPI_Datatype t;
  MPI_Type_create_subarray(2, sizes, subs, starts, MPI_ORDER_FORTRAN, MPI_INT, &t);
  show(t, 1);
}
TEST(subarray_3d, 1, "§5.1.3: ... n-dimensional") {
  int sizes[] = {3, 4, 5}, subs[] = {2, 2, 2}, starts[] = {1, 2, 0};
  MPI_Datatype t;
  MPI_Type_create_subarray(3, sizes, subs, starts, MPI_ORDER_C, MPI_INT, &t);
  show(t, 1);
  MPI_Type_create_subarray(3, sizes, subs, starts, MPI_ORDER_FORTRAN, MPI_INT, &t);
  show(t, 1);
}
TEST(subarray_1d_whole, 1, "§5.1.3: a subarray may be the whole array") {
  int sizes[] = {6}, starts[] = {0};
  MPI_Datatype t;
  MPI_Type_create_subarray(1, sizes, sizes, starts, MPI_ORDER_C, MPI_INT, &t);
  show(t, 2);
}
static void darrays(int order, int d0, int a0, int d1, int a1) {
  int g[] = {5, 6}, dist[] = {d0, d1}, args[] = {a0, a1}, p[] = {d0 == MPI_DISTRIBUTE_NONE ? 1 : 2, d1 == MPI_DISTRIBUTE_NONE ? 1 : 2};
  int n = p[0] * p[1], total = 0;
  for (int r = 0; r < n; r++) {
    MPI_Datatype t;
    int bytes;
    MPI_Type_create_darray(n, r, 2, g, dist, args, p, order, MPI_INT, &t);
    MPI_Type_commit(&t);
    MPI_Type_size(t, &bytes);
    total += bytes;
    SAY("|");
    bounds(t);
    moves("", t, 1);
    MPI_Type_free(&t);
  }
  CHECK(total == 30 * I);
}
TEST(darray_block_block, 1, "§5.1.4: MPI_TYPE_CREATE_DARRAY ... MPI_DISTRIBUTE_BLOCK with the default argument") { darrays(MPI_ORDER_C, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_DFLT_DARG); }
TEST(darray_cyclic_block, 1, "§5.1.4: ... MPI_DISTRIBUTE_CYCLIC") { darrays(MPI_ORDER_C, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_BLOCK, 4); }
TEST(darray_cyclic2_none, 1, "§5.1.4: ... a cyclic distribution of blocks; MPI_DISTRIBUTE_NONE") { darrays(MPI_ORDER_C, MPI_DISTRIBUTE_CYCLIC, 2, MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_DFLT_DARG); }
TEST(darray_none_cyclic, 1, "§5.1.4: ... order Fortran") { darrays(MPI_ORDER_FORTRAN, MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_CYCLIC, 2); }
TEST(darray_fortran_block_cyclic, 1, "§5.1.4: ... for both storage orders the process grid is row-major") { darrays(MPI_ORDER_FORTRAN, MPI_DISTRIBUTE_BLOCK, 3, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_DFLT_DARG); }
TEST(darray_three_dimensions, 1, "§5.1.4: ndims dimensions") {
  int g[] = {3, 2, 4}, dist[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_CYCLIC}, args[] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG, 1}, p[] = {2, 1, 2};
  for (int r = 0; r < 4; r++) {
    MPI_Datatype t;
    MPI_Type_create_darray(4, r, 3, g, dist, args, p, r % 2 ? MPI_ORDER_C : MPI_ORDER_FORTRAN, MPI_INT, &t);
    show(t, 1);
  }
}
TEST(dup, 1, "§5.1.10: MPI_TYPE_DUP ... a new datatype with exactly the same properties; committed if the old one is") {
  MPI_Datatype t, u;
  MPI_Type_vector(2, 1, 3, MPI_INT, &t);
  MPI_Type_commit(&t);
  MPI_Type_dup(t, &u);
  MPI_Type_free(&t);
  bounds(u);
  moves("moves", u, 2);
  MPI_Type_free(&u);
}
TEST(nested, 1, "§5.1.2: oldtype may be a derived datatype") {
  MPI_Datatype t, u, v;
  MPI_Type_vector(2, 1, 2, MPI_INT, &t);
  MPI_Type_create_hvector(2, 2, 9 * I, t, &u);
  int lengths[] = {1, 2};
  MPI_Aint displs[] = {0, 20 * I};
  MPI_Datatype types[] = {u, MPI_INT};
  MPI_Type_create_struct(2, lengths, displs, types, &v);
  MPI_Type_free(&t);
  MPI_Type_free(&u);
  show(v, 2);
}
TEST(constituents_freed, 1, "§5.1.9: Freeing a datatype does not affect any other datatype that was built from the freed datatype") {
  MPI_Datatype t, u;
  MPI_Type_vector(2, 2, 3, MPI_INT, &t);
  MPI_Type_contiguous(2, t, &u);
  MPI_Type_free(&t);
  CHECK(t == MPI_DATATYPE_NULL);
  show(u, 1);
}
static void envelope(const char *what, MPI_Datatype t) {
  int ni, na, nt, c, ints[64];
  MPI_Aint addresses[16];
  MPI_Datatype types[16];
  MPI_Type_get_envelope(t, &ni, &na, &nt, &c);
  SAY("%s %d %d %d:", what, ni, na, nt);
  if (c == MPI_COMBINER_NAMED) return;
  MPI_Type_get_contents(t, ni, na, nt, ints, addresses, types);
  for (int i = 0; i < ni; i++)
    if (ints[i] == MPI_ORDER_C || ints[i] == MPI_ORDER_FORTRAN || ints[i] == MPI_DISTRIBUTE_BLOCK || ints[i] == MPI_DISTRIBUTE_DFLT_DARG || ints[i] == MPI_DISTRIBUTE_CYCLIC) SAY("constant");
    else SAY("%d", ints[i]);
  for (int i = 0; i < na; i++) SAY("a%d", (int)addresses[i]);
  for (int i = 0; i < nt; i++) {
    int a, b, d, k, n;
    MPI_Type_get_envelope(types[i], &a, &b, &d, &k);
    MPI_Type_size(types[i], &n);
    SAY("t%d", n);
    if (k != MPI_COMBINER_NAMED) MPI_Type_free(&types[i]);
  }
}
#define ENVELOPE(combiner)                                                                                              \
  do {                                                                                                                  \
    int a_, b_, d_, k_;                                                                                                 \
    MPI_Type_get_envelope(t, &a_, &b_, &d_, &k_);                                                                       \
    CHECK(k_ == combiner);                                                                                              \
    envelope(#combiner + 13, t);                                                                                        \
    MPI_Type_free(&t);                                                                                                  \
  } while (0)
TEST(envelope_simple, 1, "§5.1.13: MPI_TYPE_GET_ENVELOPE ... combiner reflects the MPI datatype constructor call that was used; MPI_TYPE_GET_CONTENTS returns the actual arguments") {
  MPI_Datatype t;
  MPI_Type_contiguous(5, MPI_INT, &t);
  ENVELOPE(MPI_COMBINER_CONTIGUOUS);
  MPI_Type_vector(2, 3, 4, MPI_DOUBLE, &t);
  ENVELOPE(MPI_COMBINER_VECTOR);
  MPI_Type_create_hvector(2, 3, 40, MPI_CHAR, &t);
  ENVELOPE(MPI_COMBINER_HVECTOR);
  MPI_Type_dup(MPI_INT, &t);
  ENVELOPE(MPI_COMBINER_DUP);
  MPI_Type_create_resized(MPI_INT, -4, 16, &t);
  ENVELOPE(MPI_COMBINER_RESIZED);
}
TEST(envelope_lists, 1, "§5.1.13: ... for each combiner the order of integers, addresses and datatypes") {
  MPI_Datatype t, types[] = {MPI_CHAR, MPI_INT, MPI_DOUBLE};
  int l[] = {1, 2, 3}, d[] = {4, 8, 16};
  MPI_Aint a[] = {4, 8, 16};
  MPI_Type_indexed(3, l, d, MPI_INT, &t);
  ENVELOPE(MPI_COMBINER_INDEXED);
  MPI_Type_create_hindexed(3, l, a, MPI_INT, &t);
  ENVELOPE(MPI_COMBINER_HINDEXED);
  MPI_Type_create_indexed_block(3, 2, d, MPI_INT, &t);
  ENVELOPE(MPI_COMBINER_INDEXED_BLOCK);
  MPI_Type_create_hindexed_block(3, 2, a, MPI_INT, &t);
  ENVELOPE(MPI_COMBINER_HINDEXED_BLOCK);
  MPI_Type_create_struct(3, l, a, types, &t);
  ENVELOPE(MPI_COMBINER_STRUCT);
}
TEST(envelope_arrays, 1, "§5.1.13: ... MPI_COMBINER_SUBARRAY, MPI_COMBINER_DARRAY") {
  MPI_Datatype t;
  int g[] = {4, 6}, s[] = {2, 2}, b[] = {1, 3}, dist[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC}, args[] = {MPI_DISTRIBUTE_DFLT_DARG, 2}, p[] = {2, 3};
  MPI_Type_create_subarray(2, g, s, b, MPI_ORDER_C, MPI_INT, &t);
  ENVELOPE(MPI_COMBINER_SUBARRAY);
  MPI_Type_create_darray(6, 3, 2, g, dist, args, p, MPI_ORDER_FORTRAN, MPI_INT, &t);
  ENVELOPE(MPI_COMBINER_DARRAY);
}
TEST(envelope_named, 1, "§5.1.13: if the combiner is MPI_COMBINER_NAMED then it is erroneous to call MPI_TYPE_GET_CONTENTS") {
  int a, b, c, k;
  MPI_Type_get_envelope(MPI_INT, &a, &b, &c, &k);
  CHECK(k == MPI_COMBINER_NAMED && a == 0 && b == 0 && c == 0);
  errors_return(1);
  CHECK(MPI_Type_get_contents(MPI_INT, 0, 0, 0, &a, NULL, NULL) != MPI_SUCCESS);
  errors_return(0);
}
TEST(contents_rebuild, 1, "§5.1.13: the datatypes returned ... can be used to build an equal type") {
  MPI_Datatype t, u, v, inner;
  int ints[2];
  MPI_Type_vector(2, 1, 2, MPI_INT, &t);
  MPI_Type_contiguous(3, t, &u);
  MPI_Type_free(&t);
  MPI_Type_get_contents(u, 1, 0, 1, ints, NULL, &inner);
  MPI_Type_contiguous(ints[0], inner, &v);
  MPI_Type_free(&inner);
  MPI_Type_free(&u);
  show(v, 1);
}
#if MPI_AT_LEAST(4, 0)
TEST(envelope_c, 1, "§5.1.13: MPI_TYPE_GET_ENVELOPE_C, MPI_TYPE_GET_CONTENTS_C") {
  MPI_Datatype t;
  MPI_Count ni, na, nc, nt;
  int combiner, ints[2];
  MPI_Type_contiguous(4, MPI_INT, &t);
  MPI_Type_get_envelope_c(t, &ni, &na, &nc, &nt, &combiner);
  CHECK(combiner == MPI_COMBINER_CONTIGUOUS && ni + nc == 1 && na == 0 && nt == 1);
  MPI_Count counts[2];
  MPI_Aint a[1];
  MPI_Datatype types[1];
  MPI_Type_get_contents_c(t, ni, na, nc, nt, ints, a, counts, types);
  CHECK((ni ? ints[0] : (int)counts[0]) == 4 && types[0] == MPI_INT);
  MPI_Type_free(&t);
}
TEST(constructors_c, 1, "§5.1.2: the large count forms of the constructors") {
  MPI_Count l[] = {1, 2}, d[] = {0, 12}, s[] = {4, 4}, sub[] = {2, 2}, at[] = {1, 1}, n, lb, e;
  MPI_Datatype t, types[] = {MPI_INT, MPI_INT};
  MPI_Type_contiguous_c(3, MPI_INT, &t);
  show(t, 1);
  MPI_Type_vector_c(2, 1, 2, MPI_INT, &t);
  show(t, 1);
  MPI_Type_create_hvector_c(2, 1, 8, MPI_INT, &t);
  show(t, 1);
  MPI_Type_create_hindexed_c(2, l, d, MPI_INT, &t);
  show(t, 1);
  MPI_Type_create_struct_c(2, l, d, types, &t);
  show(t, 1);
  MPI_Type_create_subarray_c(2, s, sub, at, MPI_ORDER_C, MPI_INT, &t);
  show(t, 1);
  MPI_Type_contiguous_c(3000000000, MPI_CHAR, &t);
  MPI_Type_size_c(t, &n);
  MPI_Type_get_extent_c(t, &lb, &e);
  CHECK(n == 3000000000 && e == 3000000000 && lb == 0);
  int small = 0;
  MPI_Type_size(t, &small);
  CHECK(small == MPI_UNDEFINED);
  MPI_Type_free(&t);
}
#endif
TEST(size_x, 1, "§5.1.5: MPI_TYPE_SIZE_X, MPI_TYPE_GET_EXTENT_X, MPI_TYPE_GET_TRUE_EXTENT_X") {
  MPI_Count n, lb, e;
  MPI_Datatype t;
  MPI_Type_vector(3, 1, 2, MPI_INT, &t);
  MPI_Type_size_x(t, &n);
  MPI_Type_get_extent_x(t, &lb, &e);
  CHECK(n == 12 && lb == 0 && e == 20);
  MPI_Type_get_true_extent_x(t, &lb, &e);
  CHECK(lb == 0 && e == 20);
  MPI_Type_free(&t);
}
TEST(names, 1, "§7.8: MPI_TYPE_SET_NAME, MPI_TYPE_GET_NAME: predefined datatypes have the name of the datatype as their default names") {
  char name[MPI_MAX_OBJECT_NAME];
  int n = -1;
  MPI_Datatype list[] = {MPI_INT, MPI_DOUBLE, MPI_CHAR, MPI_LONG_LONG, MPI_UINT8_T, MPI_DOUBLE_INT, MPI_2INT, MPI_C_BOOL, MPI_BYTE, MPI_PACKED, MPI_AINT};
  for (int i = 0; i < LENGTH(list); i++) {
    MPI_Type_get_name(list[i], name, &n);
    if (list[i] == MPI_LONG_LONG) CHECK(strstr(name, "MPI_LONG_LONG") == name);
    else SAY("%s", name);
    CHECK(n == (int)strlen(name));
  }
  MPI_Datatype t;
  MPI_Type_contiguous(2, MPI_INT, &t);
  MPI_Type_get_name(t, name, &n);
  CHECK(n == 0 && name[0] == 0);
  MPI_Type_set_name(t, "pair of ints");
  MPI_Type_get_name(t, name, &n);
  CHECK(n == 12 && strcmp(name, "pair of ints") == 0);
  MPI_Type_free(&t);
}
TEST(match_size, 1, "§19.1.9: MPI_TYPE_MATCH_SIZE returns a reference to one of the predefined named datatypes of the given class and size") {
  MPI_Datatype t;
  int n;
  MPI_Type_match_size(MPI_TYPECLASS_INTEGER, 4, &t);
  MPI_Type_size(t, &n);
  CHECK(n == 4);
  MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, &t);
  MPI_Type_size(t, &n);
  CHECK(n == 8);
  MPI_Type_match_size(MPI_TYPECLASS_COMPLEX, 16, &t);
  MPI_Type_size(t, &n);
  CHECK(n == 16);
}
TEST(f90_types, 1, "§19.1.9: MPI_TYPE_CREATE_F90_REAL returns a predefined MPI datatype; the combiner is MPI_COMBINER_F90_REAL; the same parameters give the same handle") {
  MPI_Datatype t, u;
  int n, a, b, c, k, ints[2];
  MPI_Type_create_f90_real(6, 30, &t);
  MPI_Type_create_f90_real(6, 30, &u);
  CHECK(t == u);
  MPI_Type_size(t, &n);
  MPI_Type_get_envelope(t, &a, &b, &c, &k);
  CHECK(n == 4 && k == MPI_COMBINER_F90_REAL && a == 2 && b == 0 && c == 0);
  MPI_Type_get_contents(t, 2, 0, 0, ints, NULL, NULL);
  CHECK(ints[0] == 6 && ints[1] == 30);
  MPI_Type_create_f90_integer(9, &t);
  MPI_Type_size(t, &n);
  MPI_Type_get_envelope(t, &a, &b, &c, &k);
  CHECK(n == 4 && k == MPI_COMBINER_F90_INTEGER && a == 1);
  MPI_Type_create_f90_complex(15, MPI_UNDEFINED, &t);
  MPI_Type_size(t, &n);
  CHECK(n == 16);
}
TEST(send_vector_recv_contiguous, 2, "§3.3.1: the type signature has to match, not the type map") {
  int a[20];
  MPI_Datatype t;
  MPI_Type_vector(5, 1, 4, MPI_INT, &t);
  MPI_Type_commit(&t);
  if (rank == 0) {
    fill(a, 20, 0);
    MPI_Send(a, 1, t, 1, TAG, WORLD);
  }
  if (rank == 1) {
    MPI_Recv(a, 5, MPI_INT, 0, TAG, WORLD, NOSTATUS);
    for (int i = 0; i < 5; i++) CHECK(a[i] == value(0, 4 * i));
  }
  MPI_Type_free(&t);
}
TEST(transpose, 2, "§5.1.2: a matrix is transposed by a type of columns") {
  enum { N = 7 };
  double a[N][N], b[N][N];
  MPI_Datatype column, matrix;
  MPI_Type_vector(N, 1, N, MPI_DOUBLE, &column);
  MPI_Type_create_hvector(N, 1, sizeof(double), column, &matrix);
  MPI_Type_commit(&matrix);
  MPI_Type_free(&column);
  for (int i = 0; i < N; i++)
    for (int k = 0; k < N; k++) a[i][k] = 10 * i + k + 100 * rank;
  if (rank < 2) {
    MPI_Sendrecv(a, 1, matrix, 1 - rank, TAG, b, N * N, MPI_DOUBLE, 1 - rank, TAG, WORLD, NOSTATUS);
    for (int i = 0; i < N; i++)
      for (int k = 0; k < N; k++) CHECK(b[i][k] == 10 * k + i + 100 * (1 - rank));
  }
  MPI_Type_free(&matrix);
}
TEST(partial_receive, 2, "§5.1.11: MPI_GET_ELEMENTS ... the number of basic elements; MPI_GET_COUNT returns MPI_UNDEFINED if the message is not a whole number of top-level entries") {
  int a[8], n;
  MPI_Datatype t;
  MPI_Status s;
  MPI_Type_contiguous(3, MPI_INT, &t);
  MPI_Type_commit(&t);
  if (rank == 0) {
    fill(a, 8, 0);
    MPI_Send(a, 4, MPI_INT, 1, TAG, WORLD);
    MPI_Send(a, 6, MPI_INT, 1, TAG, WORLD);
  }
  if (rank == 1) {
    memset(a, -1, sizeof a);
    MPI_Recv(a, 2, t, 0, TAG, WORLD, &s);
    MPI_Get_elements(&s, t, &n);
    CHECK(n == 4 && count_of(&s, t) == MPI_UNDEFINED && filled(a, 4, 0) && a[4] == -1);
    MPI_Recv(a, 2, t, 0, TAG, WORLD, &s);
    MPI_Get_elements(&s, t, &n);
    CHECK(n == 6 && count_of(&s, t) == 2);
  }
  MPI_Type_free(&t);
}
TEST(partial_struct, 2, "§5.1.11: ... MPI_GET_ELEMENTS counts elements of different basic types") {
  struct { int i; double d[2]; } a[2], b[2];
  int lengths[] = {1, 2}, n;
  MPI_Aint displs[] = {0, offsetof(__typeof__(a[0]), d)};
  MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE}, t, first, one;
  MPI_Status s;
  MPI_Type_create_struct(2, lengths, displs, types, &t);
  MPI_Type_commit(&t);
  lengths[1] = 1;
  MPI_Type_create_struct(2, lengths, displs, types, &first);
  int both[] = {1, 1};
  MPI_Aint at[] = {0, sizeof a[0]};
  MPI_Datatype parts[] = {t, first};
  MPI_Type_create_struct(2, both, at, parts, &one);
  MPI_Type_commit(&one);
  memset(b, 0, sizeof b);
  for (int i = 0; i < 2; i++) {
    a[i].i = i;
    a[i].d[0] = i + 0.5;
    a[i].d[1] = i + 0.25;
  }
  if (rank == 0) MPI_Send(a, 1, one, 1, TAG, WORLD);
  if (rank == 1) {
    MPI_Recv(b, 2, t, 0, TAG, WORLD, &s);
    MPI_Get_elements(&s, t, &n);
    CHECK(n == 5 && count_of(&s, t) == MPI_UNDEFINED && b[1].d[0] == 1.5 && b[1].d[1] == 0 && b[0].d[1] == 0.25);
  }
  MPI_Type_free(&t);
  MPI_Type_free(&first);
  MPI_Type_free(&one);
}
TEST(pair_types, 2, "§6.9.4: MPI_DOUBLE_INT, MPI_2INT ... as if defined by a struct: sends keep holes") {
  struct { double d; int i; } a[2] = {{1.5, 2}, {2.5, 3}}, b[2];
  int n;
  MPI_Status s;
  memset(b, 0x55, sizeof b);
  if (rank == 0) MPI_Send(a, 2, MPI_DOUBLE_INT, 1, TAG, WORLD);
  if (rank == 1) {
    MPI_Recv(b, 2, MPI_DOUBLE_INT, 0, TAG, WORLD, &s);
    MPI_Get_elements(&s, MPI_DOUBLE_INT, &n);
    CHECK(b[1].d == 2.5 && b[1].i == 3 && count_of(&s, MPI_DOUBLE_INT) == 2 && n == 4);
    MPI_Type_size(MPI_DOUBLE_INT, &n);
    CHECK(n == 12);
  }
}
TEST(bottom, 1, "§5.1.8: ... MPI_BOTTOM indicates that the displacements are absolute addresses") {
  int a[3] = {1, 2, 3}, x = 9, b[4] = {0};
  MPI_Aint at[2];
  int lengths[] = {3, 1};
  MPI_Datatype t, types[] = {MPI_INT, MPI_INT};
  MPI_Get_address(a, &at[0]);
  MPI_Get_address(&x, &at[1]);
  MPI_Type_create_struct(2, lengths, at, types, &t);
  MPI_Type_commit(&t);
  MPI_Sendrecv(MPI_BOTTOM, 1, t, 0, TAG, b, 4, MPI_INT, 0, TAG, MPI_COMM_SELF, NOSTATUS);
  CHECK(b[0] == 1 && b[2] == 3 && b[3] == 9);
  MPI_Type_free(&t);
}
TEST(aint_arithmetic, 1, "§5.1.5: MPI_AINT_ADD, MPI_AINT_DIFF") {
  int a[4];
  MPI_Aint p, q;
  MPI_Get_address(&a[0], &p);
  MPI_Get_address(&a[3], &q);
  CHECK(MPI_Aint_diff(q, p) == 3 * I && MPI_Aint_add(p, 3 * I) == q);
}
TEST(predefined_sizes, 1, "§3.2.2, Table 3.2 and 3.3: sizes of types that C fixes") {
  MPI_Datatype t[] = {MPI_CHAR, MPI_SHORT, MPI_INT, MPI_LONG_LONG, MPI_FLOAT, MPI_DOUBLE, MPI_INT8_T, MPI_INT16_T, MPI_INT32_T, MPI_INT64_T, MPI_BYTE, MPI_PACKED, MPI_C_BOOL, MPI_2INT, MPI_FLOAT_INT, MPI_SHORT_INT, MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX};
  for (int i = 0; i < LENGTH(t); i++) bounds(t[i]);
}
TEST(collective_of_vectors, 2, "§6.5: the type signature has to be equal, distinct type maps between sender and receiver are allowed") {
  int a[8], b[16];
  MPI_Datatype t;
  MPI_Type_vector(2, 1, 2, MPI_INT, &t);
  MPI_Type_create_resized(t, 0, 4 * I, &t);
  MPI_Type_commit(&t);
  fill(a, 8, rank);
  memset(b, -1, sizeof b);
  MPI_Gather(a, 2, MPI_INT, b, 1, t, 0, WORLD);
  if (rank == 0)
    for (int r = 0; r < size && r < 4; r++) CHECK(b[4 * r] == value(r, 0) && b[4 * r + 2] == value(r, 1) && b[4 * r + 1] == -1);
  MPI_Type_free(&t);
}
