/*
 * The C++ run-time side of exceptions for clang's lowering without an unwinder: each call inside a try block, or with destructors to run, goes
 * through `invoke_…` (see throw.c); when it was left by an exception, the code behind it asks `__cxa_find_matching_catch_N` whether one
 * of its catch clauses fits.
 *
 * Owns: the exceptions under way and the stack of those that are being handled. Names and their meaning: Itanium C++ ABI, chapter 2. All weak:
 * a program's own definitions win.
 *
 * The libraries of the sysroot are built without exceptions. What they would throw arrives at `__libcpp_verbose_abort` and friends with the
 * type in its text, and is thrown from here; destructors of the library's own frames do not run then.
 */
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <ios>
#include <new>
#include <stdexcept>
#include <system_error>
#include <typeinfo>

namespace __cxxabiv1 {
extern "C" char *__cxa_demangle(const char *, char *, size_t *, int *);
}

#define RUNTIME extern "C" __attribute__((weak, visibility("default")))

extern "C" {
extern uintptr_t __THREW__;
__attribute__((import_module("mayfly"), import_name("throw"), noreturn)) void mayfly_throw(void);
/* The rank host remembers the stack, to be shown should nobody catch. */
__attribute__((import_module("mayfly"), import_name("thrown"))) void mayfly_thrown(void);
void setTempRet0(int);
}

namespace {
/* The run-time types of libc++abi share this shape: `can_catch` walks the bases. */
struct Catchable : std::type_info {
  virtual void noop1() const;
  virtual void noop2() const;
  virtual bool can_catch(const Catchable *thrown, void *&object) const = 0;
};

/* Before every exception object. The last 32 bytes stand for the unwinder's own header, whose address generated code passes around. */
struct alignas(16) Exception {
  const std::type_info *type;
  /* On wasm destructors return their object. */
  void *(*destructor)(void *);
  /* As the catch clause that was found sees the object. */
  void *adjusted;
  int references;
  alignas(16) unsigned char unwind[32];
  void *object() { return this + 1; }
};
static_assert(sizeof(Exception) % 16 == 0, "the object behind it is aligned");

Exception *of_object(void *object) { return static_cast<Exception *>(object) - 1; }
void *token(Exception *e) { return e->unwind; }
Exception *of_token(void *at) { return reinterpret_cast<Exception *>(static_cast<unsigned char *>(at) - offsetof(Exception, unwind)); }

/* The one that was thrown last. */
Exception *last;
unsigned uncaught;
/* Handled ones, the innermost last. */
Exception **handled;
size_t handledCount, handledRoom;

[[noreturn]] void out_of_memory() {
  std::fputs("mayfly: out of memory while an exception is thrown\n", stderr);
  std::abort();
}

void release(Exception *e) {
  if (--e->references > 0) return;
  if (e->destructor != nullptr) e->destructor(e->object());
  std::free(e);
}

[[noreturn]] void go(Exception *e) {
  last = e;
  mayfly_throw();
}

void describe(Exception *e) {
  std::fflush(stdout);
  int status = 0;
  char *name = __cxxabiv1::__cxa_demangle(e->type->name(), nullptr, nullptr, &status);
  std::fprintf(stderr, "terminate called after throwing an instance of '%s'\n", name != nullptr ? name : e->type->name());
  const auto *base = static_cast<const Catchable *>(&typeid(std::exception));
  void *adjusted = e->object();
  if (base->can_catch(static_cast<const Catchable *>(e->type), adjusted)) std::fprintf(stderr, "  what():  %s\n", static_cast<std::exception *>(adjusted)->what());
}

[[noreturn]] void terminating() {
  if (handledCount > 0) describe(handled[handledCount - 1]);
  else std::fputs("terminate called without an active exception\n", stderr);
  std::abort();
}
__attribute__((constructor(101))) void install() { std::set_terminate(terminating); }

/* The selector of a clause is the address of its type; a clause of address 0 takes all. */
void *find(int count, const void *const *clauses) {
  Exception *e = last;
  for (int i = 0; i < count; i++) {
    const auto *clause = static_cast<const Catchable *>(clauses[i]);
    void *adjusted = e->object();
    if (clause != nullptr && !clause->can_catch(static_cast<const Catchable *>(e->type), adjusted)) continue;
    e->adjusted = adjusted;
    setTempRet0(static_cast<int>(reinterpret_cast<intptr_t>(clauses[i])));
    return token(e);
  }
  setTempRet0(0);
  return token(e);
}
}

RUNTIME void *__cxa_allocate_exception(size_t size) noexcept {
  auto *e = static_cast<Exception *>(std::aligned_alloc(16, (sizeof(Exception) + size + 15) / 16 * 16));
  if (e == nullptr) out_of_memory();
  std::memset(static_cast<void *>(e), 0, sizeof *e);
  return e->object();
}
RUNTIME void __cxa_free_exception(void *object) noexcept { std::free(of_object(object)); }

