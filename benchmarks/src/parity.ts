/**
 * Parity of images (docs/codes.md): what the server's disk gets of the images of a job, without parity and with it, and
 * how long images take until they count. Four ranks on four headless nodes take images at the same time, of which all
 * data has changed since the last one: the worst case for both.
 *
 * The run fails when one of K whole images brings the bytes at the server down by less than K / 2.
 */
import type { JobOptions } from '@mayfly/wire';
import { MayflySide } from './mayfly-side.ts';
import { usually } from './short.ts';
import { bytes, median, ms, print, times } from './table.ts';

const RANKS = 4;
const MEGABYTES = usually(4, 1);
const IMAGES = usually(16, 8);

const USUAL: readonly [checksums: number, wholeEvery: number][] = [
  [1, 4],
  [1, 16],
  [2, 4],
];
const PLAN = usually(USUAL, USUAL.slice(0, 1));

interface Outcome {
  /** Of pages, at the server's disk. */
  sentBytes: number;
  /** Median, from the command until the images of all ranks count. */
  roundMs: number;
}

async function measure(parity: JobOptions['parity']): Promise<Outcome> {
  const side = await MayflySide.start();
  try {
    await side.headless(RANKS, 1);
    const options = { interactive: true, checkpointMs: 86_400_000, ...(parity && { parity }) };
    const id = await side.submit('image', RANKS, [String(MEGABYTES)], options);
    const say = (line: string): Promise<unknown> =>
      side.post(`/api/jobs/${id}/stdin`, new TextEncoder().encode(`${line}\n`));
    const rounds: number[] = [];
    let whole = 0;
    for (let round = 1; round <= IMAGES; round++) {
      const began = performance.now();
      await say(`take ${RANKS}`);
      const job = await side.until(
        id,
        'images',
        (j) => j.tasks.reduce((n, t) => n + t.images, 0) + (j.parity?.images ?? 0) >= round * RANKS,
        5,
      );
      rounds.push(performance.now() - began);
      whole = job.tasks.reduce((n, t) => n + t.images * t.imageBytes, 0);
      if (job.parity && round === IMAGES) whole = job.parity.sentBytes;
    }
    await say('end');
    await side.done(id);
    return { sentBytes: whole, roundMs: median(rounds) };
  } finally {
    await side.stop();
  }
}

export async function parity(): Promise<boolean> {
  const plain = await measure(undefined);
  const rows: string[][] = [['without parity', bytes(plain.sentBytes), '', ms(plain.roundMs), '']];
  let held = true;
  for (const [checksums, wholeEvery] of PLAN) {
    const with_ = await measure({ checksums, wholeEvery });
    const factor = plain.sentBytes / with_.sentBytes;
    held &&= factor >= wholeEvery / 2;
    rows.push([
      `${checksums} checksum${checksums > 1 ? 's' : ''}, one image of ${wholeEvery} whole`,
      bytes(with_.sentBytes),
      times(factor),
      ms(with_.roundMs),
      times(with_.roundMs / plain.roundMs),
    ]);
  }
  console.log(
    `${IMAGES} images of ${RANKS} ranks with ${MEGABYTES} MB each, on ${RANKS} headless nodes of this machine:`,
  );
  print(['', 'pages at the server', 'less by', 'until images count', 'of without'], rows);
  console.log('Not measured: the network of the server, which parity does not spare, and nodes on other machines.');
  return held;
}
