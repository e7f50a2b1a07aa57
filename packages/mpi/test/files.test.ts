/**
 * Files through the API, over the server's own file service; a rank that begins anew sees what it saw, and does nothing
 * twice.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { WorldMode } from '@mayfly/wire';
import { Fabric } from './fabric/index.ts';

let fabric: Fabric;
beforeAll(() => void (fabric = new Fabric()));
afterAll(() => fabric.close());

const files = { 'in.txt': new TextEncoder().encode('input of the job') };

it.each([1, 3])('on %i ranks, and every rank again', async (size) => {
  const run = await fabric.run(size, 'sharedFiles', undefined, { files, patience: 60_000, bodiless: 0.3 });
  expect(run.answers.map((a) => a.error ?? a.exit)).toEqual(run.answers.map(() => undefined));
  const seen = run.answers.map((a) => a.value as unknown[]);
  const row = Array.from({ length: size }, (_, r) => [r + 0.2, r + 0.3]).flat();
  seen.forEach((s, rank) => {
    expect(s.slice(0, 2)).toEqual([8, 8 * (2 * size + 2 * rank)]);
    expect(s.slice(2, 7)).toEqual([2 * size, row, 64 * size, 1, 0]);
    expect(s.slice(7, 10)).toEqual([true, rank, rank + 0.1]);
    const tail = s[11] as number[];
    expect([...tail].sort((a, b) => a - b)).toEqual(
      Array.from({ length: size }, (_, r) => [100 * r, 100 * r + 1, 100 * r + 2, -1 - r])
        .flat()
        .sort((a, b) => a - b),
    );
    expect(tail).toEqual(seen[0]![11]);
    const ordered = (size * (size + 1)) / 2;
    expect(s.slice(12)).toEqual([8 * (12 * size + ordered), size, 34, 'input of the job', 16]);
  });
  const data = new Float64Array(run.files.results()['out/data']!.slice().buffer);
  expect([...data.subarray(12 * size)]).toEqual(
    Array.from({ length: size }, (_, r) => new Array<number>(1 + r).fill(r)).flat(),
  );
  for (let rank = 0; rank < size; rank++) {
    const again = await fabric.restart(run, rank, 'sharedFiles', undefined, undefined, { patience: 60_000 });
    expect(again.error).toBeUndefined();
    expect(again.value).toEqual(seen[rank]);
    expect(again.log.sends).toEqual(run.answers[rank]!.log.sends);
  }
  expect(new Float64Array(run.files.results()['out/data']!.slice().buffer)).toEqual(data);
});

it('what an access costs does not depend on the number of its pieces: one request of each rank', async () => {
  const requests: number[] = [];
  for (const each of [1, 3000]) {
    const run = await fabric.run(3, 'interleaved', each, { patience: 60_000 });
    expect(run.answers.map((a) => a.error ?? a.value)).toEqual([true, true, true]);
    requests.push(...run.answers.map((a) => a.log.outputs.filter((o) => o.mode === WorldMode.REQUEST).length));
    if (each > 1)
      expect([...new Int32Array(run.files.results()['numbers']!.slice().buffer)]).toEqual(
        Array.from({ length: 9000 }, (_, i) => i),
      );
  }
  // Rank 0 also asks for open, the shared pointer of the view, and close.
  expect(requests).toEqual([5, 2, 2, 5, 2, 2]);
});
