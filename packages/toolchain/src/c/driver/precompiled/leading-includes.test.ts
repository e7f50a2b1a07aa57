import { expect, test } from 'vitest';
import { MemoryFiles } from '../../files.ts';
import { namesOf } from './header-names.ts';
import { leadingIncludes } from './leading-includes.ts';

/** Headers that name `private`, `N` and `MAX`, of which they define MAX. */
const names = namesOf('\nMAX\nN\nprivate\n\0\nMAX\n\0\nvector\n');

function found(text: string, files: Record<string, string> = {}, defined: readonly string[] = []): string {
  return [
    ...leadingIncludes('a.cc', text, {
      quoted: ['quoted'],
      folders: ['inc'],
      later: ['later'],
      own: (name) => name === 'mpi.h',
      files: new MemoryFiles(Object.fromEntries(Object.entries(files).map(([path, t]) => [`/me/${path}`, t]))),
      cwd: '/me',
      names,
      defined,
    }),
  ].join(' ');
}

test('includes before the first declaration, in the source and in its headers', () => {
  const text = [
    '// no "quotation',
    "/* it isn't */ # /* here */ include <vector> // a comment",
    '#inc\\\nlude <map>',
    '#define OWN(x) \\',
    '  int x;',
    '#include "own.h"',
    '#include <list>',
    'int main() {}',
    '#include <set>',
  ].join('\n');
  const guarded = '#pragma once\n#ifndef OWN_H\n#define OWN_H\n#include <string>\n#include "deep.h"\n#endif\n';
  expect(found(text, { 'own.h': guarded, 'inc/deep.h': '#include <mpi.h>\n', 'later/mpi.h': 'int x;' })).toBe(
    'vector map string mpi.h list',
  );
  // A header that comes again says nothing; one with a declaration ends the search.
  expect(found('#include "own.h"\n#include "own.h"\n#include <list>', { 'own.h': guarded, 'quoted/deep.h': '' })).toBe(
    'string list',
  );
  expect(found('#include "own.h"\n#include <list>', { 'own.h': '#include <map>\nstruct S;\n#include <set>\n' })).toBe(
    'map',
  );
  expect(found('#include "own.h"\n#include <list>', { 'own.h': guarded, 'inc/deep.h': '' }, ['OWN_H'])).toBe('list');
});

test.each([
  ['a macro that a header names', '#define private public'],
  ['its end', '#undef N'],
  ['a condition on a macro that a header defines', '#ifndef MAX\n#endif'],
  ['such a macro in the middle of a condition', '#if defined(A) || \\\n MAX > 3\n#endif'],
  ['one in a condition that may not count', '#ifdef A\n#define N 1\n#endif'],
  ['a pragma', '#pragma pack(1)'],
  ['a declaration that may not count', '#ifdef A\nint a;\n#endif'],
  ['a name from a macro', '#define HEADER <map>\n#include HEADER'],
  ['an operator of the preprocessor', '_Pragma("pack(1)")'],
  ['a header that includes itself', '#include "self.h"'],
  ['an absolute path', '#include "/me/own.h"'],
  ['a header in a folder of the caller', '#include <map>'],
  ['an error', '#error no'],
  ['a condition that never ends', '#if 0'],
  ['a comment that never ends', '/* '],
])('the search ends at %s', (_what, text) => {
  const files = { 'self.h': '#include "self.h"\n', 'own.h': '', 'inc/map': 'int map;\n' };
  expect(found(`#include <vector>\n${text}\n#include <string>\n`, files)).toBe('vector');
});

test('includes that may not count are none, but do not end the search', () => {
  const text = '#if USE_MPI\n#include <mpi.h>\n#error no\n#else\n#include <map>\n#endif\n#if 0\nint x = "\n#endif\n';
  expect(found(`${text}#include <vector>`)).toBe('vector');
  // Not the guard of a header: the compiler may define it.
  expect(found('#ifndef __SOMETHING__\n#define __SOMETHING__\n#include <map>\n#endif\n#include <vector>')).toBe(
    'vector',
  );
});