namespace __cxxabiv1 {
RUNTIME __cxa_exception *__cxa_init_primary_exception(void *object, std::type_info *type, void *(*destructor)(void *)) noexcept {
  Exception *e = of_object(object);
  e->type = type;
  e->destructor = destructor;
  e->adjusted = object;
  e->references = 0;
  return reinterpret_cast<__cxa_exception *>(e);
}
}

RUNTIME __attribute__((noreturn)) void __cxa_throw(void *object, std::type_info *type, void *(*destructor)(void *)) {
  Exception *e = of_object(object);
  e->type = type;
  e->destructor = destructor;
  e->adjusted = object;
  e->references = 1;
  uncaught++;
  mayfly_thrown();
  go(e);
}

RUNTIME void *__cxa_get_exception_ptr(void *at) noexcept { return of_token(at)->adjusted; }

RUNTIME void *__cxa_begin_catch(void *at) noexcept {
  Exception *e = of_token(at);
  if (handledCount == handledRoom) {
    handledRoom = handledRoom * 2 + 8;
    handled = static_cast<Exception **>(std::realloc(handled, handledRoom * sizeof *handled));
    if (handled == nullptr) out_of_memory();
  }
  handled[handledCount++] = e;
  uncaught--;
  return e->adjusted;
}

RUNTIME void __cxa_end_catch() {
  if (handledCount > 0) release(handled[--handledCount]);
}

RUNTIME __attribute__((noreturn)) void __cxa_rethrow() {
  if (handledCount == 0) std::terminate();
  /* The handler that is left now gives its own reference up. */
  Exception *e = handled[handledCount - 1];
  e->references++;
  uncaught++;
  go(e);
}

extern "C" __attribute__((weak, noreturn)) void __resumeException(void *at) { go(of_token(at)); }
RUNTIME int llvm_eh_typeid_for(void *type) { return static_cast<int>(reinterpret_cast<intptr_t>(type)); }

#define P const void *
RUNTIME void *__cxa_find_matching_catch_2() { return find(0, nullptr); }
#define FIND(n, parameters, ...) \
  RUNTIME void *__cxa_find_matching_catch_##n parameters { \
    P clauses[] = {__VA_ARGS__}; \
    return find(n - 2, clauses); \
  }
FIND(3, (P a), a)
FIND(4, (P a, P b), a, b)
FIND(5, (P a, P b, P c), a, b, c)
FIND(6, (P a, P b, P c, P d), a, b, c, d)
FIND(7, (P a, P b, P c, P d, P e), a, b, c, d, e)
FIND(8, (P a, P b, P c, P d, P e, P f), a, b, c, d, e, f)
FIND(9, (P a, P b, P c, P d, P e, P f, P g), a, b, c, d, e, f, g)
FIND(10, (P a, P b, P c, P d, P e, P f, P g, P h), a, b, c, d, e, f, g, h)
FIND(11, (P a, P b, P c, P d, P e, P f, P g, P h, P i), a, b, c, d, e, f, g, h, i)
FIND(12, (P a, P b, P c, P d, P e, P f, P g, P h, P i, P j), a, b, c, d, e, f, g, h, i, j)
FIND(13, (P a, P b, P c, P d, P e, P f, P g, P h, P i, P j, P k), a, b, c, d, e, f, g, h, i, j, k)
FIND(14, (P a, P b, P c, P d, P e, P f, P g, P h, P i, P j, P k, P l), a, b, c, d, e, f, g, h, i, j, k, l)
FIND(15, (P a, P b, P c, P d, P e, P f, P g, P h, P i, P j, P k, P l, P m), a, b, c, d, e, f, g, h, i, j, k, l, m)
FIND(16, (P a, P b, P c, P d, P e, P f, P g, P h, P i, P j, P k, P l, P m, P n), a, b, c, d, e, f, g, h, i, j, k, l, m, n)
FIND(17, (P a, P b, P c, P d, P e, P f, P g, P h, P i, P j, P k, P l, P m, P n, P o), a, b, c, d, e, f, g, h, i, j, k, l, m, n, o)
FIND(18, (P a, P b, P c, P d, P e, P f, P g, P h, P i, P j, P k, P l, P m, P n, P o, P q), a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, q)
#undef P

RUNTIME std::type_info *__cxa_current_exception_type() noexcept { return handledCount == 0 ? nullptr : const_cast<std::type_info *>(handled[handledCount - 1]->type); }
RUNTIME void __cxa_increment_exception_refcount(void *object) noexcept {
  if (object != nullptr) of_object(object)->references++;
}
RUNTIME void __cxa_decrement_exception_refcount(void *object) noexcept {
  if (object != nullptr) release(of_object(object));
}
RUNTIME void *__cxa_current_primary_exception() noexcept {
  if (handledCount == 0) return nullptr;
  Exception *e = handled[handledCount - 1];
  e->references++;
  return e->object();
}
RUNTIME void __cxa_rethrow_primary_exception(void *object) {
  if (object == nullptr) return;
  Exception *e = of_object(object);
  e->references++;
  uncaught++;
  go(e);
}
RUNTIME bool __cxa_uncaught_exception() noexcept { return uncaught > 0; }
RUNTIME unsigned int __cxa_uncaught_exceptions() noexcept { return uncaught; }

