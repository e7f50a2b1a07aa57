/** The contract of Registry (ports/). */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LONGEST_LEASE_MS, type Lease, type Registry } from '../ports/index.ts';
import type { Subject } from './subject.ts';

export interface RegistrySubject extends Subject<Registry> {
  /** Lets so much time pass for leases, ms. */
  pass(ms: number): void | Promise<void>;
}

export function registrySuite(name: string, make: () => Promise<RegistrySubject>): void {
  describe(`Registry: ${name}`, () => {
    let subject: RegistrySubject;
    let registry: Registry;
    beforeEach(async () => {
      subject = await make();
      registry = await subject.open();
    });
    afterEach(async () => {
      await registry.close();
      await subject.dispose();
    });

    it('gets what was committed, and undefined for the rest', async () => {
      expect(await registry.get('a')).toBeUndefined();
      const value = {
        id: 'x',
        n: 2 ** 52 + 1,
        f: 0.1,
        neg: -3,
        list: [1, 'two', null, { three: true }],
        text: 'ä€😀',
        empty: '',
      };
      await registry.commit([
        ['a', value],
        ['b', 0],
        ['c', false],
        ['d', ''],
        ['e', null],
      ]);
      expect(await registry.get('a')).toEqual(value);
      expect(await registry.get('b')).toBe(0);
      expect(await registry.get('c')).toBe(false);
      expect(await registry.get('d')).toBe('');
      expect(await registry.get('e')).toBeNull();
    });

    it("gives away values that are the caller's own", async () => {
      await registry.commit([['a', { n: 1 }]]);
      ((await registry.get('a')) as { n: number }).n = 2;
      expect(await registry.get('a')).toEqual({ n: 1 });
    });

    it('lists by prefix in key order', async () => {
      await registry.commit(
        ['job/2', 'job/10', 'job/1', 'jo', 'job', 'joc', 'jp', 'job0', 'node/1'].map((k) => [k, k] as const),
      );
      expect((await registry.entries('job/')).map(([k]) => k)).toEqual(['job/1', 'job/10', 'job/2']);
      expect((await registry.entries('')).map(([k]) => k)).toEqual([
        'jo',
        'job',
        'job/1',
        'job/10',
        'job/2',
        'job0',
        'joc',
        'jp',
        'node/1',
      ]);
      expect(await registry.entries('x')).toEqual([]);
      expect(await registry.entries('node/')).toEqual([['node/1', 'node/1']]);
    });

    it('deletes by undefined; the last change of a key in a commit wins', async () => {
      await registry.commit([
        ['a', 1],
        ['b', 1],
      ]);
      await registry.commit([
        ['a', undefined],
        ['b', 2],
        ['b', 3],
        ['never', undefined],
      ]);
      expect(await registry.entries('')).toEqual([['b', 3]]);
    });

    it('commits all or nothing', async () => {
      await registry.commit([['a', 1]]);
      await expect(
        registry.commit([
          ['a', 2],
          ['b', 2],
          ['', 'no key'],
        ]),
      ).rejects.toThrow();
      await expect(
        registry.commit([
          ['a', 3],
          ['c', { toJSON: undefined, f: Symbol('not data') }],
          ['k'.repeat(5000), 1],
        ]),
      ).rejects.toThrow();
      expect(await registry.entries('')).toEqual([['a', 1]]);
    });

    it('orders commits that run at the same time', async () => {
      await Promise.all(
        Array.from({ length: 50 }, (_, i) =>
          registry.commit([
            ['n', i],
            [`k${i}`, i],
          ]),
        ),
      );
      expect(await registry.get('n')).toBe(49);
      expect(await registry.entries('k')).toHaveLength(50);
    });

    it('commits what is expected to hold, and changes nothing else', async () => {
      await registry.commit([['a', { n: 1, list: [{ x: 1, y: 2 }] }]], { expect: [['a', undefined]] });
      // The order of keys does not count.
      await registry.commit([['b', 1]], {
        expect: [
          ['a', { list: [{ y: 2, x: 1 }], n: 1 }],
          ['c', undefined],
        ],
      });
      for (const [key, value] of [
        ['a', undefined],
        ['a', { n: 1 }],
        ['a', { n: 1, list: [{ x: 1, y: 2, z: undefined }, 3] }],
        ['b', null],
        ['c', 1],
      ] as const)
        await expect(
          registry.commit(
            [
              ['a', 'changed'],
              ['b', undefined],
              ['d', 1],
            ],
            {
              expect: [
                ['b', 1],
                [key, value],
              ],
            },
          ),
        ).rejects.toMatchObject({ code: 'CONFLICT', message: expect.stringContaining(` ${key} `), detail: { key } });
      expect(await registry.entries('')).toEqual([
        ['a', { n: 1, list: [{ x: 1, y: 2 }] }],
        ['b', 1],
      ]);
    });

    it('judges expectations alone, and refuses those that are no data', async () => {
      await registry.commit([['a', 1]]);
      await registry.commit([], { expect: [['a', 1]] });
      await expect(registry.commit([], { expect: [['a', 2]] })).rejects.toMatchObject({ code: 'CONFLICT' });
      await expect(registry.commit([['a', 2]], { expect: [['', 1]] })).rejects.toMatchObject({ code: 'BAD_REQUEST' });
      expect(await registry.get('a')).toBe(1);
    });

    it('judges expectations in the order of the calls, also of commits that run at the same time', async () => {
      const outcomes = await Promise.allSettled([
        registry.commit([['n', 0]]),
        registry.commit([['n', 1]], { expect: [['n', 0]] }),
        registry.commit([['n', 'late']], { expect: [['n', 0]] }),
        registry.commit([['n', undefined]], { expect: [['n', 1]] }),
        registry.commit([['n', 3]], { expect: [['n', 1]] }),
        registry.commit([['n', 4]], { expect: [['n', undefined]] }),
      ]);
      expect(outcomes.map((o) => o.status)).toEqual([
        'fulfilled',
        'fulfilled',
        'rejected',
        'fulfilled',
        'rejected',
        'fulfilled',
      ]);
      expect(await registry.get('n')).toBe(4);
      // Of many who count up together, each adds one: those who lost try again.
      const count = async (): Promise<void> => {
        for (;;) {
          const n = (await registry.get('sum')) as number | undefined;
          try {
            return await registry.commit([['sum', (n ?? 0) + 1]], { expect: [['sum', n]] });
          } catch (error) {
            if ((error as { code?: string }).code !== 'CONFLICT') throw error;
          }
        }
      };
      await Promise.all(Array.from({ length: 20 }, count));
      expect(await registry.get('sum')).toBe(20);
    });

    describe('leases', () => {
      const held = (name: string, ms = 1000): Promise<unknown> =>
        registry.lease(name, ms).then(
          (lease) => lease.epoch,
          (error: { code: string }) => error.code,
        );

      it('have one holder at a time, and an epoch that rises with each', async () => {
        const first = await registry.lease('job/1', 1000);
        expect(first).toMatchObject({ name: 'job/1', epoch: 1 });
        expect(first.lost.aborted).toBe(false);
        expect(await held('job/1')).toBe('CONFLICT');
        expect(await held('job/2')).toBe(1);
        await first.close();
        expect(first.lost.aborted).toBe(true);
        await expect(first.renew()).rejects.toMatchObject({ code: 'CONFLICT' });
        expect(await held('job/1')).toBe(2);
        expect(await held('job/1')).toBe('CONFLICT');
        // What is closed twice takes nothing from the next holder.
        await first.close();
        expect(await held('job/1')).toBe('CONFLICT');
      });

      it('go to one of those who ask at the same time', async () => {
        const answers = await Promise.all(Array.from({ length: 10 }, () => held('a')));
        expect(answers.filter((a) => a === 1)).toHaveLength(1);
        expect(answers.filter((a) => a === 'CONFLICT')).toHaveLength(9);
      });

      it('end when their time has passed, unless they were renewed', async () => {
        const lease = await registry.lease('a', 1000);
        await subject.pass(700);
        await lease.renew();
        await subject.pass(700);
        expect(lease.lost.aborted).toBe(false);
        expect(await held('a')).toBe('CONFLICT');
        await subject.pass(400);
        expect(lease.lost.aborted).toBe(true);
        await expect(lease.renew()).rejects.toMatchObject({ code: 'CONFLICT' });
        expect(await held('a')).toBe(2);
      });

      it('fence the commits of a holder who lost one', async () => {
        const first = await registry.lease('a', 1000);
        await registry.commit([['job', 'of the first']], { expect: [first.fence] });
        await subject.pass(1500);
        const second = await registry.lease('a', 1000);
        await expect(registry.commit([['job', 'too late']], { expect: [first.fence] })).rejects.toMatchObject({
          code: 'CONFLICT',
        });
        await registry.commit([['more', 1]], { expect: [second.fence, ['job', 'of the first']] });
        expect(await registry.get('job')).toBe('of the first');
      });

      it('are free some time after a restart, and never repeat an epoch', async () => {
        const before: Lease = await registry.lease('a', 1000);
        await registry.close();
        expect(before.lost.aborted).toBe(true);
        registry = await subject.open();
        await subject.pass(1500);
        const after = await registry.lease('a', 1000);
        expect(after.epoch).toBeGreaterThan(before.epoch);
        await expect(registry.commit([['x', 1]], { expect: [before.fence] })).rejects.toMatchObject({
          code: 'CONFLICT',
        });
      });

      it('refuse a name or a time that makes no sense', async () => {
        for (const ms of [0, -1, Number.NaN, Infinity, LONGEST_LEASE_MS + 1])
          expect(await held('a', ms)).toBe('BAD_REQUEST');
        expect(await held('')).toBe('BAD_REQUEST');
        expect(await held('a', LONGEST_LEASE_MS)).toBe(1);
      });
    });

    describe('watches', () => {
      it('give each commit to a reader that keeps up, in order', async () => {
        await registry.commit([['job/old', 0]]);
        const watch = registry.watch('job/')[Symbol.asyncIterator]();
        let item = watch.next();
        await registry.commit([
          ['job/1', { n: 1 }],
          ['other', 1],
          ['job/2', 2],
        ]);
        expect((await item).value).toEqual([
          ['job/1', { n: 1 }],
          ['job/2', 2],
        ]);
        item = watch.next();
        await registry.commit([['other', 2]]);
        await registry.commit([
          ['job/old', undefined],
          ['job/1', { n: 2 }],
        ]);
        expect((await item).value).toEqual([
          ['job/old', undefined],
          ['job/1', { n: 2 }],
        ]);
        // A commit that was refused changes nothing.
        item = watch.next();
        await registry.commit([['job/2', 'refused']], { expect: [['job/2', 3]] }).catch(() => undefined);
        await registry.commit([['job/3', 3]]);
        expect((await item).value).toEqual([['job/3', 3]]);
      });

      it('join the commits that a slow reader missed: each key once, with what is there', async () => {
        await registry.commit([
          ['a', 0],
          ['gone', 0],
        ]);
        const watch = registry.watch('');
        for (let i = 1; i <= 50; i++) {
          await registry.commit([
            ['a', i],
            [`passing/${i}`, i],
            ['b', i],
          ]);
          await registry.commit([[`passing/${i}`, undefined]]);
        }
        await registry.commit([
          ['gone', undefined],
          ['a', 'last'],
        ]);
        const reader = watch[Symbol.asyncIterator]();
        expect((await reader.next()).value).toEqual([
          ['b', 50],
          ['gone', undefined],
          ['a', 'last'],
        ]);
        await registry.commit([['b', undefined]]);
        expect((await reader.next()).value).toEqual([['b', undefined]]);
      });

      it('never show half of a commit', async () => {
        const watch = registry.watch('');
        const seen = (async () => {
          const state = new Map<string, unknown>();
          for await (const item of watch) {
            for (const [key, value] of item) state.set(key, value);
            expect(state.get('left')).toBe(state.get('right'));
            if (state.get('left') === 40) return;
          }
          throw new Error('the watch has ended');
        })();
        await Promise.all(
          Array.from({ length: 41 }, (_, n) =>
            registry.commit([
              ['left', n],
              ['right', n],
            ]),
          ),
        );
        await seen;
      });

      it('end by close, and with the registry', async () => {
        const closed = registry.watch('');
        const waiting = closed[Symbol.asyncIterator]().next();
        closed.close();
        expect(await waiting).toMatchObject({ done: true });
        await registry.commit([['a', 1]]);
        expect(await closed[Symbol.asyncIterator]().next()).toMatchObject({ done: true });

        const left = registry.watch('');
        await registry.commit([['a', 2]]);
        for await (const item of left) {
          expect(item).toEqual([['a', 2]]);
          break;
        }
        await registry.commit([['a', 3]]);
        expect(await left[Symbol.asyncIterator]().next()).toMatchObject({ done: true });

        const last = registry.watch('')[Symbol.asyncIterator]();
        await registry.commit([['a', 4]]);
        await registry.close();
        expect((await last.next()).value).toEqual([['a', 4]]);
        expect(await last.next()).toMatchObject({ done: true });
        expect(() => registry.watch('')).toThrow(expect.objectContaining({ code: 'CONFLICT' }));
      });
    });

    it('has everything back after close and open', async () => {
      await registry.commit([['a', { x: [1] }]]);
      await registry.close();
      registry = await subject.open();
      expect(await registry.entries('')).toEqual([['a', { x: [1] }]]);
    });
  });
}
