/**
 * Names of the C library and of clang whose meaning follows the width of `long`, each with the name that means
 * the same for 64 bits. Most of these exist: `strtol` for `long long` is `strtoll`. Those that begin with `__mayfly_`
 * are in ../../../../compat/long64.h. MPI_LONG and its kin follow in mpi.h itself.
 */

/** In C++ a functional cast wants a type of one word: `long(x)`. */
export const ONE_WORD_LONG = '__mayfly_long';
export const UNSIGNED_LONG = '__mayfly_ulong';

const suffixed = (names: readonly string[], wide: (name: string) => string): [string, string][] =>
  names.map((name) => [name, wide(name)]);

export const WIDE_NAMES: ReadonlyMap<string, string> = new Map([
  ...suffixed(['strtol', 'strtoul', 'wcstol', 'wcstoul', 'stol', 'stoul'], (n) => n.replace(/l$/, 'll')),
  ...suffixed(['lrint', 'lrintf', 'lrintl', 'lround', 'lroundf', 'lroundl', 'ldiv', 'ldiv_t', 'labs'], (n) => `l${n}`),
  ...suffixed(
    ['clz', 'ctz', 'ffs', 'popcount', 'parity', 'clrsb'].map((n) => `__builtin_${n}l`),
    (n) => `${n}l`,
  ),
  ...suffixed(
    ['labs', 'lrint', 'lrintf', 'lrintl', 'lround', 'lroundf', 'lroundl'].map((n) => `__builtin_${n}`),
    (n) => n.replace('__builtin_', '__builtin_l'),
  ),
  ...suffixed(
    ['sadd', 'ssub', 'smul', 'uadd', 'usub', 'umul'].map((n) => `__builtin_${n}l_overflow`),
    (n) => n.replace('l_overflow', 'll_overflow'),
  ),
  ...suffixed(
    ['LONG_MAX', 'LONG_MIN', 'ULONG_MAX', 'LONG_WIDTH', 'ULONG_WIDTH', 'LONG_BIT', 'ulong'],
    (n) => `__mayfly_${n}`,
  ),
  ['atol', 'atoll'],
  ['ffsl', 'ffsll'],
  ['ftell', 'ftello'],
  ['to_ulong', 'to_ullong'],
  ['fseek', 'fseeko'],
  ['__builtin_expect', '__mayfly_expect'],
  ['__LONG_MAX__', '__LONG_LONG_MAX__'],
  ['__LONG_WIDTH__', '__LLONG_WIDTH__'],
  ['__SIZEOF_LONG__', '__SIZEOF_LONG_LONG__'],
]);
