/** What a killed server leaves on its machine, and when the next one may use it (W1–W4 of write-ahead.ts). */
import type { ChildProcess } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import type { MessageLog } from '../../src/ports/index.ts';
import { openPostgresStorage } from '../../src/postgres/index.ts';
import { temporary } from '../temporary.ts';
import { recordOf } from '../victim-data.ts';
import { bundleOf, killAfter } from './killed.ts';
import type { PostgresServer } from './server.ts';

type Storage = Awaited<ReturnType<typeof openPostgresStorage>>;

const text = (s: string): Uint8Array => new TextEncoder().encode(s);

let count = 0;

export function writeAhead(server: () => PostgresServer): void {
  describe('write-ahead files', () => {
    const after: (() => Promise<void>)[] = [];
    afterEach(async () => {
      for (const end of after.splice(0).reverse()) await end();
    });
    const folder = async (): Promise<string> => {
      const made = await temporary();
      after.push(() => made.dispose());
      return made.path;
    };
    const open = async (schema: string, dataDir: string): Promise<Storage> => {
      const storage = await openPostgresStorage({ url: server().url(), schema, dataDir, patienceMs: 60_000 });
      after.push(() => storage.close().catch(() => undefined));
      return storage;
    };

    it('are of use to the next process in the same folder, unless another server has served since', async () => {
      const [here, elsewhere] = [await folder(), await folder()];
      const bundle = await bundleOf('victim-ahead.ts', await folder());
      const schema = `ahead ${++count}`;
      const run = (end?: (child: ChildProcess) => unknown): Promise<Map<string, string>> =>
        killAfter(800, 2, bundle, [server().url(), schema, here], end);
      /** Opens both streams, and checks all of them. @returns the number of the next record of each */
      const look = async ({ log }: Storage): Promise<number[]> => {
        const next = [];
        for (const name of ['t0', 't1']) {
          const stream = await log.open(name);
          const all = [...stream.scan()];
          expect(all.map((r) => r.lsn)).toEqual(Array.from({ length: stream.next }, (_, i) => i));
          for (const r of all) expect(Buffer.compare(r.bytes, recordOf(name, r.lsn))).toBe(0);
          next.push(stream.next);
          stream.append(recordOf(name, stream.next));
          await stream.sync();
        }
        return next;
      };
      const last = (appended: Map<string, string>): number[] => ['t0', 't1'].map((name) => Number(appended.get(name)));

      let appended = last(await run());
      let storage = await open(schema, here);
      expect(storage.log.durability).toBe('kernel');
      // It may have appended one more that it did not print.
      (await look(storage)).forEach((next, k) => expect([1, 2]).toContain(next - appended[k]!));
      await storage.close();

      appended = last(await run());
      storage = await open(schema, elsewhere);
      const theirs = await look(storage);
      theirs.forEach((next, k) => expect(next).toBeLessThan(appended[k]!));
      await storage.close();
      storage = await open(schema, here);
      expect(storage.sharing.discarded).toHaveLength(1);
      expect(await look(storage)).toEqual(theirs.map((next) => next + 1));
      await storage.close();

      // It stands still, and appends to its own files when it goes on.
      let next: number[] = [];
      appended = last(
        await run(async (child) => {
          child.kill('SIGSTOP');
          storage = await open(schema, here);
          next = await look(storage);
          child.kill('SIGCONT');
          await setTimeout(200);
          child.kill('SIGKILL');
        }),
      );
      next.forEach((n, k) => expect(n).toBeLessThan(appended[k]!));
      await storage.close();
      expect(await look(await open(schema, here))).toEqual(next.map((n) => n + 1));
    });

    it('survive a database that is away, and take no room for what it has', async () => {
      const [schema, dataDir] = [`ahead ${++count}`, await folder()];
      const { log }: { log: MessageLog } = await open(schema, dataDir);
      let stream = await log.open('a');
      const files = (): number =>
        readdirSync(join(dataDir, 'ahead'), { recursive: true }).filter((f) => String(f).endsWith('.seg')).length;
      for (let i = 0; i < 40; i++) {
        for (let k = 0; k < 10; k++) stream.append(new Uint8Array(10_000).fill(i));
        await stream.sync();
      }
      expect(files()).toBeLessThan(4);
      stream.append(text('only here'));
      await server().end();
      await expect(stream.sync()).rejects.toMatchObject({ code: 'STORAGE_FAILED' });
      await stream.close().catch(() => undefined);
      await server().begin();
      stream = await log.open('a');
      expect(stream.next).toBe(401);
      expect(new TextDecoder().decode(stream.read(400))).toBe('only here');
    });
  });
}
