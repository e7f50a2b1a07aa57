/** The log of jobs of protocol 'none', against a plain map. */
import { expect, it } from 'vitest';
import { MemoryStream } from '../src/hosts/memory-stream.ts';

it('keeps what is not trimmed, whole, while its blocks are used again', async () => {
  const stream = new MemoryStream('s');
  const oracle = new Map<number, Uint8Array>();
  let seed = 7;
  const draw = (below: number): number => (seed = (Math.imul(seed, 1103515245) + 12345) >>> 0) % below;
  let first = 0;
  for (let i = 0; i < 400; i++) {
    const parts = [draw(200), draw(i % 50 === 0 ? 2_000_000 : 40_000)].map((n) => new Uint8Array(n).fill(draw(256)));
    const lsn = stream.append(...parts);
    expect(lsn).toBe(i);
    oracle.set(lsn, Buffer.concat(parts));
    if (draw(4) > 0) continue;
    const [from, to] = [draw(3) === 0 ? first : first + draw(5), first + draw(Math.max(1, i + 3 - first))];
    const keep = new Set([draw(i + 1), draw(i + 1)]);
    stream.trim(from, to, keep);
    for (const n of oracle.keys()) if (n >= from && n < to && !keep.has(n)) oracle.delete(n);
    first = Math.max(first, to);
    for (const n of [draw(i + 1), i]) expect(stream.read(n)?.length).toBe(oracle.get(n)?.length);
  }
  expect(stream.bytes).toBe([...oracle.values()].reduce((n, b) => n + b.length, 0));
  const kept = [...stream.scan()];
  expect(kept.map((r) => r.lsn)).toEqual([...oracle.keys()]);
  for (const { lsn, bytes } of kept) expect(Buffer.compare(bytes, oracle.get(lsn)!)).toBe(0);
  await stream.close();
});
