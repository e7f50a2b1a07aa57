/**
 * The layer is plain data: ranks in one thread, advanced by tests in a seeded order, and at random moments a rank is
 * stored, thrown away and made again from the bytes, in the middle of collectives and synchronous sends. Buffers lie in
 * linear memory, as those of C programs do.
 */
import { describe, expect, test } from 'vitest';
import { taskId } from '@mayfly/wire';
import {
  ANY_SOURCE,
  COMM_WORLD,
  collectives,
  comms,
  createLayer,
  DOUBLE,
  heldArrivals,
  intercomms,
  linear,
  opHandle,
  p2p,
  requests,
  restore,
  snapshot,
  type Layer,
} from '../src/index.ts';
import { draws } from './programs/oracle.ts';
import type { Arrival, Device } from '../src/device.ts';

/** Inbox kept as a log; polled, never waited for. */
class QueueDevice implements Device {
  readonly task;
  consumed = 0;
  unexpectedBytes = 64;
  constructor(
    task: number,
    readonly size: number,
    private readonly logs: (Omit<Arrival, 'number' | 'body'> & { bytes: Uint8Array })[][],
    private readonly bodiless: () => boolean,
  ) {
    this.task = taskId(task);
  }
  send(dst: number, mode: number, context: number, tag: number, word: number, body: Uint8Array): void {
    this.logs[dst]!.push({ src: this.task, mode, context, tag, word, size: body.length, bytes: body.slice() });
  }
  private next(): Arrival {
    const m = this.logs[this.task]![this.consumed++]!;
    return {
      number: this.consumed,
      src: m.src,
      mode: m.mode,
      context: m.context,
      tag: m.tag,
      word: m.word,
      size: m.size,
      body: this.bodiless() ? undefined : m.bytes,
    };
  }
  wait(): Arrival {
    if (this.consumed >= this.logs[this.task]!.length) throw new Error('would wait');
    return this.next();
  }
  poll(consume: (a: Arrival) => boolean): void {
    // One at most: many interleavings.
    if (this.consumed < this.logs[this.task]!.length) consume(this.next());
  }
  pull(arrival: number, into: Uint8Array): void {
    into.set(this.logs[this.task]![arrival - 1]!.bytes);
  }
  unexpected(): void {}
  clock(): number {
    return 0;
  }
  place(read: () => string): string {
    return read();
  }
}

const N = 24;

function world(size: number, seed: number) {
  const d = draws(seed);
  const logs = Array.from({ length: size }, () => []);
  const memories = Array.from({ length: size }, () => new Uint8Array(16384));
  const devices = memories.map((_, i) => new QueueDevice(i, size, logs, () => d.next(3) === 0));
  const layers: Layer[] = devices.map((device, i) => createLayer(device, () => memories[i]!));
  const f64 = (rank: number, at: number, n = N): Float64Array => new Float64Array(memories[rank]!.buffer, at, n);
  const reborn = (i: number): void => {
    const bytes = snapshot(layers[i]!).slice();
    layers[i] = createLayer(devices[i]!, () => memories[i]!);
    restore(layers[i]!, bytes);
    if (Buffer.compare(snapshot(layers[i]!), bytes) !== 0)
      throw new Error('the state changed on its way through an image');
  };
  /** Advances all ranks until each rank's request is complete; returns the outcomes. */
  const finish = (handles: number[]) => {
    const out = new Map<number, requests.Outcome>();
    for (let turn = 0; out.size < size; turn++) {
      if (turn > 20000) throw new Error(`no end: ${size - out.size} ranks wait`);
      const i = d.next(size);
      if (d.next(3) === 0) reborn(i);
      if (out.has(i)) continue;
      const o = requests.test(layers[i]!, handles[i]!);
      if (o) out.set(i, o);
    }
    const list = layers.map((_, i) => out.get(i)!);
    expect(list.map((o) => o.error)).toEqual(list.map(() => undefined));
    return list;
  };
  return { d, layers, memories, devices, f64, finish, reborn };
}

