#ifndef PARTS_H
#define PARTS_H
#include <string>
#include <vector>

std::vector<std::string> words(const std::string &text);
double smooth(std::vector<double> &cells, int steps);
std::vector<int> distances(const std::vector<std::vector<int>> &edges);
std::string table(const std::vector<double> &values);
#endif
