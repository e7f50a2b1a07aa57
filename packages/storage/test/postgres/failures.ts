/** What the adapters do when the database refuses, vanishes, comes back, or belongs to another server. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Database, PostgresRegistry, type OwnedDatabase } from '../../src/postgres/index.ts';
import { breakStatements, type BrokenStatement } from './broken-statement.ts';
import type { PostgresServer } from './server.ts';

let count = 0;

export function databaseFailures(server: () => PostgresServer): void {
  describe('a database', () => {
    let schema: string;
    const opened: OwnedDatabase[] = [];
    const open = async (url = server().url(), patienceMs = 0): Promise<OwnedDatabase> => {
      const database = await Database.open({ url, schema, patienceMs });
      opened.push(database);
      return database;
    };
    const asAdmin: PostgresServer['asAdmin'] = (...of) => server().asAdmin(...of);
    beforeEach(() => void (schema = `failures ${++count}`));
    afterEach(async () => {
      for (const d of opened.splice(0)) await d.close();
    });

    it('that cannot be used is named, without its password', async () => {
      await asAdmin("CREATE ROLE stranger LOGIN PASSWORD 'another one'");
      for (const [url, code, words] of [
        ['postgres://mayfly:secret@127.0.0.1:1/x', 'STORAGE_FAILED', '127.0.0.1:1/x: nothing listens there'],
        ['postgres://mayfly:secret@%2Fnowhere/x', 'STORAGE_FAILED', '/nowhere:5432/x: its socket is missing'],
        [server().url({ user: 'stranger:secret' }), 'STORAGE_FAILED', 'it refuses the user or the password'],
        [server().url({ database: 'absent' }), 'STORAGE_FAILED', 'it has no database of this name'],
        ['mysql://mayfly:secret@127.0.0.1/x', 'BAD_REQUEST', 'begins with postgres://'],
      ] as const) {
        const error = await open(url).catch((e: Error) => e);
        expect(error).toMatchObject({ code, message: expect.stringContaining(words) });
        expect((error as Error).message).not.toContain('secret');
      }
    });

    it('with tables of a newer version is left as it is', async () => {
      await (await open()).close();
      await asAdmin(`UPDATE "${schema}".version SET version = 1000`);
      const before = await asAdmin(`SELECT * FROM "${schema}".owner`);
      await expect(open()).rejects.toMatchObject({
        code: 'VERSION_MISMATCH',
        message: expect.stringContaining('1000'),
      });
      expect(await asAdmin(`SELECT * FROM "${schema}".owner`)).toEqual(before);
    });

    it('belongs to one server at a time', async () => {
      const first = await open();
      await expect(open()).rejects.toMatchObject({
        code: 'CONFLICT',
        message: expect.stringContaining(`process ${process.pid} on`),
      });
      await first.close();
      await open();
    });

    it('takes nothing from a server that lost it to another one', async () => {
      const proxy = await breakStatements(server().socket, 'COMMIT\0');
      try {
        const lost = await open(server().url({ folder: proxy.folder }));
        const late = new PostgresRegistry(lost);
        await late.commit([['a', 'first']]);
        proxy.cut(true);
        const next = await open(server().url(), 20_000);
        const registry = new PostgresRegistry(next);
        await registry.commit([['b', 1]]);
        proxy.cut(false);
        await expect(late.commit([['a', 'while it runs']])).rejects.toMatchObject({ code: 'CONFLICT' });
        expect(lost.ownership.lost.aborted).toBe(true);
        await next.close();
        // The lease is free again, its epoch has passed.
        await expect(late.commit([['a', 'after it']])).rejects.toMatchObject({
          code: 'CONFLICT',
          message: expect.stringContaining('has taken the database'),
        });
        expect(await new PostgresRegistry(await open()).entries('')).toEqual([
          ['a', 'first'],
          ['b', 1],
        ]);
      } finally {
        for (const d of opened.splice(0)) await d.close();
        await proxy.close();
      }
    });

    it('stays with a server whose connections break, and names it to one that stands by', async () => {
      const first = await open();
      const stop = new AbortController();
      const owners = new Set<string>();
      const standBy = { signal: stop.signal, owner: (o: { who: string; address: string }) => owners.add(o.address) };
      const waiting = Database.open({ url: server().url(), schema, standBy, address: 'b:2' });
      waiting.catch(() => undefined);
      const until = async (condition: () => Promise<boolean> | boolean): Promise<void> => {
        while (!(await condition())) await new Promise((r) => setTimeout(r, 50));
      };
      await until(() => owners.size > 0);
      const registry = new PostgresRegistry(first);
      for (let i = 0; i < 8; i++) {
        await server().breakConnections();
        await until(() =>
          registry.commit([['n', i]]).then(
            () => true,
            () => false,
          ),
        );
        const peers = (): Promise<number> => first.ownership.peers((...of) => first.query(...of)).then((p) => p.length);
        await until(() =>
          peers()
            .then((n) => n === 2)
            .catch(() => false),
        );
      }
      expect(first.ownership.lost.aborted).toBe(false);
      expect(await first.ownership.peers((...of) => first.query(...of))).toMatchObject([
        { owns: true, address: '' },
        { owns: false, address: 'b:2' },
      ]);
      stop.abort();
      await expect(waiting).rejects.toThrow('abort');
      // At once, or when nothing was heard of it for a while: its own session may just have been broken.
      await until(async () => (await first.ownership.peers((...of) => first.query(...of))).length === 1);
    });

    it('goes to the server that stands by: at once when it is given up, and when the owner stops in the middle', async () => {
      const proxy = await breakStatements(server().socket, 'COMMIT\0');
      const stop = new AbortController();
      const standBy = { signal: stop.signal, owner: () => undefined };
      try {
        const first = await open();
        const second = Database.open({ url: server().url({ folder: proxy.folder }), schema, standBy, leaseMs: 1500 });
        await first.close();
        const owner = await second;
        opened.push(owner);
        // Its process stands still, in the middle of a transaction, and its connections stay.
        let stuck: (() => void) | undefined;
        const held = owner.write(async (query) => {
          await query(`UPDATE "${schema}".registry_head SET revision = 99`);
          await new Promise<void>((go) => (stuck = go));
        });
        held.catch(() => undefined);
        while (!stuck) await new Promise((r) => setTimeout(r, 20));
        proxy.hold();
        const third = await Database.open({ url: server().url(), schema, standBy });
        opened.push(third);
        proxy.cut(true);
        proxy.cut(false);
        stuck();
        await expect(held).rejects.toThrow();
        expect(await asAdmin(`SELECT revision FROM "${schema}".registry_head`)).toEqual([{ revision: '0' }]);
      } finally {
        stop.abort();
        for (const d of opened.splice(0)) await d.close();
        await proxy.close();
      }
    });

    it('that stops and starts again keeps what was confirmed, and nothing that was refused', async () => {
      const registry = new PostgresRegistry(await open());
      const confirmed: string[] = [];
      for (let i = 0; i < 30; i++) {
        if (i === 10) await server().end();
        if (i === 20) await server().begin();
        await registry.commit([[`k${i}`, i]]).then(
          () => confirmed.push(`k${i}`),
          (error: { code: string }) => expect(error.code).toBe('STORAGE_FAILED'),
        );
      }
      expect(confirmed).toHaveLength(20);
      expect((await registry.entries('')).map(([key]) => key).sort()).toEqual(confirmed.sort());
    });

    it('damages a record: it is noticed', async () => {
      const registry = new PostgresRegistry(await open());
      await registry.commit([['a', { n: 1 }]]);
      await asAdmin(`UPDATE "${schema}".registry SET value = '{"n":2}'`);
      const damaged = { code: 'DAMAGED_DATA', message: expect.stringContaining('record a') };
      await expect(registry.get('a')).rejects.toMatchObject(damaged);
      await expect(registry.entries('')).rejects.toMatchObject(damaged);
      await expect(registry.commit([['b', 1]], { expect: [['a', { n: 2 }]] })).rejects.toMatchObject(damaged);
      expect(await asAdmin(`SELECT key FROM "${schema}".registry`)).toEqual([{ key: 'a' }]);
    });

    describe('whose connection breaks during COMMIT', () => {
      let proxy: BrokenStatement;
      let registry: PostgresRegistry;
      beforeEach(async () => {
        proxy = await breakStatements(server().socket, 'COMMIT\0');
        registry = new PostgresRegistry(await open(server().url({ folder: proxy.folder })));
        await registry.commit([['n', 0]]);
      });
      afterEach(async () => {
        for (const d of opened.splice(0)) await d.close();
        await proxy.close();
      });

      it('is asked whether it took effect: it did', async () => {
        const watch = registry.watch('')[Symbol.asyncIterator]();
        proxy.next = 'answer lost';
        await registry.commit([['n', 1]], { expect: [['n', 0]] });
        expect(proxy.next).toBeUndefined();
        expect(await registry.get('n')).toBe(1);
        expect((await watch.next()).value).toEqual([['n', 1]]);
      });

      it('is asked whether it took effect: it did not', async () => {
        proxy.next = 'never sent';
        await expect(registry.commit([['n', 1]], { expect: [['n', 0]] })).rejects.toMatchObject({
          code: 'STORAGE_FAILED',
        });
        expect(proxy.next).toBeUndefined();
        expect(await registry.get('n')).toBe(0);
        await registry.commit([['n', 1]], { expect: [['n', 0]] });
      });
    });
  });
}