describe('stored and restored in the middle', () => {
  test.each([2, 3, 4, 5, 8])('collectives on %i ranks', (size) => {
    for (let seed = 1; seed <= 3; seed++) {
      const { layers, f64, finish } = world(size, seed * 10 + size);
      const ranks = layers.map((_, i) => i);
      for (const i of ranks) f64(i, 0).forEach((_, k, a) => (a[k] = i * 100 + k));
      const sum = (k: number): number => ranks.reduce((s, r) => s + r * 100 + k, 0);
      const B = N * 8;
      finish(
        layers.map((l) =>
          collectives.allreduce(l, COMM_WORLD, linear(0, B), linear(1024, B), DOUBLE, opHandle('MPI_SUM')),
        ),
      );
      for (const i of ranks) expect([...f64(i, 1024)]).toEqual(Array.from({ length: N }, (_, k) => sum(k)));
      finish(
        layers.map((l) =>
          collectives.scan(l, COMM_WORLD, linear(0, B), linear(1024, B), DOUBLE, opHandle('MPI_MAX'), false),
        ),
      );
      for (const i of ranks) expect(f64(i, 1024)[3]).toBe(i * 100 + 3);
      finish(layers.map((l) => collectives.allgather(l, COMM_WORLD, linear(0, 16), linear(1024, 16 * size))));
      for (const i of ranks) expect([...f64(i, 1024, 2 * size)]).toEqual(ranks.flatMap((r) => [r * 100, r * 100 + 1]));
      finish(layers.map((l) => collectives.bcast(l, COMM_WORLD, linear(0, B), size - 1)));
      for (const i of ranks) expect(f64(i, 0)[5]).toBe((size - 1) * 100 + 5);
      const made = finish(layers.map((l, i) => comms.split(l, COMM_WORLD, i % 2, -i)));
      finish(layers.map((l, i) => collectives.barrier(l, made[i]!.result)));
    }
  });

  test.each([3, 5])('intercommunicators of %i ranks, in their making and in collectives', (size) => {
    for (let seed = 1; seed <= 3; seed++) {
      const { layers, f64, finish } = world(size, seed * 100 + size);
      const high = (i: number): boolean => i >= 2;
      const others = (i: number): number[] => layers.map((_, k) => k).filter((k) => high(k) !== high(i));
      for (const i of layers.keys()) f64(i, 0).forEach((_, k, a) => (a[k] = i * 100 + k));
      const half = finish(layers.map((l, i) => comms.split(l, COMM_WORLD, high(i) ? 1 : 0, 0))).map((o) => o.result);
      const inter = finish(
        layers.map((l, i) => intercomms.create(l, half[i]!, 0, () => COMM_WORLD, high(i) ? 0 : 2, 9)),
      ).map((o) => o.result);
      finish(
        layers.map((l, i) =>
          collectives.allreduce(l, inter[i]!, linear(0, N * 8), linear(1024, N * 8), DOUBLE, opHandle('MPI_SUM')),
        ),
      );
      for (const i of layers.keys())
        expect([...f64(i, 1024)]).toEqual(
          Array.from({ length: N }, (_, k) => others(i).reduce((s, r) => s + r * 100 + k, 0)),
        );
      finish(
        layers.map((l, i) => collectives.allgather(l, inter[i]!, linear(0, 16), linear(1024, 16 * others(i).length))),
      );
      for (const i of layers.keys())
        expect([...f64(i, 1024, 2 * others(i).length)]).toEqual(others(i).flatMap((r) => [r * 100, r * 100 + 1]));
      const twin = finish(layers.map((l, i) => comms.dup(l, inter[i]!))).map((o) => o.result);
      const one = finish(layers.map((l, i) => intercomms.merge(l, twin[i]!, !high(i)))).map((o) => o.result);
      expect(layers.map((l, i) => l.state.comms.rows.get(one[i]!)!.group)).toEqual(
        layers.map(() => [...layers.keys()].sort((a, b) => Number(high(b)) - Number(high(a)) || a - b)),
      );
      // Every communicator of a process has a context of its own, the same at all of its members.
      const contexts = layers.map((l, i) =>
        [half[i]!, inter[i]!, twin[i]!, one[i]!].map((c) => l.state.comms.rows.get(c)!.context),
      );
      for (const [i, mine] of contexts.entries())
        expect([new Set(mine).size, ...mine.slice(1)]).toEqual([4, ...contexts[(i + 1) % size]!.slice(1)]);
    }
  });

  test('makings that overlap in another order at every process do not agree on one context', () => {
    const { layers, finish } = world(3, 7);
    const a = finish(layers.map((l) => comms.dup(l, COMM_WORLD))).map((o) => o.result);
    // Two duplicates under way at once, of two communicators; rank 1 begins with the other one.
    const started = layers.map((l, i) => {
      const parents = i === 1 ? [a[i]!, COMM_WORLD] : [COMM_WORLD, a[i]!];
      const made = parents.map((c) => comms.dup(l, c));
      return i === 1 ? [made[1]!, made[0]!] : made;
    });
    const first = finish(started.map((s) => s[0]!)).map((o, i) => layers[i]!.state.comms.rows.get(o.result)!.context);
    const second = finish(started.map((s) => s[1]!)).map((o, i) => layers[i]!.state.comms.rows.get(o.result)!.context);
    expect([new Set(first).size, new Set(second).size, new Set([...first, ...second]).size]).toEqual([1, 1, 2]);
  });

  test('synchronous sends, posted and unexpected receives', () => {
    for (let seed = 1; seed <= 10; seed++) {
      const { layers, f64, finish, reborn, devices } = world(3, seed);
      f64(1, 0).fill(seed);
      f64(2, 0).fill(-seed);
      const sends = [1, 2].map((i) =>
        p2p.startSend(layers[i]!, COMM_WORLD, 0, 5, new Uint8Array(f64(i, 0).buffer, 0, N * 8), true, 'MPI_Issend'),
      );
      reborn(1);
      // Rank 0 consumes one message before it posts: it waits unexpected, its body over the room and thus in the log.
      expect(p2p.iprobe(layers[0]!, COMM_WORLD, 2, 77)).toBeUndefined();
      expect(heldArrivals(layers[0]!)).toEqual([1]);
      reborn(0);
      const first = p2p.startReceive(layers[0]!, COMM_WORLD, ANY_SOURCE, 5, linear(2048, N * 8), 'MPI_Irecv');
      const second = p2p.startReceive(layers[0]!, COMM_WORLD, 2, 5, linear(4096, N * 8), 'MPI_Irecv');
      finish([second, sends[0]!, sends[1]!]);
      expect(requests.wait(layers[0]!, first).status.source).toBe(1);
      expect([f64(0, 2048)[0], f64(0, 4096)[N - 1]]).toEqual([seed, -seed]);
      expect(devices[0]!.consumed).toBe(2);
    }
  });
});

test('an image of another task or format is refused', () => {
  const { layers } = world(2, 1);
  expect(() => restore(layers[0]!, snapshot(layers[1]!))).toThrow('MPI state of task 1 of 2, this is task 0 of 2');
});
