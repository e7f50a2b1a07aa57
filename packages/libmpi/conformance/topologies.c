/* Process topologies (MPI 4.1 chapter 8). ranks: 1 2 4 6 12 | 7 13 */
#include "check.h"

TEST(dims_create, 1, "§8.5.2: MPI_DIMS_CREATE ... the dimensions are set to be as close to each other as possible, in non-increasing order; entries that are set are kept") {
  int n[] = {1, 2, 6, 7, 12, 16, 24, 36, 60, 64, 97, 100};
  for (int i = 0; i < LENGTH(n); i++) {
    int a[2] = {0, 0}, b[3] = {0, 0, 0};
    MPI_Dims_create(n[i], 2, a);
    MPI_Dims_create(n[i], 3, b);
    CHECK(a[0] * a[1] == n[i] && a[0] >= a[1] && b[0] * b[1] * b[2] == n[i] && b[0] >= b[1] && b[1] >= b[2]);
    SAY("%d:%dx%d", n[i], a[0], a[1]);
  }
  int c[3] = {0, 3, 0};
  MPI_Dims_create(12, 3, c);
  CHECK(c[1] == 3 && c[0] == 2 && c[2] == 2);
  int d[2] = {2, 3};
  MPI_Dims_create(6, 2, d);
  CHECK(d[0] == 2 && d[1] == 3);
}
static MPI_Comm grid(int nd, int *dims, int *periods) {
  MPI_Comm c;
  MPI_Dims_create(size, nd, dims);
  MPI_Cart_create(WORLD, nd, dims, periods, 0, &c);
  return c;
}
TEST(cart_coords, 1, "§8.5.1: row-major numbering is always used for the processes in a Cartesian structure") {
  int dims[2] = {0, 0}, periods[2] = {0, 1}, c[2], r, n, kind;
  MPI_Comm g = grid(2, dims, periods);
  MPI_Cart_coords(g, rank, 2, c);
  MPI_Cart_rank(g, c, &r);
  MPI_Cartdim_get(g, &n);
  MPI_Topo_test(g, &kind);
  CHECK(c[0] == rank / dims[1] && c[1] == rank % dims[1] && r == rank && n == 2 && kind == MPI_CART);
  int d2[2], p2[2], c2[2];
  MPI_Cart_get(g, 2, d2, p2, c2);
  CHECK(d2[0] == dims[0] && p2[0] == 0 && p2[1] == 1 && c2[1] == c[1]);
  MPI_Comm_free(&g);
}
TEST(cart_rank_wraps, 1, "§8.5.5: for dimension i with periods(i) = true, if the coordinate is out of range it is shifted back to the interval automatically") {
  int dims[2] = {0, 0}, periods[2] = {1, 1}, r;
  MPI_Comm g = grid(2, dims, periods);
  int c[2] = {dims[0], -1};
  MPI_Cart_rank(g, c, &r);
  CHECK(r == dims[1] - 1);
  MPI_Comm_free(&g);
}
TEST(cart_shift, 1, "§8.5.6: MPI_CART_SHIFT ... the value MPI_PROC_NULL may be returned, indicating that the source or the destination for the shift is out of range") {
  int dims[2] = {0, 0}, periods[2] = {0, 1}, s, d;
  MPI_Comm g = grid(2, dims, periods);
  for (int dim = 0; dim < 2; dim++)
    for (int by = -1; by <= 2; by++) {
      MPI_Cart_shift(g, dim, by, &s, &d);
      SAY("%d", s == MPI_PROC_NULL ? -1 : s);
      SAY("%d", d == MPI_PROC_NULL ? -1 : d);
    }
  MPI_Comm_free(&g);
}
TEST(cart_smaller, 2, "§8.5.1: If the total size of the Cartesian grid is smaller than the size of the group of comm_old, then some processes are returned MPI_COMM_NULL") {
  int dims[1] = {size - 1}, periods[1] = {0};
  MPI_Comm g;
  MPI_Cart_create(WORLD, 1, dims, periods, 0, &g);
  CHECK((g == MPI_COMM_NULL) == (rank == size - 1));
  if (g != MPI_COMM_NULL) MPI_Comm_free(&g);
}
TEST(cart_zero_dimensions, 1, "§8.5.1: If ndims is zero then a zero-dimensional Cartesian topology is created") {
  MPI_Comm g;
  int n = -1, x = 0;
  MPI_Cart_create(WORLD, 0, &x, &x, 0, &g);
  CHECK((g == MPI_COMM_NULL) == (rank != 0));
  if (g != MPI_COMM_NULL) {
    MPI_Cartdim_get(g, &n);
    CHECK(n == 0);
    MPI_Comm_free(&g);
  }
}
TEST(cart_sub, 4, "§8.5.7: MPI_CART_SUB can be used to partition the communicator group into subgroups that form lower-dimensional Cartesian subgrids") {
  int dims[2] = {0, 0}, periods[2] = {0, 1}, keep[2] = {0, 1}, n, r, sum, d[1], p[1], c[1];
  MPI_Comm g = grid(2, dims, periods), row;
  MPI_Cart_sub(g, keep, &row);
  MPI_Comm_size(row, &n);
  MPI_Comm_rank(row, &r);
  CHECK(n == dims[1] && r == rank % dims[1]);
  MPI_Cart_get(row, 1, d, p, c);
  CHECK(d[0] == dims[1] && p[0] == 1 && c[0] == r);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, row);
  SAY("%d", sum);
  MPI_Comm_free(&row);
  MPI_Comm_free(&g);
}
TEST(cart_map, 1, "§8.5.8: MPI_CART_MAP computes an optimal placement; MPI_UNDEFINED if the process is not part of the grid") {
  int dims[1] = {1}, periods[1] = {0}, r;
  MPI_Cart_map(WORLD, 1, dims, periods, &r);
  CHECK(r == 0 || r == MPI_UNDEFINED);
}
TEST(graph, 4, "§8.5.3: MPI_GRAPH_CREATE ... index[i] stores the total number of neighbors of the first i graph nodes") {
  int index[] = {2, 3, 4, 6}, edges[] = {1, 3, 0, 3, 0, 2}, n, e, kind, list[4], i2[4], e2[6];
  MPI_Comm g;
  MPI_Graph_create(WORLD, 4, index, edges, 0, &g);
  CHECK((g == MPI_COMM_NULL) == (rank >= 4));
  if (g == MPI_COMM_NULL) return;
  MPI_Topo_test(g, &kind);
  MPI_Graphdims_get(g, &n, &e);
  CHECK(kind == MPI_GRAPH && n == 4 && e == 6);
  MPI_Graph_get(g, 4, 6, i2, e2);
  CHECK(i2[3] == 6 && e2[5] == 2);
  MPI_Graph_neighbors_count(g, rank, &n);
  MPI_Graph_neighbors(g, rank, n, list);
  SAY("%d:", n);
  for (int i = 0; i < n; i++) SAY("%d", list[i]);
  MPI_Comm_free(&g);
}
TEST(dist_graph_adjacent, 1, "§8.5.4: MPI_DIST_GRAPH_CREATE_ADJACENT ... each process specifies all of its incoming and outgoing edges; the order is kept") {
  int s[1] = {left}, d[1] = {right}, a, b, w, list[1], out[1];
  MPI_Comm g;
  MPI_Dist_graph_create_adjacent(WORLD, 1, s, MPI_UNWEIGHTED, 1, d, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &g);
  MPI_Dist_graph_neighbors_count(g, &a, &b, &w);
  CHECK(a == 1 && b == 1 && !w);
  MPI_Dist_graph_neighbors(g, 1, list, MPI_UNWEIGHTED, 1, out, MPI_UNWEIGHTED);
  CHECK(list[0] == left && out[0] == right);
  MPI_Comm_free(&g);
}
TEST(dist_graph, 2, "§8.5.4: MPI_DIST_GRAPH_CREATE ... any process may specify edges of any node; weights are given back") {
  int sources[16], degrees[16], dests[16], weights[16], a, b, w, in[16], iw[16], out[16], ow[16];
  MPI_Comm g;
  /* Rank 0 says that everybody sends to rank 0 and to the next. */
  int n = rank == 0 ? size : 0;
  for (int i = 0; i < n; i++) {
    sources[i] = i;
    degrees[i] = 1;
    dests[i] = (i + 1) % size;
    weights[i] = 10 + i;
  }
  MPI_Dist_graph_create(WORLD, n, sources, degrees, dests, weights, MPI_INFO_NULL, 0, &g);
  MPI_Dist_graph_neighbors_count(g, &a, &b, &w);
  CHECK(a == 1 && b == 1 && w);
  MPI_Dist_graph_neighbors(g, a, in, iw, b, out, ow);
  CHECK(in[0] == left && iw[0] == 10 + left && out[0] == right && ow[0] == 10 + rank);
  MPI_Comm_free(&g);
}
TEST(neighbor_allgather_cart, 1, "§8.6.1: for a Cartesian topology the order of the neighbors is: first the neighbor in the negative direction and then in the positive direction with displacement 1, per dimension") {
  int dims[2] = {0, 0}, periods[2] = {1, 0}, b[4] = {-1, -1, -1, -1};
  MPI_Comm g = grid(2, dims, periods);
  MPI_Neighbor_allgather(&rank, 1, MPI_INT, b, 1, MPI_INT, g);
  for (int i = 0; i < 4; i++) SAY("%d", b[i]);
  MPI_Comm_free(&g);
}
TEST(neighbor_alltoall_cart, 1, "§8.6.2: MPI_NEIGHBOR_ALLTOALL ... the i-th block goes to the i-th neighbor") {
  int dims[2] = {0, 0}, periods[2] = {0, 1}, a[4], b[4] = {-1, -1, -1, -1};
  MPI_Comm g = grid(2, dims, periods);
  for (int i = 0; i < 4; i++) a[i] = 10 * rank + i;
  MPI_Neighbor_alltoall(a, 1, MPI_INT, b, 1, MPI_INT, g);
  for (int i = 0; i < 4; i++) SAY("%d", b[i]);
  MPI_Comm_free(&g);
}
TEST(neighbor_v_and_w, 1, "§8.6: MPI_NEIGHBOR_ALLGATHERV, MPI_NEIGHBOR_ALLTOALLV, MPI_NEIGHBOR_ALLTOALLW") {
  int s[2] = {left, right}, d[2] = {right, left}, a[2] = {rank, rank + 100}, b[8], counts[2] = {1, 2}, displs[2] = {4, 0};
  MPI_Comm g;
  MPI_Dist_graph_create_adjacent(WORLD, 2, s, MPI_UNWEIGHTED, 2, d, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &g);
  memset(b, -1, sizeof b);
  int one[2] = {1, 1}, at[2] = {5, 1};
  MPI_Neighbor_allgatherv(a, 1, MPI_INT, b, one, at, MPI_INT, g);
  CHECK(b[5] == left && b[1] == right && b[0] == -1);
  int x[3] = {rank, rank, rank}, sd[2] = {0, 1};
  memset(b, -1, sizeof b);
  /* To the right one, to the left two: from the left one, from the right two (with two ranks and fewer both are the same). */
  MPI_Neighbor_alltoallv(x, counts, sd, MPI_INT, b, counts, displs, MPI_INT, g);
  CHECK(b[4] == left && b[0] == right && b[1] == right);
  MPI_Aint sb[2] = {0, 4}, rb[2] = {8, 0};
  MPI_Datatype t[2] = {MPI_INT, MPI_INT};
  memset(b, -1, sizeof b);
  MPI_Neighbor_alltoallw(x, one, sb, t, b, one, rb, t, g);
  CHECK(b[2] == left && b[0] == right);
  MPI_Comm_free(&g);
}
TEST(ineighbor, 1, "§8.7: nonblocking neighborhood collectives") {
  int dims[1] = {size}, periods[1] = {1}, b[2], c[2], a[2] = {rank, rank + 50};
  MPI_Comm g;
  MPI_Request r[2];
  MPI_Cart_create(WORLD, 1, dims, periods, 0, &g);
  MPI_Ineighbor_allgather(&rank, 1, MPI_INT, b, 1, MPI_INT, g, &r[0]);
  MPI_Ineighbor_alltoall(a, 1, MPI_INT, c, 1, MPI_INT, g, &r[1]);
  MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
  CHECK(b[0] == left && b[1] == right);
  SAY("%d %d", c[0], c[1]);
  MPI_Comm_free(&g);
}
TEST(topology_of_dup, 1, "§7.4.2: MPI_COMM_DUP duplicates ... with the same topology") {
  int dims[1] = {size}, periods[1] = {1}, kind, n;
  MPI_Comm g, h;
  MPI_Cart_create(WORLD, 1, dims, periods, 0, &g);
  MPI_Comm_dup(g, &h);
  MPI_Topo_test(h, &kind);
  MPI_Cartdim_get(h, &n);
  CHECK(kind == MPI_CART && n == 1);
  MPI_Topo_test(WORLD, &kind);
  CHECK(kind == MPI_UNDEFINED);
  MPI_Comm_free(&g);
  MPI_Comm_free(&h);
}
TEST(halo_exchange, 1, "§8.5.6: ... rank_source and rank_dest can be used in an MPI_SENDRECV operation") {
  int dims[2] = {0, 0}, periods[2] = {0, 0};
  MPI_Comm g = grid(2, dims, periods);
  for (int d = 0; d < 2; d++) {
    int s, t, x = rank, y = -1;
    MPI_Cart_shift(g, d, 1, &s, &t);
    MPI_Sendrecv(&x, 1, MPI_INT, t, TAG, &y, 1, MPI_INT, s, TAG, g, NOSTATUS);
    CHECK(y == (s == MPI_PROC_NULL ? -1 : s));
  }
  MPI_Comm_free(&g);
}
