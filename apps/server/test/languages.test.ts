/**
 * What may be submitted besides scripts: sources of C and C++, ready modules, archives; and what is refused, with which
 * code.
 */
import { hashBytes } from '@mayfly/checkpoint';
import { gzipSync, zipSync } from 'fflate';
import { createServer, type MayflyServer } from '@mayfly/server';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ARCHIVE_LIMITS } from '@mayfly/toolchain/packed';
import { checkFlags } from '../src/jobs/flags.ts';
import { api, TOKEN } from './harness.ts';

const base64 = (bytes: Uint8Array | string): string => Buffer.from(bytes).toString('base64');
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const MAIN =
  `#include <mpi.h>\n#include "lib/twice.h"\nint main(int argc, char **argv) { MPI_Init(&argc, &argv); ` +
  `MPI_Barrier(MPI_COMM_WORLD); MPI_Finalize(); return twice(N) - 14; }\n`;
const FILES = {
  'src/main.c': MAIN,
  'src/lib/twice.h': 'int twice(int n);\n',
  'src/lib/twice.c': '#include "twice.h"\nint twice(int n) { return 2 * n; }\n',
};
const MANIFEST = { language: 'c', sources: ['src/main.c', 'src/lib/twice.c'], include: ['src'], flags: ['-DN=7'] };

let dataDir: string;
let server: MayflyServer;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'mayfly-server-'));
  server = await createServer({ dataDir, port: 0, token: TOKEN, log: 'silent' });
});
afterAll(async () => {
  await server.close();
  await rm(dataDir, { recursive: true, force: true });
});
const submit = (program: object): ReturnType<typeof api> => api(server, 'POST', '/api/jobs', { program, size: 1 });

/** What nodes would fetch. */
async function blob(id: string): Promise<{ bytes: Uint8Array; language: string; entry: string }> {
  const view = (await api(server, 'GET', `/api/jobs/${id}`)).body as {
    program: { language: string; entry: string; hash: string };
  };
  const bytes = await readFile(join(dataDir, 'jobs', id, 'program.wasm'));
  expect(await hashBytes(bytes)).toBe(view.program.hash);
  return { bytes, language: view.program.language, entry: view.program.entry };
}

/** A tar of plain files, and of what else is given as a type flag. */
function tar(entries: readonly (readonly [path: string, content: string, type?: string])[]): Uint8Array {
  const blocks: Buffer[] = [];
  for (const [path, content, type = '0'] of entries) {
    const body = Buffer.from(content);
    const head = Buffer.alloc(512);
    head.write(path, 0);
    head.write(`${body.length.toString(8).padStart(11, '0')}\0`, 124);
    head.write(type, 156);
    head.write('ustar\x0000', 257);
    blocks.push(head, body, Buffer.alloc((512 - (body.length % 512)) % 512));
  }
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}

describe('a submission of several programs', () => {
  const c = (main: string): object => ({ language: 'c', sources: { 'main.c': main } });
  const one = c('int main() { return 0; }');
  const post = (further: unknown): ReturnType<typeof api> =>
    api(server, 'POST', '/api/jobs', { program: one, size: 2, args: ['x'], further });

  it('keeps each, says them, and gives them back', async () => {
    const other = c('int main() { return 1; }');
    const first = await post([{ program: other, size: 3, args: ['y'], env: { A: '1' } }]);
    expect(first.status).toBe(201);
    const id = first.body.id as string;
    const { body: view } = await api(server, 'GET', `/api/jobs/${id}`);
    const { parts } = view as { parts: { program: { hash: string } }[] };
    expect(view).toMatchObject({ size: 5, args: ['x'], program: parts[0]!.program });
    expect(parts).toMatchObject([
      { first: 0, size: 2, args: ['x'] },
      { first: 2, size: 3, args: ['y'] },
    ]);
    for (const [n, file] of ['program.wasm', 'program-1.wasm'].entries())
      expect(await hashBytes(await readFile(join(dataDir, 'jobs', id, file)))).toBe(parts[n]!.program.hash);
    // A module is not kept twice, and comes back as the one of its own part.
    const module = base64(await readFile(join(dataDir, 'jobs', id, 'program-1.wasm')));
    const second = await post([{ program: { language: 'wasm', module }, size: 1 }]);
    expect((await api(server, 'GET', `/api/jobs/${second.body.id as string}/submission`)).body).toEqual({
      program: one,
      size: 2,
      args: ['x'],
      further: [{ program: { language: 'wasm', module }, size: 1 }],
    });
  });

  it.each([
    ['no program', [{ size: 1 }]],
    ['zero ranks', [{ program: one, size: 0 }]],
    ['an empty list', []],
    ['too many programs', Array(64).fill({ program: one, size: 1 })],
    ['too many ranks', [{ program: one, size: 1023 }]],
    ['options of its own', [{ program: one, size: 1, options: {} }]],
    ['a script beside C', [{ program: { language: 'typescript', entry: 'm.ts', sources: { 'm.ts': '' } }, size: 1 }]],
  ])('is refused with %s', async (_what, further) => {
    expect(await post(further)).toMatchObject({ status: 400, body: { code: 'BAD_REQUEST' } });
  });
});

