/*
 * C++ exceptions without unwinding: a throw ends the rank and says what was thrown. (An exception that is caught needs WebAssembly's exception
 * instructions, which Asyncify cannot unwind; clang drops the catch blocks.) Weak: a program's own __cxa_throw wins.
 */
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <typeinfo>

namespace __cxxabiv1 {
extern "C" char *__cxa_demangle(const char *, char *, size_t *, int *);
}

namespace {
/* The run-time types of libc++abi share this shape (Itanium C++ ABI): `can_catch` walks the bases. */
struct Catchable : std::type_info {
  virtual void noop1() const;
  virtual void noop2() const;
  virtual bool can_catch(const Catchable *thrown, void *&object) const = 0;
};
}

extern "C" {
__attribute__((weak, visibility("default"))) void *__cxa_allocate_exception(size_t size) noexcept {
  void *p = std::malloc(size);
  if (p == nullptr) {
    std::fputs("mayfly: out of memory while an exception is thrown\n", stderr);
    std::abort();
  }
  return p;
}
__attribute__((weak, visibility("default"))) void __cxa_free_exception(void *p) noexcept { std::free(p); }

__attribute__((weak, visibility("default"), noreturn)) void __cxa_throw(void *object, std::type_info *type, void (*)(void *)) {
  std::fflush(stdout);
  int status = 0;
  char *name = __cxxabiv1::__cxa_demangle(type->name(), nullptr, nullptr, &status);
  std::fprintf(stderr, "terminate called after throwing an instance of '%s'\n", name != nullptr ? name : type->name());
  const auto *base = static_cast<const Catchable *>(&typeid(std::exception));
  void *adjusted = object;
  if (base->can_catch(static_cast<const Catchable *>(type), adjusted)) std::fprintf(stderr, "  what():  %s\n", static_cast<std::exception *>(adjusted)->what());
  std::terminate();
}
__attribute__((weak, visibility("default"), noreturn)) void __cxa_rethrow() {
  std::fputs("terminate called: an exception is thrown again, but none was caught\n", stderr);
  std::terminate();
}
__attribute__((weak, visibility("default"))) void *__cxa_begin_catch(void *object) noexcept { return object; }
__attribute__((weak, visibility("default"))) void __cxa_end_catch() {}
}
