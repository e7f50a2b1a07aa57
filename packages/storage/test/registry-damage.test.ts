/**
 * Damage to the registry's files, one at a time and together: what stands twice is recovered without loss, all else is
 * an error that names the file.
 */
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openFileRegistry } from '../src/index.ts';
import { temporary } from './temporary.ts';

type Records = [string, unknown][];
const LOG_BYTES = 3000;

let sound: { path: string; dispose(): Promise<void> };
let expected: Records;
/** Commits of one key each and of many, deletions, several generations, and a log that is still short. */
async function fill(path: string, commits: number): Promise<Records> {
  const registry = await openFileRegistry(path, { logBytes: LOG_BYTES });
  for (let n = 0; n < commits; n++) {
    await registry.commit([
      [`job/${n % 40}`, { n, text: 'x'.repeat((n * 37) % 300), umlaut: 'ä😀' }],
      ['last', n],
      [`gone/${n}`, { n }],
      [`gone/${n - 3}`, undefined],
    ]);
    // Snapshots are written beside the commits.
    // eslint-disable-next-line no-restricted-syntax
    if (n % 10 === 9) await new Promise((go) => setTimeout(go, 2));
  }
  const all = await registry.entries('');
  await registry.close();
  return all;
}

beforeAll(async () => {
  sound = await temporary();
  expected = await fill(sound.path, 120);
});
afterAll(() => sound.dispose());

const filesOf = (path: string): string[] =>
  readdirSync(path)
    .filter((f) => /\.(log|twin|snap)$/.test(f))
    .sort();

const WAYS: Record<string, (path: string) => void> = {
  'cut to nothing': (p) => truncateSync(p, 0),
  'cut in the middle': (p) => truncateSync(p, statSync(p).size >> 1),
  'without its last byte': (p) => truncateSync(p, Math.max(0, statSync(p).size - 1)),
  removed: (p) => rmSync(p),
  garbage: (p) => writeFileSync(p, Buffer.alloc(statSync(p).size, 'garbage ')),
  'without its first page': (p) =>
    writeFileSync(p, Buffer.from(readFileSync(p).map((byte, i) => (i < 4096 ? 0 : byte)))),
  'a folder': (p) => {
    rmSync(p);
    mkdirSync(p);
  },
  ...Object.fromEntries(
    [9, 30, 36, 47, 60, 1003].map((at) => [
      `with a bit flipped at ${at}`,
      (p: string) => {
        const b = readFileSync(p);
        if (b.length > 0) b[at % b.length]! ^= 1 << (at % 8);
        writeFileSync(p, b);
      },
    ]),
  ),
};

async function stateOf(path: string): Promise<Records> {
  const registry = await openFileRegistry(path, { logBytes: LOG_BYTES });
  try {
    return await registry.entries('');
  } finally {
    await registry.close();
  }
}

