#include <cmath>
#include <numeric>
#include <vector>

#include "parts.h"

double smooth(std::vector<double> &cells, int steps) {
  std::vector<double> next(cells.size());
  for (int step = 0; step < steps; step++) {
    for (std::size_t i = 1; i + 1 < cells.size(); i++) next[i] = (cells[i - 1] + 2 * cells[i] + cells[i + 1]) / 4;
    cells.swap(next);
  }
  return std::sqrt(std::inner_product(cells.begin(), cells.end(), cells.begin(), 0.0));
}