describe('a submission', () => {
  it(
    'of C is built from its files and flags, a module of it is taken as it is, and archives of it become the ' +
      'same program',
    async () => {
      const c = await submit({ language: 'c', sources: FILES, flags: ['-DN=7', '-I', 'src', '-O1'] });
      expect(c, JSON.stringify(c.body)).toMatchObject({ status: 201, body: { warnings: [] } });
      const built = await blob(c.body.id as string);
      expect(built).toMatchObject({ language: 'c', entry: 'src/main.c' });

      const again = await submit({ language: 'wasm', module: base64(built.bytes), entry: 'mine.wasm' });
      expect(again.status).toBe(201);
      expect(await blob(again.body.id as string)).toEqual({ ...built, language: 'wasm', entry: 'mine.wasm' });
      // The module is kept once, and given back.
      expect((await readFile(join(dataDir, 'jobs', again.body.id as string, 'submission.json'))).length).toBeLessThan(
        1000,
      );
      expect((await api(server, 'GET', `/api/jobs/${again.body.id as string}/submission`)).body).toMatchObject({
        program: { module: base64(built.bytes) },
      });

      const files: [string, string][] = [
        ['mayfly.json', JSON.stringify(MANIFEST)],
        ...Object.entries(FILES),
        ['notes.pdf', 'no source'],
      ];
      const inFolder = files.map(([path, text]): [string, string] => [`project-1.0/${path}`, text]);
      const packed = [
        zipSync(Object.fromEntries(files.map(([p, t]) => [p, bytesOf(t)]))),
        // As `git archive` and GNU tar write them.
        gzipSync(
          tar([
            ['pax_global_header', '20 comment=0123456\n', 'g'],
            ...inFolder,
            ['project-1.0/link.c', '', '2'],
            ['../escape.c', 'int x;'],
          ]),
        ),
      ];
      const hashes = new Set<string>();
      for (const archive of packed) {
        const r = await submit({ language: 'archive', archive: base64(archive) });
        expect(r, JSON.stringify(r.body)).toMatchObject({ status: 201 });
        expect((await blob(r.body.id as string)).language).toBe('c');
        hashes.add(
          ((await api(server, 'GET', `/api/jobs/${r.body.id}`)).body as { program: { hash: string } }).program.hash,
        );
      }
      expect(hashes.size).toBe(1);
    },
  );

  it('of C++ has the standard library, beside files of C', async () => {
    const r = await submit({
      language: 'c++',
      sources: {
        'a.cpp':
          '#include <mpi.h>\n#include <vector>\nextern "C" int c_part(int);\nint main() { std::vector<int> ' +
          'v(3, 1); MPI_Init(0, 0); MPI_Finalize(); return c_part(v.size()); }\n',
        'b.c': 'int c_part(int class) { return class - 3; }\n',
      },
      flags: ['-std=c++20'],
    });
    expect(r, JSON.stringify(r.body)).toMatchObject({ status: 201 });
    expect((await blob(r.body.id as string)).language).toBe('c++');
  });
});

