/** What a V-protocol that is not here yet can decide at a Channel Memory: epochs, when output is shown, a stage. */
import { Flag, Kind, WorldMode, emptyHeader, encodeFrame } from '@mayfly/wire';
import { describe, expect, it } from 'vitest';
import { arrives } from '../../src/channel-memory/deliver.ts';
import type { LogStage, WholeMessage } from '../../src/channel-memory/stage.ts';
import type { State } from '../../src/channel-memory/state.ts';
import { protocols, type LogPolicy } from '../../src/index.ts';
import { Bench, T } from './bench.ts';

const { log } = protocols.pessimistic;
const logged = (b: Bench, stream: string): number => b.logs.get(stream)!.length;

describe('an epoch', () => {
  const rollsBack: LogPolicy = { ...log, refuses: () => undefined };

  it('is the one of the attachment: frames of an earlier one end the connection, and nothing of them is logged', () => {
    const b = new Bench({}, rollsBack);
    b.attach(1, 0, { epoch: 3 });
    b.send(1, 0, 1, 1, 8, { epoch: 3 });
    expect(logged(b, 't1')).toBe(1);
    b.send(1, 0, 1, 2, 8, { epoch: 2 });
    expect(logged(b, 't1')).toBe(1);
    expect(b.effects.findLast((e) => e.type === 'close')).toMatchObject({ conn: 1, error: { code: 'BAD_FRAME' } });
  });

  it.each(['pessimistic', 'none'] as const)('other than the first one is refused by %s', (name) => {
    const b = new Bench({}, name);
    b.attach(1, 0, { epoch: 1 });
    expect(b.take(Kind.ATTACHED)).toEqual([]);
    expect(b.take(Kind.REFUSED)).toHaveLength(1);
  });
});

it('output waits until its protocol shows it, in order, and EXIT behind it', () => {
  let line = 0;
  const b = new Bench({}, { ...log, shows: (_task, channel) => channel <= line });
  const seen = (): number[] => b.effects.flatMap((e) => (e.type === 'world' ? [e.channel] : []));
  b.attach(1, 0);
  b.send(1, 0, -1, 1);
  b.send(1, 0, -1, 2);
  b.send(1, 0, -1, 3, 8, { mode: WorldMode.EXIT });
  expect(seen()).toEqual([]);
  line = 2;
  b.attach(2, 1);
  expect(seen()).toEqual([1, 2]);
  line = 3;
  b.attach(3, 2);
  expect(seen()).toEqual([1, 2, 3]);
});

describe('a stage of its own', () => {
  /** Every second message of a channel waits until the next sync is done, in a stream of the stage. */
  class EverySecond implements LogStage {
    readonly letter = 'x';
    readonly #s: State;
    readonly #held: WholeMessage[] = [];
    readonly #seen: string[];
    constructor(s: State, seen: string[]) {
      this.#s = s;
      this.#seen = seen;
    }
    streams(): [] {
      return [];
    }
    grow(size: number): void {
      this.#seen.push(`grow ${size}`);
    }
    recover(): void {
      throw new Error('it has no stream');
    }
    step(): boolean {
      return false;
    }
    holds({ count }: { count: number }): boolean {
      return count % 2 === 0;
    }
    hold(_d: unknown, message: WholeMessage): void {
      this.#held.push(message);
    }
    numbered(dst: number, number: number, src: number, channel: number): void {
      this.#seen.push(`${src}#${channel} is arrival ${number} of ${dst}`);
    }
    synced(): void {
      for (const m of this.#held.splice(0)) {
        const { channel, header, view, at, frame, record, partial } = m;
        arrives(this.#s, this.#s.destinations[channel.dst]!, channel, header, view, at, frame, record, partial);
      }
    }
    spares(): number[] {
      return this.#held.flatMap((m) => m.partial?.lsns ?? []);
    }
    keepsBack(task: number): number {
      return this.#held.filter((m) => m.channel.dst === task).length;
    }
  }
  const withStage = (seen: string[]): Bench =>
    new Bench({}, { ...log, stages: { letters: [], begin: (s) => [new EverySecond(s, seen)] } });

  it('holds messages that count already, and gives them their number later', () => {
    const seen: string[] = [];
    const b = withStage(seen);
    b.attach(1, 0);
    b.attach(2, 1);
    b.autoSync = false;
    for (const channel of [1, 2, 3]) b.send(1, 0, 1, channel);
    b.send(1, 0, 1, 4, 200);
    const arrived = (): number[][] =>
      b.take(Kind.ARRIVAL).flatMap(({ header: h }) => (h.flags & Flag.LAST ? [[h.channel, h.arrival]] : []));
    expect(arrived()).toEqual([
      [1, 1],
      [3, 2],
    ]);
    expect(b.core.logged(T(0), T(1)), 'their sender may forget them').toBe(4);
    expect(b.core.observe(T(1)).bodiesUnderWay).toBe(2);
    b.autoSync = true;
    b.step({ type: 'tick' });
    b.step({ type: 'tick' });
    expect(b.core.observe(T(1)).bodiesUnderWay).toBe(0);
    expect(arrived()).toEqual([
      [2, 3],
      [4, 4],
    ]);
    expect(seen).toEqual([
      'grow 4',
      '0#1 is arrival 1 of 1',
      '0#3 is arrival 2 of 1',
      '0#2 is arrival 3 of 1',
      '0#4 is arrival 4 of 1',
    ]);
  });

  it('need not know a kind of frame: one that no stage knows ends the connection', () => {
    const b = withStage([]);
    b.attach(1, 0);
    const h = emptyHeader(Kind.CUT);
    h.src = h.dst = T(0);
    b.frame(1, encodeFrame(h, new TextEncoder().encode('{}')));
    expect(b.effects.findLast((e) => e.type === 'close')).toMatchObject({ conn: 1, error: { code: 'BAD_FRAME' } });
  });
});
