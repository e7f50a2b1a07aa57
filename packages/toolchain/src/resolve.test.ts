import { describe, expect, it } from 'vitest';
import { resolveImport } from './resolve.ts';

const files = new Set([
  'main.ts',
  'lib/mesh.ts',
  'lib/index.ts',
  'lib/deep/a.tsx',
  'data.json',
  'notes.txt',
  'old.js',
  'old.ts',
  'types.d.ts',
]);
const resolve = (specifier: string, importer = 'main.ts') => resolveImport(specifier, importer, (p) => files.has(p));

describe('the resolver serves the submitted files and mayfly', () => {
  it.each([
    ['./lib/mesh', 'main.ts', 'lib/mesh.ts'],
    ['./lib/mesh.ts', 'main.ts', 'lib/mesh.ts'],
    ['./lib/mesh.js', 'main.ts', 'lib/mesh.ts'],
    ['./lib', 'main.ts', 'lib/index.ts'],
    ['.', 'lib/mesh.ts', 'lib/index.ts'],
    ['../main', 'lib/mesh.ts', 'main.ts'],
    ['../../data.json', 'lib/deep/a.tsx', 'data.json'],
    ['./notes.txt', 'main.ts', 'notes.txt'],
    ['./old.js', 'main.ts', 'old.js'],
    ['./types', 'main.ts', 'types.d.ts'],
    ['./lib/../lib//mesh', 'main.ts', 'lib/mesh.ts'],
  ])('%s from %s is %s', (specifier, importer, path) => {
    expect(resolve(specifier, importer)).toEqual({ kind: 'file', path });
  });
  it('knows mayfly', () => expect(resolve('mayfly')).toEqual({ kind: 'mayfly' }));

  it.each([
    ['/etc/passwd', 'absolute path'],
    ['C:\\secret.ts', 'absolute path'],
    ['\\\\host\\share', 'absolute path'],
    ['../outside', "leaves the program's folder"],
    ['./lib/../../outside', "leaves the program's folder"],
    ['node:fs', 'module of Node.js'],
    ['fs', 'module of Node.js'],
    ['fs/promises', 'module of Node.js'],
    ['https://example.org/x.js', 'on the network'],
    ['file:///etc/passwd', 'is a URL'],
    ['data:text/javascript,1', 'is a URL'],
    ['lodash', 'is a package'],
    ['@scope/x', 'is a package'],
    ['mayfly/internal', 'is a package'],
    ['#inside', 'is a package'],
    ['', 'is a package'],
    ['./a\0b', 'is not a path'],
  ])('refuses %j', (specifier, words) => {
    const r = resolve(specifier);
    expect(r.kind).toBe('forbidden');
    expect((r as { message: string }).message).toContain(words);
  });
  it('says that a file of the program is missing', () => expect(resolve('./nothing').kind).toBe('missing'));
});
