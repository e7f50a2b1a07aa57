/* MPI 4.1 chapter 5. */
#include "check.h"
#include <stddef.h>
typedef struct { char c; double d; int i[3]; } rec;
static int sum_of(const int *p, int n) { int s = 0; while (n--) s += *p++; return s; }
int main(int argc, char **argv) {
  MPI_Status st; MPI_Datatype t, u, v; MPI_Aint lb, ext; int n, size, i, j;
  begin(&argc, &argv);
  int right = (rank_ + 1) % size_, left = (rank_ + size_ - 1) % size_;
  int m[6][8], w[6][8];
  for (i = 0; i < 6; i++) for (j = 0; j < 8; j++) { m[i][j] = rank_ * 1000 + i * 8 + j; w[i][j] = -1; }
  /* A column: vector */
  MPI_Type_vector(6, 1, 8, MPI_INT, &t); MPI_Type_commit(&t);
  MPI_Type_size(t, &size); MPI_Type_get_extent(t, &lb, &ext); CHECK(size == 24 && lb == 0 && ext == (5 * 8 + 1) * 4);
  MPI_Sendrecv(&m[0][2], 1, t, right, 1, &w[0][5], 1, t, left, 1, MPI_COMM_WORLD, &st);
  for (i = 0; i < 6; i++) CHECK(w[i][5] == left * 1000 + i * 8 + 2 && w[i][4] == -1);
  MPI_Get_count(&st, t, &n); CHECK(n == 1);
  MPI_Get_elements(&st, t, &n); CHECK(n == 6);
  /* Columns one behind the other: resized to the width of an int */
  MPI_Type_create_resized(t, 0, sizeof(int), &u); MPI_Type_commit(&u);
  MPI_Type_get_extent(u, &lb, &ext); CHECK(ext == 4);
  MPI_Type_get_true_extent(u, &lb, &ext); CHECK(lb == 0 && ext == (5 * 8 + 1) * 4);
  int col[48];
  MPI_Sendrecv(m, 8, u, right, 2, col, 48, MPI_INT, left, 2, MPI_COMM_WORLD, &st);
  for (j = 0; j < 8; j++) for (i = 0; i < 6; i++) CHECK(col[j * 6 + i] == left * 1000 + i * 8 + j);
  /* The transpose comes back by a non-blocking receive */
  MPI_Request r[2];
  memset(w, 0, sizeof w);
  MPI_Irecv(w, 8, u, left, 3, MPI_COMM_WORLD, &r[0]);
  MPI_Isend(col, 48, MPI_INT, right, 3, MPI_COMM_WORLD, &r[1]);
  MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
  int far = (rank_ + 2 * size_ - 2) % size_;
  for (i = 0; i < 6; i++) for (j = 0; j < 8; j++) CHECK(w[i][j] == far * 1000 + i * 8 + j);
  MPI_Type_free(&u); CHECK(u == MPI_DATATYPE_NULL); MPI_Type_free(&t);
  /* "the extent … of a struct … as an array of it" (5.1.6): struct with holes */
  rec a[3], b[3]; memset(b, 0, sizeof b);
  for (i = 0; i < 3; i++) { a[i].c = 'a' + rank_ + i; a[i].d = rank_ + i * 0.25; for (j = 0; j < 3; j++) a[i].i[j] = rank_ * 10 + j; }
  int len[3] = {1, 1, 3}; MPI_Aint dis[3] = {offsetof(rec, c), offsetof(rec, d), offsetof(rec, i)}; MPI_Datatype ty[3] = {MPI_CHAR, MPI_DOUBLE, MPI_INT};
  MPI_Type_create_struct(3, len, dis, ty, &t); MPI_Type_commit(&t);
  MPI_Type_get_extent(t, &lb, &ext); MPI_Type_size(t, &size); CHECK(ext == (MPI_Aint)sizeof(rec) && size == 21);
  MPI_Sendrecv(a, 3, t, right, 4, b, 3, t, left, 4, MPI_COMM_WORLD, &st);
  for (i = 0; i < 3; i++) CHECK(b[i].c == 'a' + left + i && b[i].d == left + i * 0.25 && b[i].i[2] == left * 10 + 2);
  MPI_Get_elements(&st, t, &n); CHECK(n == 15); MPI_Get_count(&st, t, &n); CHECK(n == 3);
  /* A partly filled receive: elements, not whole ones */
  MPI_Sendrecv(a, 1, ty[0], right, 5, b, 3, t, left, 5, MPI_COMM_WORLD, &st);
  MPI_Get_elements(&st, t, &n); CHECK(n == 1); MPI_Get_count(&st, t, &n); CHECK(n == MPI_UNDEFINED);
  /* Envelope and contents (5.1.13) */
  int ni, na, nd, comb, ci[8]; MPI_Aint ca[8]; MPI_Datatype cd[8];
  MPI_Type_get_envelope(t, &ni, &na, &nd, &comb); CHECK(ni == 4 && na == 3 && nd == 3 && comb == MPI_COMBINER_STRUCT);
  MPI_Type_get_contents(t, ni, na, nd, ci, ca, cd); CHECK(ci[0] == 3 && ci[3] == 3 && ca[2] == dis[2] && cd[1] == MPI_DOUBLE);
  MPI_Type_get_envelope(MPI_INT, &ni, &na, &nd, &comb); CHECK(comb == MPI_COMBINER_NAMED);
  /* Displacements that are addresses, from MPI_BOTTOM (5.1.5) */
  int p = rank_ + 1, q = 0; double s = rank_ * 0.5, z = 0; MPI_Aint at[2]; int one[2] = {1, 1}; MPI_Datatype two[2] = {MPI_INT, MPI_DOUBLE};
  MPI_Get_address(&p, &at[0]); MPI_Get_address(&s, &at[1]); MPI_Type_create_struct(2, one, at, two, &u); MPI_Type_commit(&u);
  MPI_Get_address(&q, &at[0]); MPI_Get_address(&z, &at[1]); MPI_Type_create_struct(2, one, at, two, &v); MPI_Type_commit(&v);
  MPI_Sendrecv(MPI_BOTTOM, 1, u, right, 6, MPI_BOTTOM, 1, v, left, 6, MPI_COMM_WORLD, &st); CHECK(q == left + 1 && z == left * 0.5);
  MPI_Type_free(&u); MPI_Type_free(&v);
  /* indexed, hindexed, indexed_block, hvector, contiguous, dup; negative strides */
  int bl[3] = {2, 1, 3}, dp[3] = {7, 0, 3}, from[10], to[10];
  for (i = 0; i < 10; i++) { from[i] = rank_ * 10 + i; to[i] = -1; }
  MPI_Type_indexed(3, bl, dp, MPI_INT, &u); MPI_Type_commit(&u);
  int packed[6];
  MPI_Sendrecv(from, 1, u, right, 7, packed, 6, MPI_INT, left, 7, MPI_COMM_WORLD, &st);
  int want[6] = {7, 8, 0, 3, 4, 5};
  for (i = 0; i < 6; i++) CHECK(packed[i] == left * 10 + want[i]);
  MPI_Sendrecv(packed, 6, MPI_INT, rank_, 8, to, 1, u, rank_, 8, MPI_COMM_WORLD, &st);
  CHECK(to[7] == left * 10 + 7 && to[0] == left * 10 && to[1] == -1 && to[9] == -1);
  MPI_Type_free(&u);
  MPI_Type_create_hvector(4, 1, -2 * (MPI_Aint)sizeof(int), MPI_INT, &u); MPI_Type_commit(&u);
  MPI_Type_get_extent(u, &lb, &ext); CHECK(lb == -24 && ext == 28);
  MPI_Sendrecv(&from[8], 1, u, rank_, 9, packed, 4, MPI_INT, rank_, 9, MPI_COMM_WORLD, &st);
  CHECK(packed[0] == rank_ * 10 + 8 && packed[3] == rank_ * 10 + 2);
  MPI_Type_dup(u, &v); MPI_Type_contiguous(2, v, &t); MPI_Type_size(t, &size); CHECK(size == 32);
  MPI_Type_free(&u); MPI_Type_free(&v); MPI_Type_free(&t);
  MPI_Type_create_indexed_block(2, 2, dp, MPI_INT, &u); MPI_Type_commit(&u); MPI_Type_size(u, &size); CHECK(size == 16); MPI_Type_free(&u);
  /* subarray: the inner 2×3 of a 4×5, in both orders */
  int g[4][5], h[6]; for (i = 0; i < 4; i++) for (j = 0; j < 5; j++) g[i][j] = i * 5 + j;
  int gs[2] = {4, 5}, ss[2] = {2, 3}, at2[2] = {1, 1};
  MPI_Type_create_subarray(2, gs, ss, at2, MPI_ORDER_C, MPI_INT, &u); MPI_Type_commit(&u);
  MPI_Type_get_extent(u, &lb, &ext); CHECK(lb == 0 && ext == 80);
  MPI_Sendrecv(g, 1, u, rank_, 10, h, 6, MPI_INT, rank_, 10, MPI_COMM_WORLD, &st);
  CHECK(h[0] == 6 && h[2] == 8 && h[3] == 11 && h[5] == 13); MPI_Type_free(&u);
  MPI_Type_create_subarray(2, gs, ss, at2, MPI_ORDER_FORTRAN, MPI_INT, &u); MPI_Type_commit(&u);
  MPI_Sendrecv(g, 1, u, rank_, 11, h, 6, MPI_INT, rank_, 11, MPI_COMM_WORLD, &st);
  CHECK(h[0] == 5 && h[1] == 6 && h[2] == 9 && h[5] == 14); MPI_Type_free(&u);
  /* darray: the parts of all processes of a 2×2 grid are the array */
  int dis2[2] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK}, da[2] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG}, ps[2] = {2, 2}, total = 0, part[20];
  for (i = 0; i < 4; i++) {
    MPI_Type_create_darray(4, i, 2, gs, dis2, da, ps, MPI_ORDER_C, MPI_INT, &u); MPI_Type_commit(&u); MPI_Type_size(u, &size);
    MPI_Sendrecv(g, 1, u, rank_, 12, part, 20, MPI_INT, rank_, 12, MPI_COMM_WORLD, &st);
    total += sum_of(part, size / 4); if (i == 3) CHECK(size / 4 == 4 && part[0] == 8 && part[1] == 9 && part[2] == 18);
    MPI_Type_free(&u);
  }
  CHECK(total == 190);
  /* Pack and unpack (5.2) */
  char buf[100]; int pos = 0, k = 5; double d[2] = {1.5, 2.5}, e[2] = {0, 0};
  MPI_Pack(&k, 1, MPI_INT, buf, 100, &pos, MPI_COMM_WORLD); MPI_Pack(d, 2, MPI_DOUBLE, buf, 100, &pos, MPI_COMM_WORLD); CHECK(pos == 20);
  MPI_Send(buf, pos, MPI_PACKED, right, 13, MPI_COMM_WORLD); k = 0; pos = 0;
  MPI_Recv(buf, 100, MPI_PACKED, left, 13, MPI_COMM_WORLD, &st); MPI_Get_count(&st, MPI_PACKED, &n); CHECK(n == 20);
  MPI_Unpack(buf, n, &pos, &k, 1, MPI_INT, MPI_COMM_WORLD); MPI_Unpack(buf, n, &pos, e, 2, MPI_DOUBLE, MPI_COMM_WORLD); CHECK(k == 5 && e[1] == 2.5);
  /* Collectives with types: rows gathered into columns */
  MPI_Type_vector(4, 1, size_, MPI_INT, &t); MPI_Type_create_resized(t, 0, sizeof(int), &u); MPI_Type_commit(&u);
  int row[4] = {rank_, rank_ + 10, rank_ + 20, rank_ + 30}, *table = calloc(4 * size_, sizeof(int));
  MPI_Allgather(row, 4, MPI_INT, table, 1, u, MPI_COMM_WORLD);
  for (i = 0; i < 4; i++) for (j = 0; j < size_; j++) CHECK(table[i * size_ + j] == j + 10 * i);
  int back[4] = {0}; MPI_Scatter(table, 1, u, back, 4, MPI_INT, size_ - 1, MPI_COMM_WORLD); CHECK(back[3] == rank_ + 30);
  memset(table, 0, 4 * size_ * sizeof(int));
  if (rank_ == 0) for (i = 0; i < 4; i++) table[i * size_] = 70 + i;
  MPI_Bcast(table, 1, u, 0, MPI_COMM_WORLD); CHECK(table[0] == 70 && table[3 * size_] == 73);
  int *mine = calloc(4 * size_, sizeof(int));
  for (i = 0; i < 4; i++) for (j = 0; j < size_; j++) table[i * size_ + j] = 100 * rank_ + 10 * j + i;
  MPI_Alltoall(table, 1, u, mine, 4, MPI_INT, MPI_COMM_WORLD);
  for (j = 0; j < size_; j++) for (i = 0; i < 4; i++) CHECK(mine[j * 4 + i] == 100 * j + 10 * rank_ + i);
  MPI_Type_free(&u); MPI_Type_free(&t);
  MPI_Count cc; MPI_Type_size_x(MPI_DOUBLE, &cc); CHECK(cc == 8);
  char name[MPI_MAX_OBJECT_NAME]; MPI_Type_get_name(MPI_LONG, name, &n); CHECK(!strcmp(name, "MPI_LONG"));
  char label[MPI_MAX_OBJECT_NAME]; int letters; MPI_Type_get_name(MPI_C_FLOAT_COMPLEX, label, &letters); CHECK(strcmp(label, "MPI_C_COMPLEX") == 0);
  MPI_Type_get_name(MPI_DATATYPE_NULL, label, &letters); CHECK(strcmp(label, "MPI_DATATYPE_NULL") == 0);
  /* A message that ends within an element of the receiver's: the signatures do not match (§3.3.1) */
  MPI_Datatype spread; MPI_Type_vector(3, 1, 2, MPI_INT, &spread); MPI_Type_commit(&spread); int wide[6]; MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Send("seven ch", 7, MPI_CHAR, 0, 7, MPI_COMM_SELF); CHECK(class_of(MPI_Recv(wide, 1, spread, 0, 7, MPI_COMM_SELF, MPI_STATUS_IGNORE)) == MPI_ERR_TYPE);
  MPI_Send("eight ch", 8, MPI_CHAR, 0, 7, MPI_COMM_SELF); CHECK(MPI_Recv(wide, 1, spread, 0, 7, MPI_COMM_SELF, MPI_STATUS_IGNORE) == MPI_SUCCESS); MPI_Type_free(&spread);
  /* MPI 1.1 §3.12.3, removed in 3.0 and still in old programs: MPI_LB and MPI_UB "mark" bounds; "the two … occupy no space", and bind the types that are made of it */
  {
  int ones[3] = {1, 1, 1}; MPI_Aint at[3] = {-3, 0, 6}, ext, low, up; MPI_Datatype marked[3] = {MPI_LB, MPI_INT, MPI_UB}, m1, m2, m3;
  MPI_Type_struct(3, ones, at, marked, &m1); MPI_Type_extent(m1, &ext); MPI_Type_lb(m1, &low); MPI_Type_ub(m1, &up); MPI_Type_size(m1, &n); CHECK(ext == 9 && low == -3 && up == 6 && n == 4);
  MPI_Type_contiguous(2, m1, &m2); MPI_Type_extent(m2, &ext); MPI_Type_lb(m2, &low); CHECK(ext == 18 && low == -3); MPI_Type_get_extent(m2, &low, &ext); CHECK(low == -3 && ext == 18);
  MPI_Type_struct(2, ones, at + 1, marked + 1, &m3); MPI_Type_extent(m3, &ext); MPI_Type_lb(m3, &low); CHECK(ext == 6 && low == 0); MPI_Type_size(MPI_UB, &n); CHECK(n == 0);
  MPI_Type_commit(&m1); MPI_Type_commit(&m3); char cells[16]; memset(cells, 0, sizeof cells); int two[2] = {77, 88}, out; MPI_Status got;
  MPI_Sendrecv(two, 2, MPI_INT, 0, 9, cells, 2, m3, 0, 9, MPI_COMM_SELF, &got); memcpy(&out, cells + 6, 4); CHECK(out == 88); MPI_Get_elements(&got, m3, &n); CHECK(n == 2); MPI_Get_count(&got, m3, &n); CHECK(n == 2);
  MPI_Type_free(&m1); MPI_Type_free(&m2); MPI_Type_free(&m3);
  }
  /* Counts of 64 bits: a status keeps them exact, "set to MPI_UNDEFINED" where the argument is too small; what no memory here could hold is MPI_ERR_COUNT, never another count */
  {
  MPI_Count big[3] = {9007199254740993, 0x7654321ff1234567, 60}, back; MPI_Status s; MPI_Datatype pair, huge;
  for (i = 0; i < 3; i++) { MPI_Status_set_elements_x(&s, MPI_BYTE, big[i]); MPI_Get_elements_x(&s, MPI_BYTE, &back); CHECK(back == big[i]); MPI_Get_count_c(&s, MPI_BYTE, &back); CHECK(back == big[i]); MPI_Get_elements(&s, MPI_BYTE, &n); CHECK(n == (i < 2 ? MPI_UNDEFINED : 60)); }
  MPI_Type_dup(MPI_SHORT_INT, &pair); MPI_Status_set_elements_x(&s, pair, big[0]); MPI_Get_elements_x(&s, pair, &back); CHECK(back == big[0]); MPI_Get_count_c(&s, pair, &back); CHECK(back == MPI_UNDEFINED); MPI_Type_free(&pair);
  CHECK(class_of(MPI_Status_set_elements_x(&s, MPI_DOUBLE, big[1])) == MPI_ERR_VALUE_TOO_LARGE && class_of(MPI_Status_set_elements_x(&s, MPI_DOUBLE, -1)) == MPI_ERR_COUNT);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); CHECK(class_of(MPI_Send_c(&n, big[0], MPI_BYTE, 0, 1, MPI_COMM_WORLD)) == MPI_ERR_COUNT);
  CHECK(class_of(MPI_Type_contiguous_c(big[0] + 1, MPI_BYTE, &huge)) == MPI_ERR_COUNT && class_of(MPI_Type_contiguous_c(9007199254740991, MPI_INT, &huge)) == MPI_ERR_COUNT);
  CHECK(class_of(MPI_Type_indexed_c(1, big, big + 2, MPI_BYTE, &huge)) == MPI_ERR_COUNT); CHECK(MPI_Type_contiguous_c(9007199254740991, MPI_BYTE, &huge) == MPI_SUCCESS); MPI_Type_size_c(huge, &back); CHECK(back == 9007199254740991); MPI_Type_free(&huge);
  }
  return finish();
}
