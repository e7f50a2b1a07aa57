/** Files of each language get the colours of their own. */
import { classHighlighter, highlightTree } from '@lezer/highlight';
import { expect, test } from 'vitest';
import { coloursOf } from './colours.ts';

/** What of a text has which colour. */
function coloured(path: string, text: string): Record<string, string> {
  const out: Record<string, string> = {};
  const tree = coloursOf(path)?.language.parser.parse(text);
  if (tree) highlightTree(tree, classHighlighter, (from, to, style) => (out[text.slice(from, to)] = style));
  return out;
}

test.each(['ring.c', 'ring.cpp', 'lib/mesh.cc', 'nas.h', 'mesh.hpp', 'RING.C'])('%s has the colours of C', (path) => {
  expect(coloured(path, '#include <mpi.h>\nint main(void) { return 42; /* the answer */ }\n')).toMatchObject({
    '#include': expect.stringContaining('tok-meta'),
    int: expect.stringContaining('tok-typeName'),
    return: 'tok-keyword',
    '42': 'tok-number',
    '/* the answer */': 'tok-comment',
  });
});

test('C++ has words that C lacks; TypeScript has its own; other files are plain', () => {
  expect(coloured('a.cpp', 'template <class T> class A {};')).toMatchObject({ template: 'tok-keyword' });
  expect(coloured('main.ts', 'export const a: number = 1;')).toMatchObject({ export: 'tok-keyword' });
  expect(coloured('Makefile', 'int main')).toEqual({});
});