describe('refused is', () => {
  const c = (text: string, more: object = {}): object => ({ language: 'c', sources: { 'main.c': text }, ...more });
  it.each([
    [
      'an error, with file, line and column',
      c('int main(void) {\n  return x;\n}\n'),
      'COMPILE_FAILED',
      { file: 'main.c', line: 2, column: 10, code: 'clang' },
    ],
    [
      'what the linker misses',
      c('int gone(void);\nint main(void) { return gone(); }\n'),
      'COMPILE_FAILED',
      { file: '', code: 'link' },
    ],
    [
      'a program without a file to compile',
      { language: 'c', sources: { 'a.h': '' } },
      'COMPILE_FAILED',
      { code: 'NO_SOURCE' },
    ],
    [
      'a unit that is not there',
      c('', { units: ['other.c'] }),
      'COMPILE_FAILED',
      { file: 'other.c', code: 'NO_SOURCE' },
    ],
    [
      'a file of the server',
      c('#include "/etc/passwd"\nint main(void) { return 0; }\n'),
      'COMPILE_FAILED',
      { file: 'main.c', line: 1 },
    ],
    [
      'bytes that are no module',
      { language: 'wasm', module: base64('#!/bin/sh\n') },
      'BAD_MODULE',
      { code: 'NOT_WASM' },
    ],
    [
      'a module without memory',
      { language: 'wasm', module: base64(Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0)) },
      'BAD_MODULE',
      { code: 'NO_MEMORY' },
    ],
  ])('%s', async (_what, program, code, diagnostic) => {
    const r = await submit(program);
    expect(r, JSON.stringify(r.body)).toMatchObject({ status: 422, body: { code } });
    expect((r.body as { diagnostics: object[] }).diagnostics[0]).toMatchObject(diagnostic);
  });

  const json = (manifest: unknown): [string, string] => ['mayfly.json', JSON.stringify(manifest)];
  it.each([
    ['no archive', bytesOf('hello'), 'neither a zip'],
    ['a damaged zip file', zipSync({ a: bytesOf('b') }).subarray(0, 30), 'damaged'],
    ['a damaged gzip file', gzipSync(tar([['a.c', '']])).subarray(0, 40), 'damaged'],
    ['an archive without a manifest', tar([['main.c', '']]), 'no mayfly.json'],
    ['a manifest that is no JSON', tar([['mayfly.json', '{']]), 'cannot be read'],
    ['a manifest of an unknown language', tar([json({ language: 'fortran' })]), 'language'],
    ['a manifest with an unknown field', tar([json({ language: 'c', surprise: 1 })]), 'mayfly.json'],
    ['a manifest that names a file which is not there', tar([json({ language: 'c', sources: ['main.c'] })]), 'main.c'],
  ])('%s', async (_what, archive, words) => {
    const r = await submit({ language: 'archive', archive: base64(archive) });
    expect(r).toMatchObject({ status: 422, body: { code: 'BAD_ARCHIVE' } });
    expect((r.body as { message: string }).message).toContain(words);
  });

  it('an archive that unpacks to too much', async () => {
    const much = new Uint8Array(ARCHIVE_LIMITS.bytes + 1);
    for (const archive of [zipSync({ 'a.c': much }), gzipSync(much)])
      expect(await submit({ language: 'archive', archive: base64(archive) })).toMatchObject({
        status: 413,
        body: { code: 'TOO_LARGE' },
      });
  });

  it.each([
    ['-I/etc'],
    ['-I..'],
    ['-include../x.h'],
    ['-Xclang'],
    ['-mllvm'],
    ['-fplugin=x.so'],
    ['-Wl,--import-memory'],
    ['-o'],
    ['@file'],
    ['main.c'],
    ['-Wa,x'],
    ['--sysroot=/'],
    ['-I'],
  ])('the option %s', async (flag) => {
    expect(await submit(c('int main(void) { return 0; }', { flags: [flag] }))).toMatchObject({
      status: 422,
      body: { code: 'FORBIDDEN_FLAG' },
    });
  });

  it.each([
    ['a language that nobody knows', { language: 'fortran', sources: {} }],
    ['a path that climbs', c('', { sources: { '../main.c': '' } })],
    ['a module that is not base64', { language: 'wasm', module: '*' }],
    ['an unknown field', c('', { surprise: 1 })],
  ])('%s, with BAD_REQUEST', async (_what, program) => {
    expect(await submit(program)).toMatchObject({ status: 400, body: { code: 'BAD_REQUEST' } });
  });
});

it('usual options of builds are taken', () => {
  const usual = [
    '-O3',
    '-Ofast',
    '-DNDEBUG',
    '-DNAME="a b"',
    '-DF(x)=x',
    '-UX',
    '-Iinclude',
    '-I.',
    '-std=c17',
    '-std=gnu++20',
    '-lm',
    '-Wall',
    '-Wno-unused',
    '-Werror=format',
    '-g',
    '-ggdb3',
    '-msimd128',
    '-march=native',
    '-ffast-math',
    '-fno-strict-aliasing',
    '-fopenmp',
    '-pthread',
  ];
  expect(checkFlags([...usual, '-D', 'X=1', '-I', 'a/../b'])).toEqual([
    ...usual.flatMap((f) => (f.startsWith('-I') ? ['-I', f.slice(2)] : [f])),
    '-DX=1',
    '-I',
    'a/../b',
  ]);
});
