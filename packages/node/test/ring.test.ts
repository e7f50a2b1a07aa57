import { MessageChannel, Worker } from 'node:worker_threads';
import { HEADER_BYTES, emptyHeader, writeHeader } from '@mayfly/wire';
import fc from 'fast-check';
import { patient } from '@mayfly/testing';
import { describe, expect, it } from 'vitest';
import { CommSide, RankSide, createRankMemory } from '../src/ring/index.ts';
import { bundled } from './bundle.ts';

const put = (side: RankSide, n: number, value: number): boolean => {
  const at = side.up.reserve(HEADER_BYTES + n);
  if (at < 0) return false;
  const h = emptyHeader(10);
  h.bytes = n;
  h.channel = value;
  writeHeader(side.up.view, at, h);
  side.up.bytes.fill(value & 255, at + HEADER_BYTES, at + HEADER_BYTES + n);
  side.up.commit(HEADER_BYTES + n);
  return true;
};

describe('ring', () => {
  it('I1: any interleaving of writing and reading gives every record once, whole and in order', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ write: fc.boolean(), n: fc.integer({ min: 0, max: 900 }) }), { maxLength: 300 }),
        (steps) => {
          const memory = createRankMemory(4096, 4096);
          const rank = new RankSide(memory);
          const comm = new CommSide(memory, () => undefined);
          const expected: { n: number; value: number }[] = [];
          let value = 0;
          for (const s of steps) {
            if (s.write) {
              if (put(rank, s.n, value)) expected.push({ n: s.n, value: value++ });
              rank.up.publish();
              continue;
            }
            const at = comm.up.peek();
            const e = expected.shift();
            expect(at >= 0).toBe(e !== undefined);
            if (e) {
              expect(comm.up.view.getUint32(at + 4, true)).toBe(e.n);
              expect(comm.up.view.getUint32(at + 24, true)).toBe(e.value);
              expect(
                comm.up.bytes.subarray(at + HEADER_BYTES, at + HEADER_BYTES + e.n).every((b) => b === (e.value & 255)),
              ).toBe(true);
              comm.up.take();
              comm.up.release();
            }
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  it('before it sleeps a rank looks at what is quick to ask, and now and then at everything', () => {
    const rank = new RankSide(createRankMemory(4096, 4096));
    rank.spin = 1000;
    let [quick, whole] = [0, 0];
    rank.block(
      () => (whole++, quick >= 500),
      false,
      undefined,
      () => ++quick < 500,
    );
    expect(quick).toBe(500);
    expect(whole).toBeLessThan(20);
    // What only the thorough look sees ends the wait too.
    whole = 0;
    rank.block(
      () => ++whole === 5,
      false,
      undefined,
      () => true,
    );
    expect(whole).toBe(5);
  });

  it('refuses what a rank taken over by its program may write', () => {
    const memory = createRankMemory(4096, 4096);
    const rank = new RankSide(memory);
    const comm = new CommSide(memory, () => undefined);
    put(rank, 10, 1);
    rank.up.view.setUint32(4, 1 << 30, true);
    rank.up.publish();
    expect(() => comm.up.peek()).toThrow('runs over');
  });

  it('counts what wakes: one notify per batch (I4)', () => {
    const memory = createRankMemory(65536, 4096);
    const rank = new RankSide(memory);
    const comm = new CommSide(memory, () => undefined);
    const bell = (): number => new Int32Array(memory)[80]!;
    expect(comm.sleep(false)).toBe(true);
    for (let i = 0; i < 50; i++) {
      put(rank, 8, i);
      rank.up.publish();
    }
    expect(bell()).toBe(1);
    expect(comm.sleep(false)).toBe(false);
  });

  it('I5: who lingers is woken by what the rank writes, and sleeps on when it writes nothing', () => {
    const memory = createRankMemory(65536, 4096);
    const rank = new RankSide(memory);
    let served = 0;
    const comm = new CommSide(memory, () => {
      served++;
      while (comm.up.peek() >= 0) comm.up.take();
      comm.up.release();
      expect(comm.sleep(false)).toBe(true);
    });
    const words = new Int32Array(memory);
    const [bell, asleep] = [80, 96];
    expect(comm.sleep(false)).toBe(true);
    expect(comm.linger(0.1)).toBe(false);
    expect([served, words[asleep]]).toEqual([0, 1]);
    // Silent ones are waited for no longer than that; what was written is found without the bell that the engine's
    // promise waits for.
    put(rank, 8, 1);
    words[asleep] = 4;
    rank.up.publish();
    expect([words[bell], words[240]]).toEqual([0, 1]);
    words[asleep] = 1;
    expect(comm.linger(60_000)).toBe(true);
    expect([served, words[asleep], words[bell]]).toEqual([1, 1, 0]);
    // Afterwards it is woken as before.
    put(rank, 8, 2);
    rank.up.publish();
    expect(words[bell]).toBe(1);
  });

  // MEASURED.md: "Prototype ring runs sometimes hung under long load: soak-test the ring and the waitAsync path."
  for (const byMessage of [false, true])
    it(`soak: every record comes back in order, woken ${byMessage ? 'by messages' : 'by Atomics.waitAsync'}`, async () => {
      const [rankCode, commCode] = await Promise.all([bundled('ring-rank.ts'), bundled('ring-comm.ts')]);
      const records = Number(process.env.MAYFLY_SOAK_RECORDS ?? 600_000);
      const pairs = await Promise.all(
        [1, 2].map(async (k) => {
          const memory = createRankMemory(65536, 65536);
          const wake = new MessageChannel();
          const comm = new Worker(commCode, {
            eval: true,
            workerData: { memory, byMessage, port: wake.port1 },
            transferList: [wake.port1],
          });
          const rank = new Worker(rankCode, {
            eval: true,
            workerData: { memory, seed: 77 * k, records, port: wake.port2 },
            transferList: [wake.port2],
          });
          let counters = { lost: 0, lostByRank: 0, wakes: 0 };
          comm.on('message', (m) => (counters = m));
          const result = await new Promise<{ sent: number; got: number; bytes: number }>((resolve, reject) => {
            // Hung is a rank whose comm side has counted nothing new for a minute, not one that is slow.
            let wakes = -1;
            const hung = setInterval(() => {
              if (counters.wakes === wakes) reject(new Error(`the ring hung: ${JSON.stringify(counters)}`));
              wakes = counters.wakes;
            }, patient(60_000));
            rank.on('message', (m) => {
              clearInterval(hung);
              resolve(m);
            });
            rank.on('error', reject);
            comm.on('error', reject);
          }).finally(() => Promise.all([rank.terminate(), comm.terminate()]));
          return { ...result, ...counters };
        }),
      );
      for (const p of pairs) {
        expect(p.got).toBe(p.sent);
        expect(p.sent).toBeGreaterThanOrEqual(records);
      }
      const said = pairs.map(
        (p) =>
          `${p.sent} records, ${(p.bytes / 1e6).toFixed(0)} MB each way, ${p.wakes} wake-ups, ` +
          `lost: ${p.lost} comm, ${p.lostByRank} rank`,
      );
      console.log(`soak ${byMessage ? 'message' : 'waitAsync'}: ${said.join('; ')}`);
    });
});
