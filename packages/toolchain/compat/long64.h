/* Comes before each file of a program whose `long` has 64 bits: names that the compiler's rewriting of `long` puts in (src/c/driver/long64/names.ts). */
#ifndef MAYFLY_LONG64_H
#define MAYFLY_LONG64_H
/* For mpi.h. */
#define __MAYFLY_LONG64__ 1
#define __mayfly_LONG_MAX __LONG_LONG_MAX__
#define __mayfly_LONG_MIN (-__LONG_LONG_MAX__ - 1LL)
#define __mayfly_ULONG_MAX (__LONG_LONG_MAX__ * 2ULL + 1ULL)
#define __mayfly_LONG_WIDTH 64
#define __mayfly_ULONG_WIDTH 64
#define __mayfly_LONG_BIT 64
/* clang's own takes a long of 32 bits. */
#define __mayfly_expect(value, expected) ((long long)(value))
typedef long long __mayfly_long;
typedef unsigned long long __mayfly_ulong;
/* Strict modes of C hide these two in stdio.h. */
#ifdef __cplusplus
extern "C" {
#endif
struct _IO_FILE;
int fseeko(struct _IO_FILE *, long long, int);
long long ftello(struct _IO_FILE *);
#ifdef __cplusplus
}
#endif
/* Around operands of type size_t of what becomes 64 bits wide (src/c/driver/long64/sizes.ts): those with _any stand in
   macros, whose other uses may have another type there. A size_t of 2 GiB and more is a negative difference. */
#pragma clang system_header
#ifdef __cplusplus
#if __cplusplus >= 201103L
#define __mayfly_nothrow noexcept
#define __mayfly_inline constexpr __attribute__((always_inline, nodebug))
#else
#define __mayfly_nothrow throw()
#define __mayfly_inline inline __attribute__((always_inline, nodebug))
#endif
__mayfly_inline unsigned long long __mayfly_wide(unsigned long n) __mayfly_nothrow { return (unsigned long long)(int)n; }
__mayfly_inline unsigned long long __mayfly_size(unsigned long n) __mayfly_nothrow { return n; }
/* Of other types, scalars are passed by value: a reference would ask for a definition of a static constant. */
template <bool, class T> struct __mayfly_if {};
template <class T> struct __mayfly_if<true, T> { typedef T type; };
#define __mayfly_other(name) \
  template <class T> __mayfly_inline typename __mayfly_if<__is_scalar(T), T>::type name(T v) __mayfly_nothrow { return v; } \
  template <class T> __mayfly_inline typename __mayfly_if<!__is_scalar(__remove_cvref(T)), T &&>::type name(T &&v) __mayfly_nothrow { return static_cast<T &&>(v); }
__mayfly_other(__mayfly_wide)
__mayfly_other(__mayfly_size)
#define __mayfly_wide_any(...) __mayfly_wide(__VA_ARGS__)
#define __mayfly_size_any(...) __mayfly_size(__VA_ARGS__)
#else
#define __mayfly_wide(...) ((unsigned long long)(int)(__VA_ARGS__))
#define __mayfly_size(...) ((unsigned long long)(__VA_ARGS__))
#define __mayfly_wide_any(...) _Generic((__VA_ARGS__), unsigned long: __mayfly_wide(__VA_ARGS__), default: (__VA_ARGS__))
#define __mayfly_size_any(...) _Generic((__VA_ARGS__), unsigned long: __mayfly_size(__VA_ARGS__), default: (__VA_ARGS__))
#endif
/* size_t and ptrdiff_t keep the types of the system, where natively they are the program's unsigned long and long. */
#if defined(__cplusplus) && __cplusplus >= 201103L
namespace std {
template <class, class> struct __mayfly_mixed {};
template <> struct __mayfly_mixed<unsigned long, unsigned long long> { typedef unsigned long long type; };
template <> struct __mayfly_mixed<unsigned long long, unsigned long> { typedef unsigned long long type; };
template <> struct __mayfly_mixed<long, long long> { typedef long long type; };
template <> struct __mayfly_mixed<long long, long> { typedef long long type; };
/* The first parameter keeps them out of min<size_t>(a, b). */
template <int = 0, class A, class B>
constexpr typename __mayfly_mixed<A, B>::type min(const A &a, const B &b) { return b < a ? b : a; }
template <int = 0, class A, class B>
constexpr typename __mayfly_mixed<A, B>::type max(const A &a, const B &b) { return a < b ? b : a; }
}
#endif
#endif
