/** All ranks of a job in one thread, message by message: what a call sends can be counted. */
import { expect } from 'vitest';
import { createLayer, requests, type Arrival, type Device, type Layer } from '../src/index.ts';

interface Message extends Arrival {
  /** Messages one after the other, each sent because of the one before, that this one is the end of. */
  hops: number;
}

export const BYTES = 8;

export interface Ran {
  memories: Float64Array[];
  messages: number;
  hops: number;
  /** Sender and receiver of each message. */
  sent: [from: number, to: number][];
}

/** Starts a call at every rank and delivers until all are complete. `of`: what the ranks know about their job. */
export function run(
  size: number,
  bytes: number,
  call: (layer: Layer, rank: number) => number,
  of: Pick<Device, 'teams'> = {},
): Ran {
  const inboxes: Message[][] = Array.from({ length: size }, () => []);
  const depth = new Array<number>(size).fill(0);
  const memories = Array.from({ length: size }, () => new Float64Array(bytes / BYTES));
  const sent: [number, number][] = [];
  let hops = 0;
  const layers = memories.map((memory, task) => {
    let number = 0;
    const device = {
      task,
      size,
      ...of,
      unexpectedBytes: 1 << 30,
      unexpected: () => undefined,
      send: (dst: number, mode: number, context: number, tag: number, word: number, body: Uint8Array) => {
        sent.push([task, dst]);
        inboxes[dst]!.push({
          number: 0,
          src: task as never,
          mode,
          context,
          tag,
          word,
          size: body.length,
          body: body.slice(),
          hops: depth[task]! + 1,
        });
      },
      poll: (consume: (a: Arrival) => boolean) => {
        for (let m = inboxes[task]!.shift(); m; m = inboxes[task]!.shift()) {
          depth[task] = Math.max(depth[task]!, m.hops);
          hops = Math.max(hops, m.hops);
          if (consume({ ...m, number: ++number })) return;
        }
      },
    } as unknown as Device;
    return createLayer(device, () => new Uint8Array(memory.buffer));
  });
  let open = layers.map((layer, rank) => ({ layer, request: call(layer, rank) }));
  for (let turn = 0; open.length > 0; turn++) {
    expect(turn).toBeLessThan(10_000);
    open = open.filter(({ layer, request }) => !requests.test(layer, request));
  }
  return { memories, messages: sent.length, hops, sent };
}
