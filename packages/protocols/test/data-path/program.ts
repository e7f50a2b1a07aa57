/**
 * The program that the random test runs on every task: what it sends depends on everything non-deterministic that it
 * saw (`trace`), so that a replay which differs anywhere sends other bytes; how many messages there are, and the sum of
 * all bodies, depends on nothing.
 */
import { WORLD, WorldMode, taskId, type TaskId } from '@mayfly/wire';

export type Request =
  | { type: 'send'; dst: TaskId; mode: number; body: Uint8Array }
  | { type: 'wait' }
  | { type: 'poll'; most: number }
  | { type: 'clock' }
  | { type: 'place' }
  | { type: 'pull'; arrival: number; size: number }
  | { type: 'open' }
  | { type: 'here'; image: Data };

export interface Got {
  number: number;
  src: TaskId;
  size: number;
  body: Uint8Array | undefined;
}

export interface Data {
  round: number;
  trace: number;
  consumed: number;
  sum: number;
  held: { number: number; size: number }[];
}

export const mix = (a: number, b: number): number => {
  let h = Math.imul(a ^ b, 0x9e3779b1) ^ (a >>> 15);
  h = Math.imul(h ^ (h >>> 13), 0x85ebca6b);
  return (h ^ (h >>> 16)) >>> 0;
};

export interface Shape {
  size: number;
  rounds: number;
  chunk: number;
}

/** Messages of (task, round): destinations and lengths are fixed, contents are not. */
function plan(s: Shape, task: number, round: number): { dst: number; size: number }[] {
  const out = [{ dst: (task + 1) % s.size, size: 8 + (mix(task * 77, round) % 24) }];
  const extra = mix(task, round * 13) % 3;
  for (let i = 0; i < extra; i++) {
    const h = mix(mix(task, round), i + 5);
    out.push({ dst: h % s.size, size: h % 7 === 0 ? 0 : 8 + (h % (s.chunk * 6)) });
  }
  return out;
}

export function expected(s: Shape, task: number): { messages: number; sum: number } {
  let messages = 0;
  let sum = 0;
  for (let src = 0; src < s.size; src++)
    for (let round = 0; round < s.rounds; round++)
      plan(s, src, round).forEach((m, i) => {
        if (m.dst !== task) return;
        messages++;
        if (m.size > 0) sum = (sum + token(src, round, i)) >>> 0;
      });
  return { messages, sum };
}

const token = (src: number, round: number, i: number): number => mix(mix(src, round), i * 31);

function bodyOf(size: number, tok: number, trace: number): Uint8Array {
  const b = new Uint8Array(size);
  if (size === 0) return b;
  const v = new DataView(b.buffer);
  v.setUint32(0, tok, true);
  v.setUint32(4, trace, true);
  for (let i = 8; i < size; i++) b[i] = (trace + i) & 255;
  return b;
}

const valueOf = (body: Uint8Array): number =>
  body.length === 0 ? 0 : new DataView(body.buffer, body.byteOffset).getUint32(0, true);

const text = new TextEncoder();

export function* program(s: Shape, task: number): Generator<Request, void, unknown> {
  let d: Data = { round: 0, trace: task, consumed: 0, sum: 0, held: [] };
  const take = (g: Got): void => {
    d.consumed++;
    d.trace = mix(d.trace, mix(g.src, g.size));
    if (g.body) d.sum = (d.sum + valueOf(g.body)) >>> 0;
    else d.held.push({ number: g.number, size: g.size });
  };
  function* pullAll(): Generator<Request, void, unknown> {
    for (const h of d.held.splice(0))
      d.sum = (d.sum + valueOf((yield { type: 'pull', arrival: h.number, size: h.size }) as Uint8Array)) >>> 0;
  }
  // Prologue: events before checkpoint.open.
  d.trace = mix(d.trace, (yield { type: 'clock' }) as number);
  for (const g of (yield { type: 'poll', most: 1 }) as Got[]) take(g);
  yield { type: 'send', dst: WORLD, mode: WorldMode.STDOUT, body: text.encode(`begin ${task} ${d.trace}\n`) };
  const image = (yield { type: 'open' }) as Data | undefined;
  if (image) d = structuredClone(image);
  for (; d.round < s.rounds; d.round++) {
    yield { type: 'here', image: d };
    let i = 0;
    for (const m of plan(s, task, d.round)) {
      const body = bodyOf(m.size, token(task, d.round, i++), d.trace);
      yield { type: 'send', dst: taskId(m.dst), mode: 0, body };
    }
    for (let p = mix(task, d.round) % 4; p > 0; p--) {
      const got = (yield { type: 'poll', most: 1 + (d.trace % 2) }) as Got[];
      d.trace = mix(d.trace, got.length + 100);
      for (const g of got) take(g);
    }
    if (d.round % 3 === 1) d.trace = mix(d.trace, (yield { type: 'clock' }) as number);
    if (d.round % 5 === 2) d.trace = mix(d.trace, ((yield { type: 'place' }) as string).length);
    while (d.consumed < d.round + 1) take((yield { type: 'wait' }) as Got);
    if (d.trace % 3 === 0) yield* pullAll();
    yield { type: 'send', dst: WORLD, mode: WorldMode.STDOUT, body: text.encode(`${task}.${d.round} ${d.trace}\n`) };
  }
  const end = expected(s, task);
  while (d.consumed < end.messages) take((yield { type: 'wait' }) as Got);
  yield* pullAll();
  yield { type: 'send', dst: WORLD, mode: WorldMode.STDOUT, body: text.encode(`sum ${d.sum}\n`) };
  yield { type: 'send', dst: WORLD, mode: WorldMode.EXIT, body: text.encode('{"code":0}') };
}
