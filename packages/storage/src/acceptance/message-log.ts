/** The contract of MessageLog and LogStream (ports/). */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { LogStream, MessageLog } from '../ports/index.ts';
import type { Subject } from './subject.ts';

const text = (s: string): Uint8Array => new TextEncoder().encode(s);
const words = (bytes: Uint8Array | undefined): string | undefined => bytes && new TextDecoder().decode(bytes);
const left = (stream: LogStream): [number, string | undefined][] =>
  [...stream.scan()].map((r) => [r.lsn, words(r.bytes)]);
/** Bytes that differ from record to record and from place to place. */
const pattern = (lsn: number, length: number): Uint8Array =>
  Uint8Array.from({ length }, (_, i) => (lsn * 31 + i * 7 + (i >> 8)) & 255);

export interface MessageLogSuiteOptions {
  /** About how many bytes must be appended until the adapter can give trimmed room back. */
  roomBytes?: number;
}

export function messageLogSuite(
  name: string,
  make: () => Promise<Subject<MessageLog>>,
  options: MessageLogSuiteOptions = {},
): void {
  describe(`MessageLog: ${name}`, () => {
    let subject: Subject<MessageLog>;
    let log: MessageLog;
    beforeEach(async () => {
      subject = await make();
      log = await subject.open();
    });
    afterEach(async () => {
      await log.close();
      await subject.dispose();
    });
    const reopen = async (): Promise<void> => {
      await log.close();
      log = await subject.open();
    };

    it('numbers records from 0 and reads them back', async () => {
      const s = await log.open('job/cm0/t1');
      expect(s.name).toBe('job/cm0/t1');
      expect(s.next).toBe(0);
      expect(s.append(text('one'))).toBe(0);
      expect(s.append(text('two'))).toBe(1);
      expect(s.next).toBe(2);
      expect(words(s.read(0))).toBe('one');
      expect(words(s.read(1))).toBe('two');
      expect(s.bytes).toBeGreaterThanOrEqual(6);
    });

    it('joins the parts of a record, which may be reused afterwards', async () => {
      const s = await log.open('a');
      const head = text('head');
      const body = text('body');
      s.append(head, body, new Uint8Array(0));
      head.fill(0);
      body.fill(0);
      expect(words(s.read(0))).toBe('headbody');
    });

    it('keeps records of length 0, and says undefined for what is not there', async () => {
      const s = await log.open('a');
      s.append();
      s.append(new Uint8Array(0));
      expect(s.read(0)).toHaveLength(0);
      expect(s.read(1)).toHaveLength(0);
      expect(s.read(2)).toBeUndefined();
      expect(s.read(-1)).toBeUndefined();
    });

    it("gives away bytes that are the caller's own", async () => {
      const s = await log.open('a');
      s.append(text('mine'));
      s.read(0)!.fill(0);
      for (const r of s.scan()) r.bytes.fill(0);
      expect(words(s.read(0))).toBe('mine');
      expect(left(s)).toEqual([[0, 'mine']]);
    });

    it('keeps streams apart, also when one name begins with the other', async () => {
      const a = await log.open('job/t1');
      const b = await log.open('job/t1/x');
      const c = await log.open('job/t10');
      a.append(text('a'));
      b.append(text('b'));
      c.append(text('c'));
      expect(left(a)).toEqual([[0, 'a']]);
      expect(left(b)).toEqual([[0, 'b']]);
      expect((await log.list('job/t1')).sort()).toEqual(['job/t1', 'job/t1/x', 'job/t10']);
      expect(await log.list('job/t1/')).toEqual(['job/t1/x']);
      await log.remove('job/t1');
      expect((await log.list('')).sort()).toEqual(['job/t1/x', 'job/t10']);
      expect(words(b.read(0))).toBe('b');
      expect((await log.open('job/t1')).next).toBe(0);
    });

    it('opens a stream once: the second opener gets the same state', async () => {
      const [a, b] = await Promise.all([log.open('a'), log.open('a')]);
      a.append(text('x'));
      expect(b.next).toBe(1);
      expect(words(b.read(0))).toBe('x');
    });

    it('has everything back after close and open, and goes on counting', async () => {
      let s = await log.open('a');
      for (let i = 0; i < 100; i++) s.append(pattern(i, i * 11));
      await reopen();
      s = await log.open('a');
      expect(s.next).toBe(100);
      for (let i = 0; i < 100; i++) expect(s.read(i)).toEqual(pattern(i, i * 11));
      expect([...s.scan()].map((r) => r.lsn)).toEqual(Array.from({ length: 100 }, (_, i) => i));
      expect(s.append(text('more'))).toBe(100);
    });

    it('takes large records', async () => {
      let s = await log.open('a');
      const large = pattern(5, 5_000_001);
      s.append(large.subarray(0, 1000), large.subarray(1000));
      s.append(text('after'));
      expect(Buffer.compare(s.read(0)!, large)).toBe(0);
      await reopen();
      s = await log.open('a');
      expect(Buffer.compare(s.read(0)!, large)).toBe(0);
      expect(words(s.read(1))).toBe('after');
    });

    it('reads what was appended long ago', async () => {
      const s = await log.open('a');
      for (let i = 0; i < 3000; i++) s.append(pattern(i, 700));
      for (const i of [0, 1, 1500, 2999, 700, 3]) expect(s.read(i)).toEqual(pattern(i, 700));
    });

    it('lets many syncs run at the same time, with appends between', async () => {
      const s = await log.open('a');
      const syncs = [];
      for (let i = 0; i < 50; i++) {
        s.append(pattern(i, 50));
        syncs.push(s.sync());
        if (i % 10 === 0) await syncs[i];
      }
      await Promise.all(syncs);
      expect(s.next).toBe(50);
    });

    it('trims: what was not named stays, kept records stay', async () => {
      let s = await log.open('a');
      for (let i = 0; i < 100; i++) s.append(pattern(i, 100));
      await s.sync();
      s.trim(10, 90, new Set([20, 55]));
      const spared = [0, 9, 20, 55, 90, 99];
      for (const i of spared) expect(s.read(i)).toEqual(pattern(i, 100));
      await reopen();
      s = await log.open('a');
      for (const i of spared) expect(s.read(i)).toEqual(pattern(i, 100));
      const lsns = [...s.scan()].map((r) => r.lsn);
      expect(lsns).toEqual([...lsns].sort((a, b) => a - b));
      for (const i of spared) expect(lsns).toContain(i);
      expect(s.next).toBe(100);
    });

    it('never gives a number twice, also when everything was trimmed', async () => {
      let s = await log.open('a');
      for (let i = 0; i < 10; i++) s.append(text('x'));
      await s.sync();
      s.trim(0, 10);
      await reopen();
      s = await log.open('a');
      expect(s.next).toBe(10);
      expect(s.append(text('y'))).toBe(10);
      expect(words(s.read(10))).toBe('y');
    });

    it('gives room back', async () => {
      const room = options.roomBytes ?? 1_000_000;
      const s = await log.open('a');
      const n = Math.ceil((room * 4) / 10_000);
      for (let i = 0; i < n; i++) s.append(pattern(i, 10_000));
      await s.sync();
      const before = s.bytes;
      s.trim(1, n - 1, new Set([2]));
      await s.sync();
      expect(s.bytes).toBeLessThan(before * 0.7);
      for (const i of [0, 2, n - 1]) expect(s.read(i)).toEqual(pattern(i, 10_000));
      const gone = Array.from({ length: n }, (_, i) => i).filter((i) => s.read(i) === undefined);
      expect(gone.length).toBeGreaterThan(n * 0.3);
      expect([...s.scan()].map((r) => r.lsn)).toEqual(
        Array.from({ length: n }, (_, i) => i).filter((i) => !gone.includes(i)),
      );
    });

    it('refuses what comes after close', async () => {
      const s = await log.open('a');
      s.append(text('x'));
      await s.close();
      expect(() => s.append(text('y'))).toThrow();
      const again = await log.open('a');
      expect(again.next).toBe(1);
    });

    it("durability 'kernel': loses nothing that was appended when the process is killed", async (context) => {
      if (!subject.crash || log.durability !== 'kernel') return context.skip();
      let s = await log.open('a');
      for (let i = 0; i < 200; i++) s.append(pattern(i, i));
      await subject.crash(log);
      log = await subject.open();
      s = await log.open('a');
      expect(s.next).toBe(200);
      for (let i = 0; i < 200; i++) expect(s.read(i)).toEqual(pattern(i, i));
    });

    it("durability 'sync-only': loses nothing that was synced when the process is killed", async (context) => {
      if (!subject.crash || log.durability !== 'sync-only') return context.skip();
      let s = await log.open('a');
      for (let i = 0; i < 100; i++) s.append(pattern(i, i));
      await s.sync();
      for (let i = 100; i < 120; i++) s.append(pattern(i, i));
      expect(s.read(119)).toEqual(pattern(119, 119));
      await subject.crash(log);
      log = await subject.open();
      s = await log.open('a');
      expect(s.next).toBeGreaterThanOrEqual(100);
      expect(s.next).toBeLessThanOrEqual(120);
      expect([...s.scan()]).toEqual(Array.from({ length: s.next }, (_, lsn) => ({ lsn, bytes: pattern(lsn, lsn) })));
    });

    it(
      'says DISK_FULL when no space is left, keeps what it has ' + 'whole, and goes on when there is room again',
      async (context) => {
        if (!subject.fill) return context.skip();
        let s = await log.open('a');
        for (let i = 0; i < 60; i++) s.append(pattern(i, 200));
        subject.fill(true);
        for (let i = 0; i < 3; i++)
          expect(() => s.append(pattern(60, 500))).toThrow(expect.objectContaining({ code: 'DISK_FULL' }));
        expect(s.next).toBe(60);
        expect(s.read(60)).toBeUndefined();
        expect(s.read(59)).toEqual(pattern(59, 200));
        await s.sync();
        subject.fill(false);
        expect(s.append(pattern(60, 500))).toBe(60);
        await reopen();
        s = await log.open('a');
        expect(s.next).toBe(61);
        for (const [i, n] of [
          [0, 200],
          [59, 200],
          [60, 500],
        ] as const)
          expect(s.read(i)).toEqual(pattern(i, n));
      },
    );

    it('has no gap when the process dies while the disk is full', async (context) => {
      if (!subject.fill || !subject.crash) return context.skip();
      let s = await log.open('a');
      for (let i = 0; i < 20; i++) s.append(pattern(i, 300));
      if (log.durability === 'sync-only') await s.sync();
      subject.fill(true);
      expect(() => s.append(pattern(20, 300))).toThrow(expect.objectContaining({ code: 'DISK_FULL' }));
      await subject.crash(log);
      subject.fill(false);
      log = await subject.open();
      s = await log.open('a');
      expect(left(s).map(([lsn]) => lsn)).toEqual(Array.from({ length: 20 }, (_, i) => i));
    });

    it('loses nothing that was synced when the power goes, and keeps no gap', async (context) => {
      if (!subject.powerLoss) return context.skip();
      let s = await log.open('a');
      let synced = 0;
      for (let round = 0; round < 10; round++) {
        for (let i = 0; i < 40; i++) s.append(pattern(s.next, 90 + i));
        if (round % 2 === 0) {
          await s.sync();
          synced = s.next;
        }
        for (let i = 0; i < 7; i++) s.append(pattern(s.next, 30));
        const next = s.next;
        await subject.powerLoss(log);
        log = await subject.open();
        s = await log.open('a');
        expect(s.next).toBeGreaterThanOrEqual(synced);
        expect(s.next).toBeLessThanOrEqual(next);
        expect([...s.scan()].map((r) => r.lsn)).toEqual(Array.from({ length: s.next }, (_, i) => i));
        // Records that were cut give their numbers to others.
        synced = Math.min(synced, s.next);
      }
    });
  });
}
