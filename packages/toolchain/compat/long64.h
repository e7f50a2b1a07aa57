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
/* The program's macros (-Dmin, -Dconst=) are out of the way until the end of this file; all other names in it are reserved. */
#pragma push_macro("always_inline")
#undef always_inline
#pragma push_macro("bool")
#undef bool
#pragma push_macro("char")
#undef char
#pragma push_macro("class")
#undef class
#pragma push_macro("const")
#undef const
#pragma push_macro("constexpr")
#undef constexpr
#pragma push_macro("enum")
#undef enum
#pragma push_macro("extern")
#undef extern
#pragma push_macro("fseeko")
#undef fseeko
#pragma push_macro("ftello")
#undef ftello
#pragma push_macro("int")
#undef int
#pragma push_macro("long")
#undef long
#pragma push_macro("max")
#undef max
#pragma push_macro("min")
#undef min
#pragma push_macro("namespace")
#undef namespace
#pragma push_macro("nodebug")
#undef nodebug
#pragma push_macro("noexcept")
#undef noexcept
#pragma push_macro("return")
#undef return
#pragma push_macro("sizeof")
#undef sizeof
#pragma push_macro("static_cast")
#undef static_cast
#pragma push_macro("std")
#undef std
#pragma push_macro("struct")
#undef struct
#pragma push_macro("template")
#undef template
#pragma push_macro("throw")
#undef throw
#pragma push_macro("true")
#undef true
#pragma push_macro("typedef")
#undef typedef
#pragma push_macro("typename")
#undef typename
#pragma push_macro("unsigned")
#undef unsigned
#pragma push_macro("volatile")
#undef volatile
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
#define __mayfly_inline __inline__ __attribute__((always_inline, nodebug))
#endif
__mayfly_inline unsigned long long __mayfly_wide(unsigned long __mayfly_n) __mayfly_nothrow { return (unsigned long long)(int)__mayfly_n; }
__mayfly_inline unsigned long long __mayfly_size(unsigned long __mayfly_n) __mayfly_nothrow { return __mayfly_n; }
/* Of other types, scalars are passed by value: a reference would ask for a definition of a static constant. */
template <bool, class __mayfly_T> struct __mayfly_if {};
template <class __mayfly_T> struct __mayfly_if<true, __mayfly_T> { typedef __mayfly_T __mayfly_type; };
#define __mayfly_other(name) \
  template <class __mayfly_T> __mayfly_inline typename __mayfly_if<__is_scalar(__mayfly_T), __mayfly_T>::__mayfly_type name(__mayfly_T __mayfly_v) __mayfly_nothrow { return __mayfly_v; } \
  template <class __mayfly_T> __mayfly_inline typename __mayfly_if<!__is_scalar(__remove_cvref(__mayfly_T)), __mayfly_T &&>::__mayfly_type name(__mayfly_T &&__mayfly_v) __mayfly_nothrow { return static_cast<__mayfly_T &&>(__mayfly_v); }
/* What a pointer points to, for the datatype of a buffer in a template (src/c/driver/long64/size-buffers.ts): 1 size_t, 2 ptrdiff_t, 3 others. */
template <class __mayfly_T> struct __mayfly_word { enum { __mayfly_kind = 3 }; };
template <> struct __mayfly_word<unsigned long> { enum { __mayfly_kind = 1 }; };
template <> struct __mayfly_word<long> { enum { __mayfly_kind = 2 }; };
template <class __mayfly_T, unsigned long __mayfly_n> struct __mayfly_word<__mayfly_T[__mayfly_n]> : __mayfly_word<__mayfly_T> {};
template <class __mayfly_T> char (&__mayfly_word_of(const volatile __mayfly_T *))[__mayfly_word<__mayfly_T>::__mayfly_kind];
char (&__mayfly_word_of(...))[3];
#define __mayfly_kind_of(...) (sizeof(__mayfly_word_of(__VA_ARGS__)))
__mayfly_other(__mayfly_wide)
__mayfly_other(__mayfly_size)
#define __mayfly_wide_any(...) __mayfly_wide(__VA_ARGS__)
#define __mayfly_size_any(...) __mayfly_size(__VA_ARGS__)
#else
#define __mayfly_wide(...) ((unsigned long long)(int)(__VA_ARGS__))
#define __mayfly_size(...) ((unsigned long long)(__VA_ARGS__))
#define __mayfly_wide_any(...) _Generic((__VA_ARGS__), unsigned long: __mayfly_wide(__VA_ARGS__), default: (__VA_ARGS__))
#define __mayfly_kind_of(...) (__extension__ _Generic((__VA_ARGS__), unsigned long *: 1, __const unsigned long *: 1, long *: 2, __const long *: 2, default: 3))
#define __mayfly_size_any(...) _Generic((__VA_ARGS__), unsigned long: __mayfly_size(__VA_ARGS__), default: (__VA_ARGS__))
#endif
/* size_t and ptrdiff_t keep the types of the system, where natively they are the program's unsigned long and long. */
#if defined(__cplusplus) && __cplusplus >= 201103L
namespace std {
template <class, class> struct __mayfly_mixed {};
template <> struct __mayfly_mixed<unsigned long, unsigned long long> { typedef unsigned long long __mayfly_type; };
template <> struct __mayfly_mixed<unsigned long long, unsigned long> { typedef unsigned long long __mayfly_type; };
template <> struct __mayfly_mixed<long, long long> { typedef long long __mayfly_type; };
template <> struct __mayfly_mixed<long long, long> { typedef long long __mayfly_type; };
/* The first parameter keeps them out of min<size_t>(a, b). */
template <int = 0, class __mayfly_A, class __mayfly_B>
constexpr typename __mayfly_mixed<__mayfly_A, __mayfly_B>::__mayfly_type min(const __mayfly_A &__mayfly_a, const __mayfly_B &__mayfly_b) { return __mayfly_b < __mayfly_a ? __mayfly_b : __mayfly_a; }
template <int = 0, class __mayfly_A, class __mayfly_B>
constexpr typename __mayfly_mixed<__mayfly_A, __mayfly_B>::__mayfly_type max(const __mayfly_A &__mayfly_a, const __mayfly_B &__mayfly_b) { return __mayfly_a < __mayfly_b ? __mayfly_b : __mayfly_a; }
}
#endif
#pragma pop_macro("always_inline")
#pragma pop_macro("bool")
#pragma pop_macro("char")
#pragma pop_macro("class")
#pragma pop_macro("const")
#pragma pop_macro("constexpr")
#pragma pop_macro("enum")
#pragma pop_macro("extern")
#pragma pop_macro("fseeko")
#pragma pop_macro("ftello")
#pragma pop_macro("int")
#pragma pop_macro("long")
#pragma pop_macro("max")
#pragma pop_macro("min")
#pragma pop_macro("namespace")
#pragma pop_macro("nodebug")
#pragma pop_macro("noexcept")
#pragma pop_macro("return")
#pragma pop_macro("sizeof")
#pragma pop_macro("static_cast")
#pragma pop_macro("std")
#pragma pop_macro("struct")
#pragma pop_macro("template")
#pragma pop_macro("throw")
#pragma pop_macro("true")
#pragma pop_macro("typedef")
#pragma pop_macro("typename")
#pragma pop_macro("unsigned")
#pragma pop_macro("volatile")
#endif
