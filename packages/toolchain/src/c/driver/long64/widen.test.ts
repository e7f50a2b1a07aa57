import { expect, test } from 'vitest';
import { widen } from './widen.ts';

const c = (source: string): string => widen(source, { language: 'c' });
const cxx = (source: string): string => widen(source, { language: 'c++' });

test('long becomes long long, in every order of words, and the types of other sizes stay', () => {
  expect(c('long a; unsigned long int b; int long c; long/**/unsigned d; const long *e(long);')).toBe(
    'long long a; unsigned long long int b; int long long c; long long/**/unsigned d; const long long *e(long long);',
  );
  const same = 'long long a; long int long b; long double c; double long d; unsigned long\nlong e; longer f; a_long g;';
  expect(c(same)).toBe(same);
  expect(c('#define WORD unsigned long\nlong x;\n#define TWO long \\\n  long\n')).toBe(
    '#define WORD unsigned long long\nlong long x;\n#define TWO long \\\n  long\n',
  );
});

test('a set of 32 bits as a number is not taken for a size', () => {
  expect(cxx('unsigned long n = std::bitset<32>(~0u).to_ulong();')).toContain('.to_ullong()');
});

test('constants get the suffix of long long, pasted suffixes too; floating ones, wide strings and names stay', () => {
  expect(c('1L 0x1fUL 07lu 1ul 0b1L')).toBe('1LL 0x1fULL 07llu 1ull 0b1LL');
  expect(c('#define C(x) x##UL\n#define D(x) x ## l\n')).toBe('#define C(x) x##ULL\n#define D(x) x ## ll\n');
  const same = "1LL 1.0L 1e5L 0x1p3L 1u L\"s\" L'c' L##s UL x##y 'L'";
  expect(c(same)).toBe(same);
  expect(cxx("1'000'000L 1'0UL 5_L")).toBe("1'000'000LL 1'0ULL 5_L");
});

test('formats follow, and texts that are none, comments, directives and raw strings stay', () => {
  expect(c('"%ld %-5lu %.*lx %*ld %2$ld %lf %ls %Lg %lld %zu %%ld %ln"')).toBe(
    '"%lld %-5llu %.*llx %*lld %2$lld %lf %ls %Lg %lld %zu %%ld %lln"',
  );
  expect(c('sprintf(f, "%%%dld|%%%d.%dlu", 8)')).toBe('sprintf(f, "%%%dlld|%%%d.%dllu", 8)');
  const same =
    '// a long 1L\n/* 1L long */ #include <long/1L.h>\n#include "long.h"\n' +
    '#error don\'t use long\nchar *s = "long 1L \\" long";';
  expect(c(same)).toBe(same);
  expect(cxx('R"x(long 1L)" %ld)x" 1L')).toBe('R"x(long 1L)" %ld)x" 1LL');
  expect(c('#define F "ld"\n')).toBe('#define F "ld"\n');
  expect(widen('#define F "8ld"\nf("ld");', { language: 'c', parts: true })).toBe('#define F "8lld"\nf("ld");');
});

test('names whose meaning follows the width', () => {
  expect(c('strtol(s, 0, 0); x = LONG_MAX; MPI_Send(b, 1, MPI_UNSIGNED_LONG, 0, 0, c); __builtin_clzl(1)')).toBe(
    'strtoll(s, 0, 0); x = __mayfly_LONG_MAX; MPI_Send(b, 1, MPI_UNSIGNED_LONG, 0, 0, c); __builtin_clzll(1)',
  );
  const same = 'strtoll MPI_LONG_LONG LLONG_MAX MPI_LONG_DOUBLE my_strtol';
  expect(c(same)).toBe(same);
});

test('C++: casts that look like calls', () => {
  expect(cxx('long(x) + long{1} + static_cast<long>(y); operator long(); unsigned long (*f)();')).toBe(
    '__mayfly_long(x) + __mayfly_long{1} + static_cast<long long>(y); operator __mayfly_long(); ' +
      'unsigned long long (*f)();',
  );
});

test('of a preprocessed file, what came from the system stays; a second time changes nothing', () => {
  const source = '# 1 "a.c"\nlong a;\n# 1 "/.mayfly/x.h" 1 3\nlong b = 1L;\n# 2 "a.c" 2\nlong c = 1L;\n';
  const once = '# 1 "a.c"\nlong long a;\n# 1 "/.mayfly/x.h" 1 3\nlong b = 1L;\n# 2 "a.c" 2\nlong long c = 1LL;\n';
  expect(c(source)).toBe(once);
  expect(c(once)).toBe(once);
});
