/** Limits of one program, and fair shares of the compile processes, with the real processes. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { zip, zeros } from './archives-for-tests.ts';
import { createCompiler } from './compiler.ts';
import type { CompileRequest, Compiler } from './compile-request.ts';

const program = (text: string): CompileRequest => ({ entry: 'main.ts', sources: { 'main.ts': text } });
/** Types whose check takes minutes. */
const bomb = (n: number): CompileRequest => {
  const bits = '${B}'.repeat(12);
  const types = Array.from(
    { length: 4000 },
    (_, i) =>
      `export type U${i} = { [K in \`${bits}\`]: K extends \`\${infer A}\${infer R}\` ? [A, R, ${i}] : never ` +
      `}; export const v${i}: U${i}['000000000000'] = 0 as never as U${i}[keyof U${i}];`,
  );
  return program(`// ${n}\ntype B = '0' | '1';\n${types.join('\n')}`);
};
const fine = (n: number): CompileRequest => program(`import 'mayfly';\nconsole.log(${n});`);

let compiler: Compiler;
beforeAll(async () => {
  compiler = createCompiler({ workers: 2, patienceMs: 0, cpuLimitMs: 4000, maxPerOwner: 1 });
  await compiler.warm();
});
afterAll(() => compiler.close());

it(
  'one owner’s bombs hold up nobody else and fill no queue; one ends by its processor time, the others when ' +
    'nobody waits for them',
  async () => {
    expect(compiler.load()).toEqual({ processes: 1, running: 0, waiting: 0 });
    const left = new AbortController();
    const places: number[] = [];
    const over: number[] = [];
    const [first, second, third] = [1, 2, 3].map((n) =>
      compiler
        .compile(bomb(n), {
          owner: 'eve',
          waits: (waiting) => places.push(waiting),
          ...(n === 1 ? {} : { signal: left.signal }),
        })
        .finally(() => over.push(n)),
    );
    const gone = Promise.allSettled([second, third]);
    expect(compiler.load()).toEqual({ processes: 2, running: 2, waiting: 1 });
    expect(places).toEqual([1]);
    await expect(compiler.compile(bomb(4), { owner: 'eve' })).rejects.toMatchObject({
      code: 'TOO_MANY',
      message: expect.stringContaining('1 of your programs are already waiting') as string,
    });

    for (const r of await Promise.all(['ada', 'bo'].map((owner, i) => compiler.compile(fine(i), { owner }))))
      expect(r).toMatchObject({ ok: true });
    // The first one kept its process, and may have used up its time by now; the second had to make room.
    expect(over).not.toContain(2);
    expect(over).not.toContain(3);
    left.abort();
    for (const r of await gone) expect(r).toMatchObject({ status: 'rejected', reason: { code: 'CANCELLED' } });
    expect(await first).toMatchObject({
      ok: false,
      code: 'COMPILE_LIMIT',
      message: 'Compiling the program takes more than 4 s of processor time.',
    });
    await expect.poll(() => compiler.load()).toMatchObject({ running: 0, waiting: 0 });
    await expect(compiler.compile(fine(3), { signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: 'CANCELLED',
    });
  },
);

it('an archive is unpacked in a process, within the same limits', async () => {
  const unpack = (archive: Uint8Array): ReturnType<Compiler['unpack']> =>
    compiler.unpack({ language: 'archive', archive });
  const json = new TextEncoder().encode(JSON.stringify({ language: 'c' }));
  expect(
    await unpack(
      zip([
        { name: 'p/mayfly.json', data: json },
        { name: 'p/a.c', data: new TextEncoder().encode('int a;') },
      ]),
    ),
  ).toEqual({ ok: true, program: { language: 'c', sources: { 'a.c': 'int a;' } } });
  expect(await unpack(zip([{ name: 'a.c', packed: zeros(70 << 20), stated: 10 }]))).toMatchObject({
    ok: false,
    code: 'BAD_ARCHIVE',
  });
  expect(await unpack(zip([{ name: 'a.c', packed: zeros(65 << 20), stated: 65 << 20 }]))).toMatchObject({
    ok: false,
    code: 'TOO_LARGE',
  });
});

it('a program that needs too much memory is ended, and the next is served', async () => {
  const small = createCompiler({ workers: 1, rssMb: 90 });
  try {
    expect(await small.compile(fine(1))).toMatchObject({
      ok: false,
      code: 'COMPILE_LIMIT',
      message: expect.stringContaining('more memory than there is for it (90 MB') as string,
    });
    expect(small.load()).toEqual({ processes: 0, running: 0, waiting: 0 });
    expect(await small.unpack({ language: 'archive', archive: new Uint8Array(10) })).toMatchObject({
      ok: false,
      code: 'BAD_ARCHIVE',
    });
  } finally {
    await small.close();
  }
});

it('what is idle ends: the second process soon, the first one later', async () => {
  const brief = createCompiler({ workers: 2, extraIdleMs: 1 });
  const small = (): ReturnType<Compiler['unpack']> =>
    brief.unpack({ language: 'archive', archive: new Uint8Array(10) });
  try {
    expect(await Promise.all([small(), small()])).toMatchObject([{ code: 'BAD_ARCHIVE' }, { code: 'BAD_ARCHIVE' }]);
    await expect.poll(() => brief.load().processes).toBe(1);
    expect(await small()).toMatchObject({ code: 'BAD_ARCHIVE' });
    expect(brief.load().processes).toBe(1);
  } finally {
    await brief.close();
  }
});
