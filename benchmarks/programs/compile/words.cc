#include <algorithm>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "parts.h"

std::vector<std::string> words(const std::string &text) {
  std::map<std::string, int> counts;
  std::string word;
  for (char c : text + ' ')
    if (c != ' ')
      word += c;
    else if (!word.empty()) {
      counts[word]++;
      word.clear();
    }
  std::vector<std::pair<int, std::string>> order;
  for (const auto &entry : counts) order.emplace_back(entry.second, entry.first);
  std::sort(order.rbegin(), order.rend());
  std::vector<std::string> out;
  for (const auto &entry : order) out.push_back(entry.second);
  std::cout << out.size() << " words\n";
  return out;
}
