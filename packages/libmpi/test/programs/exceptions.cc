// Exceptions in every place where an image may be taken: below a try block, in a handler, in a destructor that runs because of one.
#include <mpi.h>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

static int rank, size;
static int exchange(int value) {
  int got, to = (rank + 1) % size, from = (rank + size - 1) % size;
  MPI_Sendrecv(&value, 1, MPI_INT, to, 1, &got, 1, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return got;
}

struct Talks {
  const char *name;
  explicit Talks(const char *n) : name(n) {}
  ~Talks() { std::printf("~%s %d uncaught %d\n", name, exchange(rank * 10), std::uncaught_exceptions()); }
};
struct Base { virtual ~Base() = default; int base = 1; };
struct Other { virtual ~Other() = default; int other = 2; };
struct Both : Base, Other { std::string text = "both"; int alive; static int count; Both() : alive(++count) {} Both(const Both &b) : Base(b), Other(b), text(b.text), alive(++count) {} ~Both() { count--; } };
int Both::count;

__attribute__((noinline)) static void dive(int depth) {
  Talks t(depth % 2 ? "odd" : "even");
  if (exchange(depth) != depth) std::puts("lost");
  if (depth == 3) throw std::runtime_error("bottom " + std::to_string(exchange(depth)));
  dive(depth + 1);
}

struct Fails {
  static int made;
  Fails() { if (++made == 3) throw made; }
  ~Fails() { made--; }
};
int Fails::made;

struct Step { virtual ~Step() = default; virtual double run(double x) = 0; };
struct Exchange : Step { double run(double x) override { return x * exchange(2); } };

static void rethrows() {
  try {
    throw Both();
  } catch (Base &b) {
    b.base = exchange(42);
    throw;
  }
}

static int in_function(int n) try { if (n) throw n; return 0; } catch (int i) { return i + exchange(100) - 100; }

static void clean(void (*f)()) {
  std::set_terminate([] { std::puts("terminated"); std::fflush(stdout); std::_Exit(exchange(7)); });
  f();
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);

  try { dive(0); } catch (const std::exception &e) { std::printf("caught %s, then %d\n", e.what(), exchange(5)); }
  try { rethrows(); } catch (Other &o) { std::printf("other %d alive %d\n", o.other, Both::count); }
  std::printf("alive %d\n", Both::count);
  std::vector<std::unique_ptr<Step>> steps;
  double x = 1;
  for (int i = 0; i < 3; i++) steps.push_back(std::make_unique<Exchange>());
  for (auto &s : steps) x = s->run(x);
  std::printf("virtual %g\n", x);
  try { throw static_cast<Base *>(new Both); } catch (Both *) { std::puts("wrong"); } catch (Base *b) { std::printf("pointer %d\n", b->base); delete b; }
  try { throw static_cast<const char *>("text"); } catch (char *) { std::puts("wrong"); } catch (const char *const &s) { std::printf("%s\n", s); }
  try { throw nullptr; } catch (Base *b) { std::printf("null %d\n", b == nullptr); }
  try { Both b; throw b; } catch (Both b) { b.text += "!"; std::printf("copy %s %d\n", b.text.c_str(), exchange(Both::count)); }
  try { Fails many[5]; } catch (int n) { std::printf("array %d\n", n); }
  std::printf("made %d function %d\n", Fails::made, in_function(9));
  try {
    try { throw 1; } catch (int) { try { exchange(1); throw 2L; } catch (long l) { std::printf("inner %ld\n", l); } throw; }
  } catch (...) { std::puts("outer"); }

  std::exception_ptr kept;
  try { throw std::out_of_range("kept"); } catch (...) { kept = std::current_exception(); }
  exchange(1);
  for (int i = 0; i < 2; i++) try { std::rethrow_exception(kept); } catch (const std::logic_error &e) { std::printf("again %s\n", e.what()); }
  kept = nullptr;
  try { try { throw std::invalid_argument("low"); } catch (...) { std::throw_with_nested(std::runtime_error("high")); } }
  catch (const std::exception &e) { try { std::rethrow_if_nested(e); } catch (const std::exception &n) { std::printf("%s over %s\n", e.what(), n.what()); } }

  // What the library throws.
  void (*const library[])() = {
    [] { std::vector<int>(3).at(exchange(3)); },
    [] { std::string("abc").at(5); },
    [] { std::string("abc").substr(4); },
    [] { std::stoi("word"); },
    [] { std::stoi("99999999999999999999"); },
    [] { std::vector<int> v; v.reserve(static_cast<size_t>(-1)); },
    [] { char *volatile big = new char[2000u << 20]; delete[] big; },
    [] { Base b; (void)dynamic_cast<Both &>(b); },
    [] { std::weak_ptr<int> w; std::shared_ptr<int> s(w); },
    [] { std::__throw_system_error(EDOM, "asked"); },
  };
  for (auto &f : library)
    try { f(); std::puts("nothing"); }
    catch (const std::out_of_range &e) { std::puts("out_of_range"); }
    catch (const std::invalid_argument &) { std::puts("invalid_argument"); }
    catch (const std::length_error &) { std::puts("length_error"); }
    catch (const std::bad_array_new_length &) { std::puts("bad_array_new_length"); }
    catch (const std::bad_alloc &) { std::puts("bad_alloc"); }
    catch (const std::bad_cast &) { std::puts("bad_cast"); }
    catch (const std::system_error &e) { std::printf("system_error %d %s\n", e.code() == std::errc::argument_out_of_domain, std::strstr(e.what(), "asked")); }
    catch (const std::exception &e) { std::printf("exception %s\n", e.what()); }

  double sum = 0;
  for (int i = 0; i < 20000; i++) try { if (i % 2) throw i; sum += 1; } catch (int n) { sum += n; }
  std::printf("many %.0f\n", sum);
  std::printf("in flight %d\n", std::uncaught_exceptions());
  std::fflush(stdout);

  const char *how = argc > 1 ? argv[1] : "";
  if (!std::strcmp(how, "noexcept")) clean([]() noexcept { throw 1; });
  if (!std::strcmp(how, "uncaught")) { Talks t("last"); throw std::runtime_error("disk full"); }
  MPI_Finalize();
  std::puts("end");
}
