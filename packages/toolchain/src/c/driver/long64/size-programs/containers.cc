// Sizes of containers and strings that become numbers of 64 bits: each function is a program of its own.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <map>
#include <numeric>
#include <string>
#include <vector>
#include "sizes.h"

static void difference() {
  std::vector<int> a(3), b(10);
  long d = a.size() - b.size();
  auto half = static_cast<long>(a.size() - b.size()) / 2;
  std::int64_t e{static_cast<std::int64_t>(a.size() - b.size())};
  std::cout << d << ' ' << half << ' ' << e << ' ' << long(a.size() - b.size()) << '\n';
}

static void loop_down() {
  std::vector<int> none, some(4);
  int turns = 0;
  for (long i = none.size() - 1; i >= 0; i--) turns++;
  for (long i = some.size() - 1; i >= 0; i--) turns++;
  for (long i = some.size() - 1; i < some.size(); i--) turns++;
  std::cout << turns << '\n';
}

static void found() {
  std::string s = "key=value";
  long at = s.find('='), missing = s.find('#');
  unsigned long end = s.find('?');
  std::cout << at << ' ' << missing << ' ' << end << ' ' << (missing == std::string::npos) << (end == std::string::npos)
            << (s.find('?') == std::string::npos) << ' ' << s.substr(at + 1) << ' ' << s.substr(0, missing) << '\n';
}

static void lengths() {
  std::string a = "ab", b = "abcdef";
  long long d = a.length() - b.length();
  long pad = 4 - b.size();
  std::cout << d << ' ' << pad << ' ' << std::max(0L, long(4 - b.size())) << ' ' << std::abs((long)(a.size() - b.size())) << '\n';
}

template <class T, class U> long apart(const T &a, const U &b) { return a - b; }
template <class C> struct Holder {
  C c;
  long last() const { return c.size() - 1; }
  double mean(double sum) const { return sum / (c.size() - 1); }
};
static void templates() {
  std::size_t a = 3, b = 10;
  std::cout << apart(a, b) << ' ' << apart(3, 10) << ' ' << apart(3u, 2u) << ' ' << apart(2.5, 1) << ' '
            << Holder<std::vector<int>>{}.last() << ' ' << Holder<std::string>{"abc"}.last() << ' '
            << Holder<std::map<int, int>>{}.last() << ' ' << Holder<std::string>{"abc"}.mean(3) << '\n';
}

struct Offsets {
  std::vector<long> at;
  long shift;
  Offsets(const std::vector<int> &v, const std::string &s) : at(3, v.size() - s.size()), shift(v.size() - s.size()) {
    at.push_back(s.size() - 9);
  }
};
static void constructed() {
  Offsets o({1, 2}, "four");
  for (long l : o.at) std::cout << l << ' ';
  std::cout << o.shift << '\n';
}

static void lambdas() {
  std::vector<std::string> words = {"a", "four", "of"};
  auto gap = [&](std::size_t i) -> long { return words[i].size() - words[i + 1].size(); };
  long sum = 0;
  std::for_each(words.begin(), words.end(), [&sum](const std::string &w) { sum += w.size() - 3; });
  std::sort(words.begin(), words.end(), [](const std::string &a, const std::string &b) {
    long d = a.size() - b.size();
    return d < 0;
  });
  std::cout << gap(0) << ' ' << gap(1) << ' ' << sum << ' ' << words[0] << words[1] << words[2] << '\n';
}

struct Sizes { static const std::size_t some = 5; enum { more = 7 }; static constexpr std::size_t none = 0; };
static void constants() {
  long a = Sizes::some - 6, b = Sizes::none - 1, c = Sizes::some;
  constexpr long d = -1 * sizeof(double);
  static_assert(d == -8, "");
  std::array<char, 3L * sizeof(int)> room;
  constexpr long e = room.size() - 20;
  std::cout << a << ' ' << b << ' ' << c << ' ' << d << ' ' << e << '\n';
}

static void mixed() {
  std::vector<double> v(3);
  long l = -2;
  unsigned long u = 1UL << 40;
  std::cout << l + v.size() - 4 << ' ' << (l < v.size()) << (l == v.size() - 5) << (u > v.size()) << ' ' << u * v.size() << ' '
            << u - v.size() << ' ' << (true ? l : v.size()) << '\n';
}

static void macros() {
  std::vector<int> a(3), b(10);
  std::cout << SUBTRACT(a.size(), b.size()) << ' ' << SUBTRACT(2.5, 1) << ' ' << TWICE_IN_LONG(a.size() - 4) << '\n';
  long l;
  STORE(l, a.size(), b.size());
  std::cout << l << ' ' << LEFT(a.size()) << '\n';
}

static void floating() {
  std::vector<float> a(3), b(10);
  double d = a.size() - b.size(), mean = std::accumulate(a.begin(), a.end(), 1.5) / a.size();
  double bytes = 800000000 * sizeof(double);
  std::cout << d << ' ' << mean << ' ' << bytes << '\n';
}

static long defaulted(long n = sizeof(int) - 6) { return n; }
static void parameters() {
  std::vector<int> v(1);
  struct Base { virtual ~Base() = default; virtual long twice(long x) { return 2 * x; } } base;
  std::cout << defaulted() << ' ' << defaulted(v.size() - 2) << ' ' << base.twice(v.size() - 3) << '\n';
}

static void positions() {
  std::vector<int> v = {4, 5, 6};
  long at = std::find(v.begin(), v.end(), 5) - v.begin(), back = v.begin() - v.end();
  long from_end = std::distance(v.begin(), v.end()) - (v.size() + 2);
  v.erase(v.begin() + (v.size() - 1));
  std::cout << at << ' ' << back << ' ' << from_end << ' ' << v.size() << '\n';
}

static void maps() {
  std::map<std::string, std::size_t> counts;
  counts["a"] = 3;
  long missing = counts["a"] - 5, none = counts["b"] - 1;
  unsigned long hash = 14695981039346656037UL;
  for (auto &e : counts) hash = (hash ^ e.first.size()) * 1099511628211UL;
  std::cout << missing << ' ' << none << ' ' << hash << '\n';
}

int main() {
  difference();
  loop_down();
  found();
  lengths();
  templates();
  constructed();
  lambdas();
  constants();
  mixed();
  macros();
  floating();
  parameters();
  positions();
  maps();
}
