#include <iomanip>
#include <sstream>
#include <string>
#include <vector>

#include "parts.h"

std::string table(const std::vector<double> &values) {
  std::ostringstream out;
  for (double value : values) out << std::setw(10) << std::fixed << std::setprecision(3) << value << '\n';
  return out.str();
}
