import { launcher } from '@mayfly/toolchain/launcher';
import { zipSync } from 'fflate';
import { describe, expect, it } from 'vitest';
import { draftOfSubmission, emptyDraft, toBase64, toSubmission } from '../draft.ts';
import { opened, take, takeFolder } from './program-from-files.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const zip = (files: Record<string, string>): Uint8Array =>
  zipSync(Object.fromEntries(Object.entries(files).map(([p, t]) => [p, bytes(t)])));
const given = (path: string, data: Uint8Array | string) => ({
  path,
  data: typeof data === 'string' ? bytes(data) : data,
});
const wasm = Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0);
const sent = async (d: ReturnType<typeof emptyDraft>) =>
  (await toSubmission(d, () => Promise.reject(new Error('nothing to load')))).program;

describe('what is dropped on the form', () => {
  const C = {
    'p-1/mayfly.json': JSON.stringify({ language: 'c', sources: ['b.c', 'a.c'], include: ['.'], flags: ['-DN=7'] }),
    'p-1/a.c': 'int a;',
    'p-1/b.c': 'int main(void){}',
    'p-1/c.c': 'no part',
    'p-1/x.h': '',
    'p-1/notes.pdf': 'x',
  };

  it('as an archive becomes sources to edit, built as its manifest says', async () => {
    const t = await take(emptyDraft(), [given('p.zip', zip(C))], false);
    expect(t.note).toBe(
      '4 sources of p.zip, as its mayfly.json says. 1 other file was left out; add files that the program ' +
        'reads as input files.',
    );
    expect(t.show).toBe('b.c');
    expect(await sent({ ...emptyDraft(), ...t.change })).toEqual({
      language: 'c',
      sources: { 'a.c': 'int a;', 'b.c': 'int main(void){}', 'c.c': 'no part', 'x.h': '' },
      entry: 'b.c',
      units: ['b.c', 'a.c'],
      flags: ['-I.', '-DN=7'],
    });
  });

  it('without a manifest is all of its sources', async () => {
    const t = await take(
      emptyDraft(),
      [given('p.zip', zip({ 'p/src/z.cpp': '', 'p/src/main.cpp': 'int main(){}', 'p/README': 'x' }))],
      true,
    );
    expect(await sent({ ...emptyDraft(), ...t.change })).toEqual({
      language: 'c++',
      sources: { 'src/main.cpp': 'int main(){}', 'src/z.cpp': '' },
      entry: 'src/main.cpp',
      units: ['src/main.cpp', 'src/z.cpp'],
    });
    expect(t.note).toContain('2 sources of p.zip, which has no mayfly.json: each file of C or C++ is compiled');
    const ts = await takeFolder(
      new Map([
        ['f/part.ts', bytes('export {}')],
        ['f/main.ts', bytes('import "./part.ts"')],
      ]),
      'f',
    );
    expect(ts.change).toMatchObject({ entry: 'main.ts', units: undefined });
    expect(ts.note).toContain('it starts with main.ts');
    await expect(takeFolder(new Map([['a.pdf', bytes('')]]), 'f')).rejects.toThrow(
      'f contains no TypeScript, C or C++ sources',
    );
  });

  it('as a module, or an archive of one, is the module', async () => {
    for (const g of [
      given('my prog.wasm', wasm),
      given('my_prog.wasm', Uint8Array.from([...launcher(['/bin/node']), ...wasm])),
      given(
        'p.zip',
        zipSync({ 'mayfly.json': bytes('{"language":"wasm","entry":"my_prog.wasm"}'), 'my_prog.wasm': wasm }),
      ),
    ])
      expect(await sent({ ...emptyDraft(), ...(await take(emptyDraft(), [g], true)).change })).toEqual({
        language: 'wasm',
        entry: 'my_prog.wasm',
        module: toBase64(wasm),
      });
  });

  it('as files stands beside those that are there, or in place of the template', async () => {
    const two = [given('x.h', ''), given('b.c', Uint8Array.of(0x2f, 0x2f, 0xe9))]; // Latin 1
    const mine = {
      ...emptyDraft(),
      entry: 'main.c',
      sources: [
        { path: 'main.c', text: 'm' },
        { path: 'b.c', text: 'old' },
      ],
    };
    expect((await take(mine, two, true)).change).toMatchObject({
      entry: 'main.c',
      sources: [{ path: 'main.c' }, { path: 'x.h' }, { path: 'b.c', text: '//é' }],
    });
    expect((await take(emptyDraft(), two, false)).change).toMatchObject({
      entry: 'b.c',
      sources: [{ path: 'x.h' }, { path: 'b.c' }],
    });
    // A manifest among them counts.
    expect(
      (await take(emptyDraft(), [given('mayfly.json', '{"language":"typescript"}'), given('main.ts', '1')], true))
        .change,
    ).toMatchObject({ entry: 'main.ts', sources: [{ path: 'main.ts' }] });
  });

  it.each([
    ['a picture', [given('a.png', Uint8Array.of(0x89, 0, 1))], 'a.png is not a text file, a module'],
    ['a program of this machine', [given('a.out', Uint8Array.of(0x7f, 0x45, 0x4c, 0x46, 0))], 'mayfly mpicc'],
    [
      'a module with something else',
      [given('a.wasm', wasm), given('b.c', '')],
      'a.wasm is a module, which is a whole program: submit it alone',
    ],
    ['a damaged archive', [given('a.zip', zip(C).subarray(0, 40))], 'damaged'],
    [
      'a manifest that names what is not there',
      [given('a.zip', zip({ 'mayfly.json': '{"language":"c","sources":["gone.c"]}' }))],
      'It does not contain the file "gone.c"',
    ],
    [
      'a manifest of C over no C',
      [given('a.zip', zip({ 'mayfly.json': '{"language":"c"}', 'x.h': '' }))],
      'there are no files of that language to compile',
    ],
  ])('is refused in words: %s', async (_what, files, words) => {
    await expect(take(emptyDraft(), files, true)).rejects.toThrow(words);
  });

  it('of a copied job that came as an archive can be edited again', async () => {
    const copy = draftOfSubmission({ program: { language: 'archive', archive: toBase64(zip(C)) }, size: 3, name: 'n' });
    expect(await opened(copy)).toMatchObject({
      name: 'n',
      size: 3,
      packed: undefined,
      entry: 'b.c',
      units: ['b.c', 'a.c'],
      flags: '-I. -DN=7',
    });
    const damaged = draftOfSubmission({
      program: { language: 'archive', archive: toBase64(Uint8Array.of(0x50, 0x4b, 1)) },
      size: 3,
    });
    expect(await opened(damaged)).toBe(damaged);
  });
});
