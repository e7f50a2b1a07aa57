/** Kills real processes with SIGKILL in the middle of their work; nothing that they acknowledged may be lost. */
import { blake3 } from 'hash-wasm';
import { expect, it } from 'vitest';
import {
  Database,
  openPostgresImageStore,
  PostgresArchive,
  PostgresJobFiles,
  PostgresMessageLog,
  PostgresRegistry,
} from '../../src/postgres/index.ts';
import { temporary } from '../temporary.ts';
import { pageOf, recordOf } from '../victim-data.ts';
import { bundleOf, killAfter } from './killed.ts';
import type { PostgresServer } from './server.ts';

const SCHEMA = 'kills';

export function kills(server: () => PostgresServer): void {
  it('loses nothing that was acknowledged when the server is killed, and when PostgreSQL crashes then', async () => {
    const folder = await temporary();
    const bundle = await bundleOf('victim.ts', folder.path);
    try {
      for (const [job, crash] of [
        ['abcdefghijkl', false],
        ['mnopqrstuvwx', true],
      ] as const) {
        const acknowledged = await killAfter(120, 7, bundle, [server().url(), SCHEMA, job]);
        if (crash) await server().crash();
        const number = (word: string): number => Number(acknowledged.get(word));
        // The lock of the dead is free.
        const database = await Database.open({ url: server().url(), schema: SCHEMA, patienceMs: 60_000 });
        try {
          const log = new PostgresMessageLog(database);
          for (const name of ['t0', 't1']) {
            const stream = await log.open(name);
            expect(stream.next).toBeGreaterThan(number(name));
            const all = [...stream.scan()];
            expect(all.map((r) => r.lsn)).toEqual(Array.from({ length: stream.next }, (_, i) => i));
            for (const r of all) expect(Buffer.compare(r.bytes, recordOf(name, r.lsn))).toBe(0);
          }
          const registry = new PostgresRegistry(database);
          const entries = await registry.entries('n/');
          expect(entries.length).toBeGreaterThan(number('commit'));
          // A commit writes two keys: both or none.
          expect(await registry.get('last')).toBe(entries.length - 1);
          const images = await openPostgresImageStore(database);
          for (let n = 0; n <= number('page'); n++) {
            const raw = pageOf(n);
            expect(Buffer.compare((await images.getPage(await blake3(raw)))!, raw)).toBe(0);
          }
          const files = new PostgresJobFiles(database);
          expect(Buffer.from((await files.read(job, 'program.js'))!).toString()).toBe(job);
          const stdin = await files.stdin(job);
          expect(stdin.messages).toBeGreaterThan(number('stdin'));
          for (let n = 0; n < stdin.messages; n++) expect(stdin.message(n + 1)).toEqual(Uint8Array.from([n]));
          const run = await (await PostgresArchive.open(database)).get(job, 'run');
          expect(Number(Buffer.from(run!).toString())).toBeGreaterThanOrEqual(number('run'));
        } finally {
          await database.close();
        }
      }
    } finally {
      await folder.dispose();
    }
  });
}
