import { FilePath, JobSubmission, type TaskId } from '@mayfly/wire';
import { describe, expect, it } from 'vitest';
import * as fc from 'fast-check';
import { Value } from 'typebox/value';
import {
  clusterPlaces,
  draftOfExample,
  draftOfSubmission,
  emptyDraft,
  formatArgs,
  fromBase64,
  packedKind,
  parseEnv,
  pathProblem,
  problems,
  safePath,
  splitArgs,
  toBase64,
  toSubmission,
} from './draft.ts';

describe('draft', () => {
  it('splits arguments as a shell does', () => {
    expect(splitArgs(`  a 'b c'  "d \\"e\\"" f\\ g '' x'y'"z" `)).toEqual(['a', 'b c', 'd "e"', 'f g', '', 'xyz']);
    expect(splitArgs(`'open`)).toBeUndefined();
    expect(splitArgs(`"open`)).toBeUndefined();
    expect(splitArgs('')).toEqual([]);
  });
  it('writes arguments so that they split into the same', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), (args) => {
        expect(splitArgs(formatArgs(args))).toEqual(args);
      }),
    );
  });
  it('keeps bytes through base64', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (data) => {
        expect([...fromBase64(toBase64(data))]).toEqual([...data]);
      }),
    );
    expect(toBase64(new Uint8Array(100_000)).length).toBe(133336);
  });
  it('knows the same paths as the wire, and makes any name pass', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.constantFrom('a.ts', 'a/b.ts', '../x', '.hid', 'a/.b', 'a//b', '/a', 'ü.ts', 'a b')),
        (s) => {
          if (s.length <= 200) expect(pathProblem(s) === undefined).toBe(Value.Check(FilePath, s));
          expect(Value.Check(FilePath, safePath(s))).toBe(true);
        },
      ),
    );
    expect(safePath('C:\\My Files\\matrix (1).mtx')).toBe('C_/My_Files/matrix__1_.mtx');
  });
  it('makes a submission that the border accepts, and reads it back', async () => {
    const draft = {
      ...emptyDraft(),
      name: ' heat ',
      args: `200 'a b'`,
      stdin: 'hello\n',
      files: [{ path: 'in.txt', bytes: 3, content: { kind: 'bytes' as const, data: new Uint8Array([1, 2, 3]) } }],
      env: 'OMP=1\nTITLE=a = b\n',
      room: 'ABCDEF',
      notify: 'https://example.org/hook',
      options: { graceMs: 3000 },
    };
    const sent = await toSubmission(draft, () => Promise.reject(new Error('nothing to load')));
    expect(Value.Check(JobSubmission, sent)).toBe(true);
    expect(sent).toMatchObject({ room: 'ABCDEF', options: { env: { OMP: '1', TITLE: 'a = b' } } });
    expect(parseEnv('1A=x')).toBeUndefined();
    expect(draftOfSubmission(sent)).toEqual({ ...draft, name: 'heat' });
  });
  it('names a room for each cluster, evenly split as the server does it, and under hc3i only', async () => {
    const options = { protocol: 'hc3i' as const, clusters: 2 };
    const draft = { ...emptyDraft(), size: 5, room: 'ABCDEF', rooms: ['', 'QX7PKM'], options };
    expect(clusterPlaces(draft)).toEqual([
      { room: '', ranks: 3 },
      { room: 'QX7PKM', ranks: 2 },
    ]);
    expect(
      clusterPlaces({ ...draft, rooms: [], options: { ...options, clusters: [[0], [1, 2, 3, 4]] as TaskId[][] } }),
    ).toEqual([
      { room: 'ABCDEF', ranks: 1 },
      { room: 'ABCDEF', ranks: 4 },
    ]);
    const none = () => Promise.reject(new Error('nothing to load'));
    const sent = await toSubmission(draft, none);
    expect(Value.Check(JobSubmission, sent)).toBe(true);
    expect(sent).toMatchObject({ rooms: [null, 'QX7PKM'] });
    expect(sent.room).toBeUndefined();
    expect(draftOfSubmission(sent)).toMatchObject({ room: '', rooms: ['', 'QX7PKM'] });
    expect(await toSubmission({ ...draft, options: {} }, none)).toMatchObject({ room: 'ABCDEF' });
  });
  it('takes the language from the files', async () => {
    const none = () => Promise.reject(new Error('nothing to load'));
    const of = async (draft: Parameters<typeof toSubmission>[0]) => {
      const sent = await toSubmission(draft, none);
      expect(Value.Check(JobSubmission, sent)).toBe(true);
      expect(draftOfSubmission(sent)).toMatchObject({
        sources: draft.sources,
        flags: draft.flags,
        ...(draft.packed ? { packed: { data: draft.packed.data } } : {}),
      });
      return sent.program;
    };
    const c = [
      { path: 'main.c', text: 'int main(void) {}' },
      { path: 'x.h', text: '' },
    ];
    expect(await of({ ...emptyDraft(), entry: 'main.c', sources: c, flags: `-O3 '-DA=b c'` })).toMatchObject({
      language: 'c',
      entry: 'main.c',
      flags: ['-O3', '-DA=b c'],
    });
    expect(await of({ ...emptyDraft(), entry: 'main.c', sources: [...c, { path: 'b.cpp', text: '' }] })).toMatchObject({
      language: 'c++',
    });
    const wasm = Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0);
    expect(packedKind(wasm)).toBe('wasm');
    expect(
      await of({
        ...emptyDraft(),
        entry: 'a.out',
        sources: [],
        packed: { language: 'wasm', path: 'a.out', data: wasm },
      }),
    ).toEqual({ language: 'wasm', entry: 'a.out', module: toBase64(wasm) });
    expect(packedKind(Uint8Array.of(0x50, 0x4b, 3, 4))).toBe('archive');
    expect(packedKind(new TextEncoder().encode('int main(void)'))).toBeUndefined();
  });
  it('fetches the files of an example when it is submitted', async () => {
    const d = draftOfExample({
      name: 'cg',
      title: 'CG',
      description: '',
      size: 4,
      args: ['m.mtx'],
      language: 'typescript',
      flags: [],
      entry: 'main.ts',
      sources: { 'main.ts': '1' },
      files: [{ path: 'm.mtx', bytes: 2 }],
    });
    const sent = await toSubmission(d, async ({ example, path }) => new TextEncoder().encode(`${example}:${path}`));
    expect(atob(sent.files!['m.mtx']!)).toBe('cg:m.mtx');
  });
  it('says what is wrong before anything is sent', () => {
    const d = emptyDraft();
    expect(problems(d)).toEqual([]);
    expect(problems({ ...d, sources: [] }).map((p) => p.field)).toEqual(['sources']);
    expect(problems({ ...d, entry: 'other.ts', size: 0, args: `"` }).map((p) => p.field)).toEqual([
      'entry',
      'size',
      'args',
    ]);
    expect(problems({ ...d, sources: [...d.sources, ...d.sources] })[0]?.text).toContain('main.ts');
    const module = {
      ...d,
      sources: [],
      packed: { language: 'wasm' as const, path: 'a.wasm', data: new Uint8Array(3_000_000) },
    };
    expect(problems(module, 4_000_000)).toEqual([]);
    expect(problems(module, 3_900_000)[0]?.text).toBe('The submission has 4 MB; the server accepts 3 MB.');
  });
});
