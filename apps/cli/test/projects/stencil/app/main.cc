// Heat along a line until it is at rest: then the cells fall linearly from 1 to 0, and their sum is half their number.
#include "grid.h"
#include "stats.h"
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int cells = argc > 1 ? std::atoi(argv[1]) : 8;
  std::unique_ptr<grid, decltype(&grid_free)> line(grid_create(MPI_COMM_WORLD, cells), grid_free);
  const int all = cells * size;
  for (int step = 0; step < 8 * all * all; step++) grid_step(line.get());
  double own = stats_sum(line->value + 1, line->cells), total = 0;
  MPI_Reduce(&own, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) std::printf("sum %g of %d cells on %d ranks\n", std::round(total * 1000) / 1000, all, size);
  MPI_Finalize();
}
