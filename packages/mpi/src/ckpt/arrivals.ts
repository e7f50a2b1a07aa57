/**
 * What comes for a team of operation-level checkpoints: copies and counts from its members, losses and decisions from
 * the membership service. And what the team answers to it: it may send, so this runs when arrivals are settled.
 */
import { taskId } from '@mayfly/wire';
import { Mode } from '../constants.ts';
import { lostOf } from '../failure/broken.ts';
import { rankOfTask, type Deferred, type Layer } from '../layer.ts';
import { pull } from '../matching.ts';
import type { Arrival } from '../device.ts';
import type { Checkpoints, Early, Membership } from './state.ts';
import type { TeamEffect, TeamEvent } from './team.ts';

const NONE = new Uint8Array(0);

const KINDS: readonly number[] = [Mode.COPY, Mode.COUNT, Mode.SKIP, Mode.TERM, Mode.SHARE];
export const isCopy = (mode: number): boolean => KINDS.includes(mode & Mode.KIND);

/** Its body may still be in the log: later (progress.ts). */
export function arriveCopy(layer: Layer, { body, ...arrival }: Arrival): void {
  layer.deferred.push({ do: 'copy', arrival, body: body?.slice() });
}

export function settleCopy(layer: Layer, d: Extract<Deferred, { do: 'copy' }>): void {
  const { ckpt } = layer;
  const { arrival } = d;
  let { body } = d;
  if (!body) {
    body = new Uint8Array(arrival.size);
    if (arrival.size > 0) pull(layer, arrival.number, arrival.size, body);
  }
  const early: Early = { mode: arrival.mode, src: arrival.src, tag: arrival.tag, word: arrival.word, body };
  for (const m of [ckpt?.joining, ckpt?.present]) {
    if (!m || layer.state.comms.rows.get(m.comm)?.context !== arrival.context) continue;
    if (m.team) take(layer, m as Membership, early);
    else ckpt!.joining!.early.push(early);
    return;
  }
}

/** Hands on what came before the team had begun here. */
export function takeEarly(layer: Layer, m: Membership, early: readonly Early[]): void {
  for (const e of early) take(layer, m, e);
}

function take(layer: Layer, m: Membership, e: Early): void {
  const kind = e.mode & Mode.KIND;
  const { group } = layer.state.comms.rows.get(m.comm)!;
  const data = DATA[kind];
  step(
    layer,
    m,
    data
      ? { type: data, round: e.tag, of: e.word, bytes: e.body }
      : kind === Mode.COUNT
        ? { type: 'count', round: e.tag, from: rankOfTask(group, e.src), count: e.word }
        : { type: 'skip', step: e.tag },
  );
}
const DATA: Readonly<Record<number, 'copy' | 'term' | 'share'>> = {
  [Mode.COPY]: 'copy',
  [Mode.TERM]: 'term',
  [Mode.SHARE]: 'share',
};
const MODE_OF = { copy: Mode.COPY, term: Mode.TERM, share: Mode.SHARE };

/** A notice has come: somebody may be lost, something may be decided. */
export function heard(layer: Layer): void {
  const { ckpt } = layer;
  if (!ckpt) return;
  for (const m of [ckpt.present, ckpt.joining]) {
    if (!m?.team) continue;
    decide(layer, m as Membership);
    const comm = layer.state.comms.rows.get(m.comm);
    if (comm && lostOf(layer, comm).length > 0) step(layer, m as Membership, { type: 'lost' });
  }
}

function decide(layer: Layer, m: Membership): void {
  const decided = m.request === 0 ? undefined : layer.ckpt!.service?.decided(m.request);
  if (!decided) return;
  m.request = 0;
  step(layer, m, { type: 'decided', ...decided });
}

/** Something has happened to a team. */
export function step(layer: Layer, m: Membership, e: TeamEvent): void {
  for (const x of m.team.step(e)) act(layer, m, x);
}

function act(layer: Layer, m: Membership, e: TeamEffect): void {
  if (e.type === 'contribute') {
    m.request = layer.ckpt!.service!.contribute(m.comm, e.word);
    return;
  }
  const comm = layer.state.comms.rows.get(m.comm)!;
  const to = comm.group[e.to]!;
  if (layer.state.failures?.lost.includes(to)) return;
  if (e.type === 'count') layer.device.send(taskId(to), Mode.COUNT, comm.context, e.round, e.count >>> 0, NONE);
  else if (e.type === 'skip') layer.device.send(taskId(to), Mode.SKIP, comm.context, e.step, 0, NONE);
  else layer.device.send(taskId(to), MODE_OF[e.type], comm.context, e.round, e.of, e.bytes);
}

/** The open checkpoints. */
export const openOf = (layer: Layer): (Checkpoints & { present: Membership }) | undefined => {
  const { ckpt } = layer;
  return ckpt?.open && ckpt.present ? (ckpt as Checkpoints & { present: Membership }) : undefined;
};
