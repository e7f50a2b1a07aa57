/**
 * How much an append costs over a bare `fs.writeSync` of the same bytes, in the same run. Not a timed test: it prints
 * ratios. Does not measure: other load on the disk, reads, many streams at once.
 */
import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFileMessageLog } from '../src/index.ts';

export interface AppendFigure {
  bytes: number;
  /** Records per second through the log. */
  appends: number;
  /** Bare writes per second. */
  bare: number;
  /** appends / bare. */
  ratio: number;
  /** Milliseconds of one sync after 64 KiB were appended, and of a bare fdatasync. */
  syncMs: number;
  bareSyncMs: number;
}

export async function measureAppend(sizes: readonly number[] = [64, 65536], rounds = 5): Promise<AppendFigure[]> {
  const directory = await mkdtemp(join(tmpdir(), 'mayfly-append-'));
  try {
    const log = await openFileMessageLog(join(directory, 'log'));
    const out: AppendFigure[] = [];
    for (const bytes of sizes) {
      const n = Math.max(300, Math.min(50_000, Math.floor(16_000_000 / bytes)));
      const payload = new Uint8Array(bytes).fill(7);
      const per: { log: number; bare: number; sync: number; bareSync: number }[] = [];
      for (let round = 0; round < rounds; round++) {
        const stream = await log.open(`s${bytes}-${round}`);
        const seconds = timed(() => {
          for (let i = 0; i < n; i++) stream.append(payload);
        });
        await stream.sync();
        stream.append(new Uint8Array(65536));
        let t = process.hrtime.bigint();
        await stream.sync();
        const sync = Number(process.hrtime.bigint() - t) / 1e6;
        const fd = openSync(join(directory, `bare${bytes}-${round}`), 'w');
        const bare = timed(() => {
          for (let i = 0; i < n; i++) writeSync(fd, payload, 0, bytes, i * bytes);
        });
        fdatasyncSync(fd);
        writeSync(fd, new Uint8Array(65536), 0, 65536, n * bytes);
        t = process.hrtime.bigint();
        fdatasyncSync(fd);
        per.push({ log: seconds, bare, sync, bareSync: Number(process.hrtime.bigint() - t) / 1e6 });
        closeSync(fd);
        await log.remove(stream.name);
      }
      const best = (k: keyof (typeof per)[number]): number => Math.min(...per.map((p) => p[k]));
      out.push({
        bytes,
        appends: Math.round(n / best('log')),
        bare: Math.round(n / best('bare')),
        ratio: best('bare') / best('log'),
        syncMs: best('sync'),
        bareSyncMs: best('bareSync'),
      });
    }
    await log.close();
    return out;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

const timed = (work: () => void): number => {
  const t = process.hrtime.bigint();
  work();
  return Number(process.hrtime.bigint() - t) / 1e9;
};

export function printAppend(figures: readonly AppendFigure[], print: (line: string) => void = console.log): void {
  for (const f of figures)
    print(
      `append ${String(f.bytes).padStart(6)} B: ${f.appends.toLocaleString('en')}/s, ` +
        `${(f.ratio * 100).toFixed(0)} % of a bare write (${f.bare.toLocaleString('en')}/s); sync of 64 KiB ` +
        `${f.syncMs.toFixed(2)} ms, bare ${f.bareSyncMs.toFixed(2)} ms`,
    );
}
