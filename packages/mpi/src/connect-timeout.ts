/**
 * The time-out of MPI_Comm_connect. MPI 4.1 §11.9.3: "If the port exists, but does not have a pending MPI_COMM_ACCEPT,
 * the connection attempt will eventually time out after an implementation-defined time, or succeed when the server
 * calls MPI_COMM_ACCEPT. In the case of a time out, MPI_COMM_CONNECT raises an error of class MPI_ERR_PORT."
 *
 * The root of the connect waits by polls and readings of the job's clock. Both are logged, so a replay decides the
 * same. Nothing else decides: a rest between two polls may end early or late.
 *
 * Invariants
 *  T1  Each card that is sent to a port gets exactly one answer. At the time-out the root sends a withdrawal behind its
 *      card and waits for that answer. The port's task refuses a card that it still has; if it has accepted the card,
 *      it ignores the withdrawal. So the two sides agree on whether they have met.
 *  T2  A card and its withdrawal take the same channel. A task has one card under way at most, as the call blocks.
 */
import { taskId } from '@mayfly/wire';
import { ANSWERS, CARDS, Mode, WITHDRAWN } from './constants.ts';
import { ERR } from './errors.ts';
import type { Layer } from './layer.ts';
import { Interrupted, pollUntil, waitUntil } from './progress.ts';
import type { WaitReason } from './device.ts';
import type { CollectiveRequest, ReceiveRequest } from './state.ts';

/** Seconds; as MPICH has it. */
export const CONNECT_SECONDS = 180;
/** The clock is read at least so often, ms. */
const REST_MS = 1000;

/** The connect's root is to wait for an accept no longer than this. */
export function limit(layer: Layer, request: number, seconds: number): void {
  const r = layer.state.requests.rows.get(request);
  if (r?.kind === 'coll') r.timeout = { ms: 1000 * seconds };
}

/** The receive of the port's answer, while it waits. */
function answerOf(layer: Layer, r: CollectiveRequest): ReceiveRequest | undefined {
  const { posted, requests } = layer.state;
  const handle = posted.get(ANSWERS)?.find((h) => requests.rows.get(h)?.parent === r.handle);
  return handle === undefined ? undefined : (requests.rows.get(handle) as ReceiveRequest);
}

/**
 * Waits until the port has answered or the request's time-out is over; then the card is withdrawn. The request may be
 * far from complete afterwards. May be entered again after {@link Interrupted}.
 */
export function waitForAnswer(layer: Layer, r: CollectiveRequest, reason: () => WaitReason): void {
  waitUntil(layer, () => r.done || answerOf(layer, r) !== undefined, reason);
  while (r.timeout && !pollUntil(layer, () => r.done || !answerOf(layer, r))) {
    const now = layer.device.clock();
    r.timeout.until ??= now + r.timeout.ms;
    if (now >= r.timeout.until) withdraw(layer, r, answerOf(layer, r)!);
    else if (layer.device.rest?.(reason(), Math.min(r.timeout.until - now, REST_MS)) === false) throw new Interrupted();
  }
  r.timeout = undefined;
}

/** T1. */
function withdraw(layer: Layer, r: CollectiveRequest, answer: ReceiveRequest): void {
  for (const step of r.rounds.flat())
    if (step.op === 'comm' && step.make.how === 'inter')
      step.make.wrong = {
        errorClass: ERR.PORT,
        text: `task ${answer.source} did not accept at its port ${answer.tag} within ${r.timeout!.ms / 1000} s`,
      };
  r.timeout = undefined;
  layer.device.send(taskId(answer.source), Mode.STANDARD, CARDS, answer.tag, WITHDRAWN, new Uint8Array(0));
}
