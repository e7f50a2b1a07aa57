/* MPI 4.1 chapter 8: neighbourhood collectives and graphs. */
#include "check.h"
int main(int argc, char **argv) {
  int i, n, in, out, weighted, flag;
  begin(&argc, &argv);
  int N = size_, right = (rank_ + 1) % N, left = (rank_ + N - 1) % N;
  MPI_Comm ring, line, graph, adj; MPI_Request q;
  /* A ring, also of one and of two: what goes to the positive side comes from the negative one (8.6) */
  int periodic = 1, no = 0, s[2] = {rank_ * 10, rank_ * 10 + 1}, r[2] = {-1, -1};
  MPI_Cart_create(MPI_COMM_WORLD, 1, &N, &periodic, 0, &ring);
  MPI_Neighbor_alltoall(s, 1, MPI_INT, r, 1, MPI_INT, ring); CHECK(r[0] == left * 10 + 1 && r[1] == right * 10);
  MPI_Neighbor_allgather(s, 1, MPI_INT, r, 1, MPI_INT, ring); CHECK(r[0] == left * 10 && r[1] == right * 10);
  MPI_Ineighbor_alltoall(s, 1, MPI_INT, r, 1, MPI_INT, ring, &q); MPI_Wait(&q, MPI_STATUS_IGNORE); CHECK(r[0] == left * 10 + 1);
  /* A line: beyond its ends is MPI_PROC_NULL, whose block stays as it was */
  r[0] = r[1] = -1; MPI_Cart_create(MPI_COMM_WORLD, 1, &N, &no, 0, &line);
  MPI_Neighbor_alltoall(s, 1, MPI_INT, r, 1, MPI_INT, line); CHECK(r[0] == (rank_ ? left * 10 + 1 : -1) && r[1] == (rank_ < N - 1 ? right * 10 : -1));
  int one[2] = {1, 1}, swap[2] = {1, 0}, bytes[2] = {4, 0}; MPI_Datatype ii[2] = {MPI_INT, MPI_INT};
  MPI_Neighbor_alltoallv(s, one, swap, MPI_INT, r, one, swap, MPI_INT, ring); CHECK(r[1] == left * 10 && r[0] == right * 10 + 1);
  MPI_Aint at[2] = {4, 0}; (void)bytes; MPI_Neighbor_alltoallw(s, one, at, ii, r, one, at, ii, ring); CHECK(r[1] == left * 10 && r[0] == right * 10 + 1);
  /* A star as a graph */
  int *index = malloc(N * sizeof(int)), *edges = malloc(2 * N * sizeof(int)), *nb = malloc(N * sizeof(int)), *got = malloc(N * sizeof(int));
  for (i = 0; i < N; i++) index[i] = N - 1 + i;
  for (i = 1; i < N; i++) { edges[i - 1] = i; edges[N - 2 + i] = 0; }
  MPI_Graph_create(MPI_COMM_WORLD, N, index, edges, 0, &graph);
  MPI_Topo_test(graph, &n); CHECK(n == MPI_GRAPH); MPI_Graphdims_get(graph, &n, &out); CHECK(n == N && out == 2 * (N - 1));
  MPI_Graph_neighbors_count(graph, rank_, &n); CHECK(n == (rank_ ? 1 : N - 1)); MPI_Graph_neighbors(graph, 0, N, nb); if (N > 1) CHECK(nb[N - 2] == N - 1);
  MPI_Neighbor_allgather(s, 1, MPI_INT, got, 1, MPI_INT, graph); if (rank_) CHECK(got[0] == 0); else for (i = 1; i < N; i++) CHECK(got[i - 1] == i * 10);
  /* A directed ring with weights */
  int w1 = rank_ + 1, w2 = 7, src, dst, sw, dw;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &left, &w1, 1, &right, &w2, MPI_INFO_NULL, 0, &adj);
  MPI_Dist_graph_neighbors_count(adj, &in, &out, &weighted); CHECK(in == 1 && out == 1 && weighted);
  MPI_Dist_graph_neighbors(adj, 1, &src, &sw, 1, &dst, &dw); CHECK(src == left && dst == right && sw == rank_ + 1 && dw == 7);
  MPI_Neighbor_allgatherv(s, 2, MPI_INT, r, (int[]){2}, (int[]){0}, MPI_INT, adj); CHECK(r[0] == left * 10 && r[1] == left * 10 + 1);
  MPI_Comm dup; MPI_Comm_dup(adj, &dup); MPI_Topo_test(dup, &flag); CHECK(flag == MPI_DIST_GRAPH); MPI_Comm_free(&dup);
  /* The same ring, all edges named by rank 0: "a process may specify edges of other processes" (8.5.4) */
  int *deg = malloc(N * sizeof(int)), *all = malloc(N * sizeof(int)), *wt = malloc(N * sizeof(int)); MPI_Comm whole;
  for (i = 0; i < N; i++) { nb[i] = i; deg[i] = 1; all[i] = (i + 1) % N; wt[i] = i + 50; }
  MPI_Dist_graph_create(MPI_COMM_WORLD, rank_ == 0 ? N : 0, nb, deg, all, wt, MPI_INFO_NULL, 0, &whole);
  MPI_Dist_graph_neighbors(whole, 1, &src, &sw, 1, &dst, &dw); CHECK(src == left && dst == right && sw == left + 50 && dw == rank_ + 50);
  MPI_Neighbor_allgather(s, 1, MPI_INT, r, 1, MPI_INT, whole); CHECK(r[0] == left * 10); MPI_Comm_free(&whole);
  int tn = -1, th; MPI_T_init_thread(MPI_THREAD_SINGLE, &th); CHECK(MPI_T_pvar_get_num(&tn) == MPI_SUCCESS && tn >= 0); MPI_T_finalize();
  MPI_Comm_free(&ring); MPI_Comm_free(&line); MPI_Comm_free(&graph); MPI_Comm_free(&adj);
  return finish();
}
