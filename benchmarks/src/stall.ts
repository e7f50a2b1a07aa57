/**
 * The stall of a transparent checkpoint: how long a C rank stands still (unwinding, copy of its memory, rewinding),
 * against a bare copy of as much memory into a buffer that is used again, in the same run; and the bytes that the
 * first, second and later images send when a tenth of the pages has changed.
 *
 * MAYFLY_STALL_PROTOCOL=vcl: the same in waves, a wave every half second; goal below 4 MB: 2 ms.
 *
 * Does not measure: hashing, compression and upload, which go on beside the rank and compete with it only for
 * processors.
 */
import { join } from 'node:path';
import type { ProtocolName } from '@mayfly/wire';
import { startHeadlessNode } from '@mayfly/node/headless';
import { MayflySide, ROOT } from './mayfly-side.ts';
import { quick, usually } from './short.ts';
import { median, ms, print, times } from './table.ts';

const SIZES_MB = (process.env['MAYFLY_STALL_MB'] ?? usually('4,64,256', '4')).split(',').map(Number);
const PROTOCOL = (process.env['MAYFLY_STALL_PROTOCOL'] ?? 'pessimistic') as ProtocolName;
const ROUNDS = usually(6, 3);
const GOAL = 1.5;
/** Of a memory of less than 4 MB, with waves. */
const SMALL_MS = 2;
const POLL_MS = 200;
const CHANGED_PERCENT = 10;

interface ImageView {
  serial: number;
  sentBytes: number;
  bytes: number;
}

/** Best of some copies of a wasm memory into a buffer that is used again: in what is not shared, and in what is. */
function bareCopy(megabytes: number): { plain: number; shared: number } {
  const from = new Uint8Array(new WebAssembly.Memory({ initial: megabytes * 16 }).buffer);
  for (let i = 0; i < from.length; i += 512) from[i] = i;
  const time = (to: Uint8Array): number => {
    to.set(from);
    return median(
      Array.from({ length: 9 }, () => {
        const t = performance.now();
        to.set(from);
        return performance.now() - t;
      }),
    );
  };
  return { plain: time(new Uint8Array(from.length)), shared: time(new Uint8Array(new SharedArrayBuffer(from.length))) };
}

interface Images {
  /** Bytes, from the first image on. */
  readonly sent: number[];
  readonly bare: ReturnType<typeof bareCopy>[];
}

/** Asks for one image after the other, and changes a tenth of the pages in between. */
async function asked(side: MayflySide, megabytes: number): Promise<Images> {
  const id = await side.submitC('stall', 1, [String(megabytes), String(CHANGED_PERCENT)], {
    interactive: true,
    checkpointMs: 86_400_000,
  });
  const sent: number[] = [];
  const bare: ReturnType<typeof bareCopy>[] = [];
  for (let round = 1; round <= ROUNDS; round++) {
    // It waits for the next round: 'go' came round − 1 times.
    await side.until(
      id,
      'the round',
      async (j) =>
        j.tasks[0]?.activity?.state === 'waiting' &&
        (await side.text(`/api/jobs/${id}/tasks/0/stdout?from=0`)).split('\n').length >= round,
      POLL_MS,
    );
    await side.post(`/api/jobs/${id}/tasks/0/checkpoint`);
    let newest: ImageView | undefined;
    await side.until(
      id,
      'a complete image',
      async () => {
        newest = (await side.get<ImageView[]>(`/api/jobs/${id}/images`)).find((i) => i.serial === round);
        return newest !== undefined;
      },
      POLL_MS,
    );
    sent.push(newest!.sentBytes);
    bare.push(bareCopy(megabytes));
    await side.post(`/api/jobs/${id}/stdin`, new TextEncoder().encode('go\n'));
  }
  return { sent, bare };
}

/** Waves, while the program waits for input: each image is a copy of all of its memory. */
async function waves(side: MayflySide, megabytes: number, stalls: readonly number[]): Promise<Images> {
  const id = await side.submitC('stall', 1, [String(megabytes), String(CHANGED_PERCENT)], {
    protocol: PROTOCOL,
    interactive: true,
    checkpointMs: 500,
  });
  const bare: ReturnType<typeof bareCopy>[] = [];
  for (let round = 1; round <= ROUNDS; round++) {
    await side.until(id, 'an image', () => stalls.length >= round, POLL_MS);
    bare.push(bareCopy(megabytes));
  }
  await side.post(`/api/jobs/${id}/cancel`);
  return { sent: [], bare };
}

export async function stall(): Promise<boolean> {
  const rows: string[][] = [];
  let held = true;
  for (const megabytes of SIZES_MB) {
    const side = await MayflySide.start();
    const stalls: number[] = [];
    const node = await startHeadlessNode({
      server: side.url,
      slots: 1,
      name: 'stall',
      workers: join(ROOT, 'packages/node/dist/headless'),
      onNote: (text) => {
        const m = /stood still for ([\d.]+) ms/.exec(text);
        if (m) stalls.push(Number(m[1]));
        if (process.env['MAYFLY_STALL_LOG']) console.log(text);
      },
    });
    try {
      const { sent, bare } = await (PROTOCOL === 'pessimistic'
        ? asked(side, megabytes)
        : waves(side, megabytes, stalls));
      // The first image pays for the pages of its buffer.
      const usual = median(stalls.slice(1));
      const plain = median(bare.map((b) => b.plain));
      const ratio = usual / plain;
      held &&= PROTOCOL === 'pessimistic' || megabytes >= 64 ? ratio <= GOAL : megabytes >= 4 || usual <= SMALL_MS;
      const mb = (n: number): string => `${(n / 1048576).toFixed(2)} MB`;
      rows.push([
        `${megabytes} MB`,
        ms(stalls[0]!),
        ms(usual),
        ms(plain),
        ms(median(bare.map((b) => b.shared))),
        times(ratio),
        ...(sent.length > 0 ? [sent[0]!, sent[1]!, median(sent.slice(2))].map(mb) : ['–', '–', '–']),
      ]);
    } finally {
      await node.close(0);
      await side.stop();
    }
  }
  console.log(`\nStall of a transparent checkpoint of a C rank, ${PROTOCOL}`);
  print(
    [
      'memory',
      'first stall',
      'later stalls',
      'bare copy',
      'copy into shared',
      'stall / bare',
      'sent first',
      'second',
      'later',
    ],
    rows,
  );
  console.log(
    `  A tenth of the pages changes between two images. Goal: at most ${GOAL}× a bare copy. Not measured: ` +
      'hashing and upload, which run beside the rank.',
  );
  return quick(held);
}
