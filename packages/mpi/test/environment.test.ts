/** The world as a program sees it, and a program's end. */
import { afterAll, expect, test } from 'vitest';
import { Fabric, textOf } from './fabric/index.ts';

const fabric = new Fabric();
afterAll(() => fabric.close());

test('standard streams: input by lines and bytes across chunks, output as numbered sends', async () => {
  const { answers } = await fabric.run(2, 'streams', undefined, {
    stdin: ['one\nt', 'wo\r\nxyzre', 'st\nlast'],
    bodiless: 0.5,
  });
  expect(answers[0]!.value).toEqual(['one', 'two', new TextEncoder().encode('xyz'), 'rest\nlast', null, ['a', 'b']]);
  expect(answers[1]!.value).toEqual([null, null, new Uint8Array(0), '', null, ['a', 'b']]);
  expect(textOf(answers[0]!.log.outputs, 1)).toBe(
    "rank 0 { a: [ 1, 2 ], s: 'x' } [ 1.5, null ] Float64Array(2) [ 0, 0 ]\nno end",
  );
  expect(textOf(answers[0]!.log.outputs, 2)).toBe('bad %\n');
});

test('files: inputs are read, results are sends with offsets, paths are checked', async () => {
  const { answers } = await fabric.run(1, 'files', undefined, {
    files: { 'in.txt': new TextEncoder().encode('grüezi') },
  });
  expect(answers[0]!.value).toEqual([
    ['in.txt'],
    'grüezi',
    true,
    ['MPI_ERR_NO_SUCH_FILE', 'MPI_ERR_BAD_FILE', 'MPI_ERR_BAD_FILE'],
  ]);
  const sent = answers[0]!.log.outputs.map(({ body }) => {
    const v = new DataView(body.buffer, body.byteOffset, body.byteLength);
    const n = v.getUint16(0, true);
    return {
      name: new TextDecoder().decode(body.subarray(2, 2 + n)),
      offset: v.getUint32(2 + n, true),
      bytes: [...body.subarray(10 + n)],
    };
  });
  const bytes = (s: string): number[] => [...new TextEncoder().encode(s)];
  expect(sent).toEqual([
    { name: 'out/a.txt', offset: 0, bytes: bytes('hello') },
    { name: 'out/a.txt', offset: 5, bytes: bytes(' world') },
    { name: 'out/b.bin', offset: 4, bytes: [1, 2] },
  ]);
});

test('exit and abort are the last message of the rank', async () => {
  const exit = await fabric.run(2, 'exit');
  expect(exit.answers.map((a) => a.exit)).toEqual([{ code: 3 }, { code: 4 }]);
  expect(JSON.parse(textOf(exit.answers[1]!.log.outputs, 4))).toEqual({ code: 4 });
  const abort = await fabric.run(1, 'abort');
  expect(abort.answers[0]!.exit).toEqual({
    code: 9,
    abort: { code: 'ABORTED', message: 'rank 0 of MPI_COMM_WORLD called MPI_Abort with code 9' },
  });
});

test('clock, processor name, finalize', async () => {
  const [clock] = await fabric.values(1, 'clock');
  expect(clock).toEqual([true, true, 'node of rank 0']);
  const [done] = await fabric.values(1, 'finalized');
  expect(done).toEqual([true, false, expect.stringContaining('called after MPI_Finalize')]);
});