describe('a damaged file of the registry', () => {
  it('there are three snapshots and the logs since the oldest, each twice', () => {
    const files = filesOf(sound.path);
    expect(files.filter((f) => f.endsWith('.snap'))).toHaveLength(3);
    expect(files.filter((f) => f.endsWith('.log')).map((f) => f.replace('.log', '.twin'))).toEqual(
      files.filter((f) => f.endsWith('.twin')),
    );
  });

  it.each(Object.keys(WAYS))(
    '%s: each file in turn; nothing is lost, it is named, and what stands twice is mended',
    async (way) => {
      for (const file of filesOf(sound.path)) {
        const dir = await temporary();
        try {
          cpSync(sound.path, dir.path, { recursive: true });
          WAYS[way]!(join(dir.path, file));
          const changed =
            !existsSync(join(dir.path, file)) ||
            statSync(join(dir.path, file)).isDirectory() ||
            !readFileSync(join(sound.path, file)).equals(readFileSync(join(dir.path, file)));
          const registry = await openFileRegistry(dir.path, { logBytes: LOG_BYTES });
          expect(await registry.entries(''), file).toEqual(expected);
          // A snapshot that is not there is not missed: the ones before it and the logs have all. A last record that is
          // torn is what a crash leaves.
          const quiet =
            !changed ||
            (way === 'removed' && file.endsWith('.snap')) ||
            (way === 'without its last byte' && file.startsWith(filesOf(sound.path).at(-1)!.slice(0, 14)));
          if (!quiet)
            expect(
              registry.mended.map((p) => p.file),
              file,
            ).toContain(file);
          // It goes on, and is whole again.
          await registry.commit([['more', file]]);
          await registry.close();
          expect(await stateOf(dir.path)).toEqual([...expected, ['more', file]].sort(([a], [b]) => (a! < b! ? -1 : 1)));
        } finally {
          await dir.dispose();
        }
      }
    },
  );

  it('a log and its twin: an error that names the file and the commits, and never a part of the state', async () => {
    const files = filesOf(sound.path);
    const newest = files
      .filter((f) => f.endsWith('.snap'))
      .at(-1)!
      .slice(0, 14);
    const log = files.find((f) => f.startsWith(newest) && f.endsWith('.log'))!;
    for (const way of [
      'cut to nothing',
      'garbage',
      'removed',
      'with a bit flipped at 36',
      'with a bit flipped at 60',
    ]) {
      const dir = await temporary();
      try {
        cpSync(sound.path, dir.path, { recursive: true });
        for (const file of [log, log.replace('.log', '.twin')]) WAYS[way]!(join(dir.path, file));
        const opened = await stateOf(dir.path).then(
          () => 'opened',
          (e: Error & { code: string }) => `${e.code} ${e.message}`,
        );
        // Where nothing follows the damage, what stood there cannot be told from a commit that was never acknowledged,
        // unless the whole file is missing.
        const last = files.at(-1)!.startsWith(newest);
        if (!last || way === 'removed' || way.startsWith('with a bit'))
          expect(opened, way).toMatch(/^DAMAGED_DATA .*registry\/.*(lost|missing)/);
      } finally {
        await dir.dispose();
      }
    }
  });

  it('all snapshots but the oldest', async () => {
    const dir = await temporary();
    try {
      cpSync(sound.path, dir.path, { recursive: true });
      for (const file of filesOf(dir.path)
        .filter((f) => f.endsWith('.snap'))
        .slice(1))
        writeFileSync(join(dir.path, file), 'garbage');
      expect(await stateOf(dir.path)).toEqual(expected);
    } finally {
      await dir.dispose();
    }
  });

  it.each([1, 3])('a file of version %i is left alone', async (version) => {
    const dir = await temporary();
    try {
      cpSync(sound.path, dir.path, { recursive: true });
      const { encodeRegistryHead } = await import('../src/embedded/registry-format.ts');
      const { crc32 } = await import('node:zlib');
      const head = Buffer.from(encodeRegistryHead(0, 1));
      head.writeUInt32LE(version, 4);
      head.writeUInt32LE(crc32(head.subarray(0, 28)), 28);
      writeFileSync(join(dir.path, '0fffffffffffff-00000001.log'), head);
      await expect(openFileRegistry(dir.path)).rejects.toMatchObject({ code: 'VERSION_MISMATCH' });
    } finally {
      await dir.dispose();
    }
  });
});

describe('power loss', () => {
  it('keeps every commit that was acknowledged, and each of the others whole or not at all', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat(), { minLength: 80, maxLength: 80 }),
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 1, max: 4 }),
        async (draws, acknowledged, pending) => {
          const [live, after] = [await temporary(), await temporary()];
          let drawn = 0;
          const choose = (n: number): number => draws[drawn++ % draws.length]! % n;
          try {
            const registry = await openFileRegistry(live.path, { logBytes: 500 });
            const one = (n: number): Promise<void> =>
              registry.commit([
                [`k/${n}`, 'v'.repeat((n * 61) % 900)],
                ['last', n],
              ]);
            for (let n = 0; n < acknowledged; n++) await one(n);
            // The disk goes on meanwhile: a snapshot that is being written gets its name, an old file goes.
            const sizes = (): Map<string, number> =>
              new Map(
                readdirSync(live.path).flatMap((f) => {
                  const size = statSync(join(live.path, f), { throwIfNoEntry: false })?.size;
                  return f.endsWith('.new') || size === undefined ? [] : [[f, size] as const];
                }),
              );
            const synced = sizes();
            const rest = Array.from({ length: pending }, (_, i) => one(acknowledged + i));
            // Until what is pending was written, and not synced.
            for (let turn = 0; turn < 50 && [...sizes()].every(([f, size]) => synced.get(f) === size); turn++)
              await Promise.resolve();
            for (const f of sizes().keys())
              try {
                copyFileSync(join(live.path, f), join(after.path, f));
              } catch (error) {
                if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
              }
            for (const f of readdirSync(after.path)) {
              const path = join(after.path, f);
              const safe = synced.get(f) ?? 0;
              const { size } = statSync(path);
              // A snapshot gets its name after its sync.
              if (size <= safe || f.endsWith('.snap') || f === 'reserve') continue;
              const what = choose(3);
              if (what === 0) truncateSync(path, safe + choose(size - safe + 1));
              if (what === 1) {
                const b = readFileSync(path);
                for (let page = safe; page < size; page += 512 - (page % 512))
                  if (choose(2) === 0) b.fill(0, page, Math.min(size, page + 512 - (page % 512)));
                writeFileSync(path, b);
              }
            }
            await Promise.all(rest);
            await registry.close();
            const state = new Map(await stateOf(after.path));
            const last = state.get('last') as number;
            expect(last).toBeGreaterThanOrEqual(acknowledged - 1);
            expect(last).toBeLessThan(acknowledged + pending);
            expect([...state.keys()].filter((k) => k !== 'last')).toHaveLength(last + 1);
          } finally {
            await live.dispose();
            await after.dispose();
          }
        },
      ),
      { numRuns: 25 },
    );
  });
});
