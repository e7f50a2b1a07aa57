#include <functional>
#include <queue>
#include <set>
#include <vector>

#include "parts.h"

std::vector<int> distances(const std::vector<std::vector<int>> &edges) {
  std::vector<int> out(edges.size(), -1);
  std::set<int> seen;
  std::priority_queue<std::pair<int, int>, std::vector<std::pair<int, int>>, std::greater<std::pair<int, int>>> open;
  open.push({0, 0});
  while (!open.empty()) {
    const auto [distance, node] = open.top();
    open.pop();
    if (!seen.insert(node).second) continue;
    out[node] = distance;
    for (int to : edges[node]) open.push({distance + 1, to});
  }
  return out;
}
