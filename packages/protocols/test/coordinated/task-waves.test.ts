/** What the comm worker of a task does in waves of `pcl` (M8, M9, Z1–Z3). */
import {
  Flag,
  Kind,
  WORLD,
  WorldMode,
  emptyHeader,
  encodeFrame,
  incarnation,
  readFrames,
  taskId,
  type Header,
} from '@mayfly/wire';
import { expect, it } from 'vitest';
import { Comm, protocols, type CommEffect, type CommEvent } from '../../src/index.ts';
import { startOf } from '../../src/coordinated/position.ts';

const T = taskId;
const json = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));

/** Task 0 of 3 under `pcl`, with two Channel Memories: messages to task 1 go to the second one. */
class Desk {
  readonly comm = new Comm({ size: 3, channelMemories: 2, policy: protocols.pcl.commd });
  effects: CommEffect[] = [];
  #sent = 0;

  constructor() {
    for (const cm of [0, 1]) this.step({ type: 'connected', cm });
    const [task, capability, nonce, position] = [T(0), 'c', 'nonce-nonce', startOf('pcl')];
    this.step({ type: 'start', task, incarnation: incarnation(0), capability, nonce, position });
    for (const cm of [0, 1]) this.attached(cm);
    this.effects = [];
  }

  step(e: CommEvent): void {
    this.effects.push(...this.comm.step(e));
  }
  attached(cm: number): void {
    this.down(cm, Kind.ATTACHED, {}, json({ received: [], arrivals: 0, determinants: [] }));
  }
  down(cm: number, kind: number, over: Partial<Header> = {}, body?: Uint8Array): void {
    this.step({ type: 'received', cm, bytes: encodeFrame({ ...emptyHeader(kind), dst: T(0), ...over }, body) });
  }
  ring(h: Partial<Header> & { kind: number }, body: Uint8Array = new Uint8Array(8)): void {
    this.step({ type: 'ring', task: T(0), bytes: encodeFrame({ ...emptyHeader(h.kind), src: T(0), ...h }, body) });
  }
  /** Message to task 1. */
  sends(bytes = 8): void {
    this.ring(
      { kind: Kind.DATA, dst: T(1), channel: ++this.#sent, flags: Flag.LAST, size: bytes },
      new Uint8Array(bytes),
    );
  }
  marks(): void {
    this.ring({ kind: Kind.MARK }, json({ sends: [[1, this.#sent]] }));
  }
  image(): void {
    const cut = { arrivals: 0, sends: [[T(1), this.#sent] as [typeof WORLD, number]], receives: [], held: [] };
    this.step({ type: 'image', task: T(0), position: { protocol: 'pcl', version: 1, at: { wave: 0, cut } } });
  }
  /** What has happened since the last call: frames to Channel Memory 1 by kind and message, and other effects. */
  news(cm = 1): string[] {
    const all = this.effects;
    this.effects = [];
    return all.flatMap((e) => {
      if (e.type !== 'send') return e.type === 'image' ? [e.position ? 'image' : 'no image'] : [e.type];
      if (e.cm !== cm) return [];
      const name = (kind: number) => Object.entries(Kind).find(([, k]) => k === kind)![0];
      return readFrames(e.bytes).map(({ header: h }) => (h.kind === Kind.DATA ? `message ${h.channel}` : name(h.kind)));
    });
  }
}

it('Z1 "a process does not send any other message through the same channel until it takes its checkpoint"', () => {
  const d = new Desk();
  d.sends();
  d.down(0, Kind.WAVE, { word: 1 });
  expect(d.news()).toEqual(['message 1', 'mark']);
  d.sends();
  d.marks();
  d.sends();
  d.sends();
  expect(d.news()).toEqual(['message 2', 'MARK']);
  d.down(0, Kind.FLUSHED, { word: 1 });
  expect(d.news()).toEqual(['checkpoint']);
  d.image();
  d.sends();
  expect(d.news()).toEqual(['CUT', 'message 3', 'message 4', 'image', 'message 5']);
});

it('M9 an image that was asked for in an earlier wave does not count before the channels are flushed', () => {
  const d = new Desk();
  d.down(0, Kind.WAVE, { word: 1 });
  d.marks();
  d.down(0, Kind.FLUSHED, { word: 1 });
  d.down(0, Kind.WAVE, { word: 2 });
  d.marks();
  d.image();
  expect(d.news()).toEqual(['mark', 'MARK', 'checkpoint', 'mark', 'MARK', 'no image']);
  d.down(0, Kind.FLUSHED, { word: 1 });
  expect(d.news()).toEqual([]);
  d.down(0, Kind.FLUSHED, { word: 2 });
  expect(d.news()).toEqual(['checkpoint']);
});

it.each<[string, (d: Desk) => void]>([
  ['its end is told', (d) => d.down(0, Kind.WAVE_OVER, { word: 7 })],
  ['the next one begins', (d) => d.down(0, Kind.WAVE, { word: 8 })],
  ['the Channel Memory is back, and none is under way', (d) => d.down(0, Kind.WAVE, { word: 0 })],
])('Z2 a wave that is given up lets everything go: %s', (_, over) => {
  const d = new Desk();
  d.down(0, Kind.WAVE, { word: 7 });
  d.marks();
  d.sends();
  d.news();
  over(d);
  d.sends();
  expect(d.news().filter((n) => n !== 'mark')).toEqual(['message 1', 'message 2']);
});

it('M9 a rank that ends between mark and image has no image: all that it sent leaves before its end', () => {
  const d = new Desk();
  d.down(0, Kind.WAVE, { word: 1 });
  d.marks();
  d.sends();
  d.ring({ kind: Kind.DATA, dst: WORLD, mode: WorldMode.EXIT, channel: 1, flags: Flag.LAST, size: 8 });
  expect(d.news()).toEqual(['mark', 'MARK', 'message 1', 'DETERMINANTS']); // which asks for a sync
});

it('M8, M9 over a new connection mark and cut leave again, before any message', () => {
  const d = new Desk();
  d.down(0, Kind.WAVE, { word: 1 });
  d.marks();
  d.sends();
  d.step({ type: 'disconnected', cm: 1 });
  d.down(0, Kind.FLUSHED, { word: 1 });
  d.image();
  d.sends();
  d.step({ type: 'connected', cm: 1 });
  d.news();
  d.attached(1);
  expect(d.news()).toEqual(['MARK', 'CUT', 'message 1', 'message 2']);
});

it('Z3 who holds back too much tells its home, once a wave, and again over a new connection', () => {
  const d = new Desk();
  d.down(0, Kind.WAVE, { word: 1 });
  d.marks();
  for (let i = 0; i < 12; i++) d.sends(3 * 2 ** 20);
  expect(d.news(0)).toEqual(['mark', 'MARK', 'CANNOT']);
  expect(d.comm.retained(T(0))).toBeGreaterThan(36 * 2 ** 20);
  d.step({ type: 'disconnected', cm: 0 });
  d.step({ type: 'connected', cm: 0 });
  d.news();
  d.attached(0);
  expect(d.news(0)).toEqual(['MARK', 'CANNOT', 'CREDIT']);
});

it('a rank that writes what is no mark, or no rank of `pcl` writes one, breaks its ring', () => {
  const d = new Desk();
  d.down(0, Kind.WAVE, { word: 1 });
  expect(() => d.ring({ kind: Kind.MARK }, json({ sends: [[1, -1]] }))).toThrow(RangeError);
  expect(() => d.ring({ kind: Kind.MARK })).toThrow(SyntaxError);
  const comm = new Comm({ size: 3, channelMemories: 1, policy: protocols.vcl.commd });
  const [task, capability, nonce, position] = [T(0), 'c', 'nonce-nonce', startOf('vcl')];
  comm.step({ type: 'start', task, incarnation: incarnation(0), capability, nonce, position });
  const mark = encodeFrame({ ...emptyHeader(Kind.MARK), src: T(0) }, json({ sends: [] }));
  expect(() => comm.step({ type: 'ring', task, bytes: mark })).toThrow(RangeError);
});