/* Called by the rank host when an exception has left main. */
extern "C" __attribute__((weak, export_name("mayfly_uncaught"))) void mayfly_uncaught() {
  if (__THREW__ == 0 && last != nullptr) __cxa_begin_catch(token(last));
  std::terminate();
}

/* ── what the libraries of the sysroot would throw ── */

RUNTIME void __cxa_bad_cast() { throw std::bad_cast(); }
RUNTIME void __cxa_bad_typeid() { throw std::bad_typeid(); }
RUNTIME void __cxa_throw_bad_array_new_length() { throw std::bad_array_new_length(); }
__attribute__((weak, noreturn)) void throw_bad_alloc() __asm__("_Z22__throw_bad_alloc_shimv");
void throw_bad_alloc() { throw std::bad_alloc(); }

/* Only there where the streams are linked. */
extern "C++" {
__attribute__((weak)) void *mayfly_make_failure(void *, const char *, const std::error_code &) __asm__("_ZNSt3__28ios_base7failureC1EPKcRKNS_10error_codeE");
__attribute__((weak)) void *mayfly_end_failure(void *) __asm__("_ZNSt3__28ios_base7failureD1Ev");
__attribute__((weak)) const std::error_category &mayfly_streams() __asm__("_ZNSt3__217iostream_categoryEv");
extern __attribute__((weak)) char mayfly_failure_type __asm__("_ZTINSt3__28ios_base7failureE");
__attribute__((weak)) void *mayfly_make_system_error(void *, std::error_code, const char *) __asm__("_ZNSt3__212system_errorC1ENS_10error_codeEPKc");
__attribute__((weak)) void *mayfly_end_system_error(void *) __asm__("_ZNSt3__212system_errorD1Ev");
__attribute__((weak)) const std::error_category &mayfly_generic() __asm__("_ZNSt3__216generic_categoryEv");
extern __attribute__((weak)) char mayfly_system_error_type __asm__("_ZTINSt3__212system_errorE");
__attribute__((weak, noreturn)) void verbose_abort(const char *format, ...) __asm__("_ZNSt3__222__libcpp_verbose_abortEPKcz");
}

void verbose_abort(const char *format, ...) {
  char text[512];
  va_list list;
  va_start(list, format);
  if (std::strncmp(format, "system_error was thrown", 23) == 0 && std::strstr(format, "%i") != nullptr && mayfly_make_system_error != nullptr && mayfly_generic != nullptr) {
    const int code = va_arg(list, int);
    const char *what = va_arg(list, const char *);
    va_end(list);
    void *object = __cxa_allocate_exception(sizeof(std::system_error));
    mayfly_make_system_error(object, std::error_code(code, mayfly_generic()), what);
    __cxa_throw(object, reinterpret_cast<std::type_info *>(&mayfly_system_error_type), mayfly_end_system_error);
  }
  const char *mode = std::strstr(format, " was thrown in -fno-exceptions mode");
  if (mode == nullptr) {
    std::vfprintf(stderr, format, list);
    std::fputc('\n', stderr);
    std::abort();
  }
  const char *message = std::strstr(mode, "%i") == nullptr && std::strstr(mode, "%s") != nullptr ? va_arg(list, const char *) : nullptr;
  if (message == nullptr) std::vsnprintf(text, sizeof text, format, list);
  else std::snprintf(text, sizeof text, "%s", message);
  va_end(list);
  const auto is = [&](const char *name) { return std::strncmp(format, name, std::strlen(name)) == 0; };
  if (is("out_of_range ")) throw std::out_of_range(text);
  if (is("invalid_argument ")) throw std::invalid_argument(text);
  if (is("length_error ")) throw std::length_error(text);
  if (is("domain_error ")) throw std::domain_error(text);
  if (is("logic_error ")) throw std::logic_error(text);
  if (is("range_error ")) throw std::range_error(text);
  if (is("overflow_error ")) throw std::overflow_error(text);
  if (is("underflow_error ")) throw std::underflow_error(text);
  if (is("bad_alloc ")) throw std::bad_alloc();
  if (is("bad_array_new_length ")) throw std::bad_array_new_length();
  if (is("bad_cast ")) throw std::bad_cast();
  if (is("ios_base::failure ") && mayfly_make_failure != nullptr && mayfly_streams != nullptr) {
    void *object = __cxa_allocate_exception(sizeof(std::ios_base::failure));
    mayfly_make_failure(object, text, std::error_code(1, mayfly_streams()));
    __cxa_throw(object, reinterpret_cast<std::type_info *>(&mayfly_failure_type), mayfly_end_failure);
  }
  throw std::runtime_error(text);
}
