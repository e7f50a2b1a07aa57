/* Every header of the C library comes by here: the spellings that glibc's headers leak, and that programs have come to rely on. */
#include_next <bits/alltypes.h>
#ifndef MAYFLY_ALLTYPES_H
#define MAYFLY_ALLTYPES_H
typedef signed char __int8_t;
typedef unsigned char __uint8_t;
typedef short __int16_t;
typedef unsigned short __uint16_t;
typedef int __int32_t;
typedef unsigned int __uint32_t;
typedef __INT64_TYPE__ __int64_t;
typedef __UINT64_TYPE__ __uint64_t;
#ifndef __STRICT_ANSI__
typedef unsigned int uint;
typedef unsigned short ushort;
typedef unsigned long ulong;
typedef unsigned char u_int8_t;
typedef unsigned short u_int16_t;
typedef unsigned int u_int32_t;
#endif
#endif
