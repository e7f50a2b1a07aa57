/** The contract of Registry (ports/). */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Registry } from '../ports/index.ts';
import type { Subject } from './subject.ts';

export function registrySuite(name: string, make: () => Promise<Subject<Registry>>): void {
  describe(`Registry: ${name}`, () => {
    let subject: Subject<Registry>;
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

    it('has everything back after close and open', async () => {
      await registry.commit([['a', { x: [1] }]]);
      await registry.close();
      registry = await subject.open();
      expect(await registry.entries('')).toEqual([['a', { x: [1] }]]);
    });
  });
}
