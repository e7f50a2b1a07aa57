/** What the message log does when the database has lost or damaged something, or breaks its connection. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Database, PostgresMessageLog, joinPostgresLog, type OwnedDatabase } from '../../src/postgres/index.ts';
import { breakStatements, type BrokenStatement } from './broken-statement.ts';
import type { PostgresServer } from './server.ts';

let count = 0;
const text = (s: string): Uint8Array => new TextEncoder().encode(s);

export function logFailures(server: () => PostgresServer): void {
  describe('a message log', () => {
    let schema: string;
    const opened: OwnedDatabase[] = [];
    const open = async (url = server().url()): Promise<PostgresMessageLog> => {
      const database = await Database.open({ url, schema });
      opened.push(database);
      return new PostgresMessageLog(database);
    };
    beforeEach(() => void (schema = `log failures ${++count}`));
    afterEach(async () => {
      for (const d of opened.splice(0)) await d.close();
    });

    it('whose row is damaged or missing ends with DAMAGED_LOG', async () => {
      const log = await open();
      for (const name of ['changed', 'lost', 'whole']) {
        const s = await log.open(name);
        for (let i = 0; i < 3; i++) {
          s.append(text(`record ${i} of ${name}`));
          await s.sync();
        }
        await s.close();
      }
      const row = `log_batch b USING "${schema}".log_stream s WHERE s.id = b.stream AND first = 1 AND s.name`;
      await server().asAdmin(`DELETE FROM "${schema}".${row} = 'lost'`);
      await server().asAdmin(
        `UPDATE "${schema}".log_batch b SET bytes = set_byte(bytes, 12, get_byte(bytes, 12) # 1)
         FROM "${schema}".log_stream s WHERE s.id = b.stream AND first = 1 AND s.name = 'changed'`,
      );
      for (const [name, words] of [
        ['changed', 'record 1 is damaged'],
        ['lost', 'records 1 to 1 are missing'],
      ])
        await expect(log.open(name!)).rejects.toMatchObject({
          code: 'DAMAGED_LOG',
          message: expect.stringContaining(words!),
        });
      expect((await log.open('whole')).next).toBe(3);
      // Its last row is gone: the process knows how far it had got.
      await (await log.open('whole')).close();
      await server().asAdmin(`DELETE FROM "${schema}".log_batch WHERE first = 2`);
      await expect(log.open('whole')).rejects.toMatchObject({ code: 'DAMAGED_LOG' });
    });

    it('of another process of the storage loses a stream that the owner opens, and all when another one owns', async () => {
      const log = await open();
      const owner = opened[0]!;
      const { application, epoch } = owner.ownership;
      const joined = joinPostgresLog({ url: server().url(), schema }, { application, epoch });
      try {
        const [theirs, other] = [await joined.open('a'), await joined.open('b')];
        theirs.append(text('stored'));
        await theirs.sync();
        theirs.append(text('too late'));
        // The owner takes it without a word.
        const ours = await log.open('a');
        expect([...ours.scan()].map((r) => Buffer.from(r.bytes).toString())).toEqual(['stored']);
        await expect(theirs.sync()).rejects.toMatchObject({ code: 'CONFLICT' });
        ours.append(text('instead'));
        await ours.sync();
        // Others go on.
        other.append(text('stored, too'));
        await other.sync();

        other.append(text('after the lease'));
        await owner.close();
        const next = await open();
        await expect(other.sync()).rejects.toMatchObject({ code: 'CONFLICT' });
        const kept = await Promise.all(['a', 'b'].map(async (name) => [...(await next.open(name)).scan()].length));
        expect(kept).toEqual([2, 1]);
      } finally {
        await joined.close().catch(() => undefined);
      }
    });

    it('stores many streams with one statement', async () => {
      const log = await open();
      const streams = await Promise.all(Array.from({ length: 20 }, (_, i) => log.open(`s${i}`)));
      for (const s of streams) for (let i = 0; i < 10; i++) s.append(text(`${s.name} ${i}`));
      await Promise.all(streams.map((s) => s.sync()));
      const rows = await server().asAdmin(`SELECT count, xmin::text AS transaction FROM "${schema}".log_batch`);
      expect(rows.map((r) => r.count)).toEqual(streams.map(() => 10));
      // The first to ask does not wait for the others.
      expect(new Set(rows.map((r) => r.transaction)).size).toBeLessThanOrEqual(2);
    });

    describe('whose connection breaks during a flush', () => {
      let proxy: BrokenStatement;
      let log: PostgresMessageLog;
      beforeEach(async () => {
        proxy = await breakStatements(server().socket, 'log_batch 1');
        log = await open(server().url({ folder: proxy.folder }));
      });
      afterEach(async () => {
        for (const d of opened.splice(0)) await d.close();
        await proxy.close();
      });

      for (const [how, records] of [
        ['answer lost', ['before', 'in doubt']],
        ['never sent', ['before']],
        ['late', ['before']],
      ] as const)
        it(`takes nothing more until it is opened again, and then knows: ${how}`, async () => {
          const s = await log.open('a');
          s.append(text('before'));
          await s.sync();
          proxy.next = how;
          s.append(text('in doubt'));
          await expect(s.sync()).rejects.toMatchObject({ code: 'STORAGE_FAILED' });
          expect(() => s.append(text('refused'))).toThrow(expect.objectContaining({ code: 'STORAGE_FAILED' }));
          await expect(s.sync()).rejects.toMatchObject({ code: 'STORAGE_FAILED' });
          await s.close();
          let again = await log.open('a');
          expect(again.next).toBe(records.length);
          // What comes late finds another opening, and changes nothing.
          await proxy.deliver?.();
          again.append(text('after'));
          await again.sync();
          await again.close();
          again = await log.open('a');
          expect([...again.scan()].map((r) => new TextDecoder().decode(r.bytes))).toEqual([...records, 'after']);
        });
    });
  });
}
