/**
 * Progress: every wait is {@link waitUntil}, every poll is {@link pollUntil}. Both consume arrivals, hand them to
 * matching, and then do what the arrivals have left to do (acknowledge, pull bodies, go on with collectives), which may
 * send.
 *
 * Invariants
 *  P1  A wait consumes nothing when its condition holds at entry, and one arrival at a time otherwise: it is a function
 *      of the arrival order alone and needs no determinant.
 *  P2  Nothing is sent, and no callback of the program runs, while the device polls.
 *  P3  Where a poll stops depends on envelopes and the layer's state only, never on which bodies are there: a replay,
 *      whose flow control may differ, stops at the same arrival.
 *  P4  `deferred` is empty whenever the program runs, and whenever the device waits: the state is then whole, and may
 *      go into an image.
 */
import { WORLD } from '@mayfly/wire';
import { refuse } from './refuse-card.ts';
import { runRounds } from './schedule.ts';
import { arriveAnswer, isAnswer, settleFile } from './files/steps.ts';
import { deliver, pull, retire, sendAck, spread, tellStored, waiting } from './matching.ts';
import { lostPeer } from './failure/broken.ts';
import { arriveNotice, isNotice, settleNotice } from './failure/notice.ts';
import { COMM_WORLD } from './constants.ts';
import { arriveCopy, heard, isCopy, settleCopy } from './ckpt/arrivals.ts';
import { ERR, MPIError } from './errors.ts';
import { arrive as arrivePartitioned, isPartitioned } from './partitioned-arrivals.ts';
import { arrive as arriveOneSided, isOneSided, perform } from './windows/target.ts';
import type { Arrival, WaitReason } from './device.ts';
import type { Layer } from './layer.ts';

/** Does what arrivals have left to do. */
export function settle(layer: Layer): void {
  const { deferred } = layer;
  if (deferred.length === 0) return;
  // Bodies first: a callback of a reduction may grow the program's memory, which detaches the views that they go to.
  for (const d of deferred) if (d.do === 'pull') pull(layer, d.arrival, d.size, d.into);
  for (let i = 0; i < deferred.length; i++) {
    const d = deferred[i]!;
    if (d.do === 'ack') sendAck(layer, d.dst, d.word);
    else if (d.do === 'advance') runRounds(layer, d.request);
    else if (d.do === 'refuse') refuse(layer, d.dst, d.port);
    else if (d.do === 'window') perform(layer, d.window, d.envelope);
    else if (d.do === 'file' || d.do === 'written') settleFile(layer, d);
    else if (d.do === 'notice') {
      settleNotice(layer, d);
      heard(layer);
    } else if (d.do === 'copy') settleCopy(layer, d);
    else if (d.do === 'retire') {
      const r = layer.state.requests.rows.get(d.request);
      if (!r) continue;
      spread(layer, r);
      retire(layer, r);
    }
  }
  deferred.length = 0;
}

/**
 * Thrown out of a wait in which an image is due. The state is whole (P4); the same wait is entered again after the
 * image.
 */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

function enter(layer: Layer, a: Arrival): void {
  if (isAnswer(a)) arriveAnswer(layer, a);
  else if (isNotice(a)) arriveNotice(layer, a);
  else if (a.src === WORLD) deliver(layer, a);
  else if (isOneSided(a.mode)) arriveOneSided(layer, a);
  else if (isPartitioned(a.mode)) arrivePartitioned(layer, a);
  else if (isCopy(a.mode)) arriveCopy(layer, a);
  else deliver(layer, a);
}

/** Changes with every message that is stored, and with most that are taken. */
const weight = (layer: Layer): number => layer.state.unexpectedBytes + waiting(layer);

/**
 * The one wait. Returns when `holds()`; blocks in the device until then. @param reason asked anew for every arrival: a
 * collective waits for another peer in every round
 */
export function waitUntil(layer: Layer, holds: () => boolean, reason: () => WaitReason): void {
  while (!holds()) {
    const before = weight(layer);
    const why = reason();
    const lost = layer.state.failures && lostPeer(layer, why.peer, why.call);
    if (lost) throw new MPIError(lost.errorClass, lost.call, lost.text);
    const arrival = layer.device.wait(why);
    if (!arrival) throw new Interrupted();
    enter(layer, arrival);
    settle(layer);
    if (weight(layer) !== before) tellStored(layer);
    if (layer.state.failures?.broken) leaveBroken(layer, why.call);
  }
}

/** F4 (failure/recovery.ts): a wait ends with the news of a loss, but that for the recovery, and for standard input. */
function leaveBroken(layer: Layer, call: string): void {
  if (layer.state.failures!.recovering !== undefined || !call.startsWith('MPI')) return;
  throw new MPIError(ERR.OTHER, call, 'a rank of MPI_COMM_WORLD was lost meanwhile', COMM_WORLD);
}

/**
 * The one poll. True when `holds()`; looks at what has arrived, and waits for nothing. A collective that an arrival
 * lets go on may send, and so may a one-sided operation or an answer of the file service, whether or not its body is
 * there (P3): the poll stops there, and another one follows.
 */
export function pollUntil(layer: Layer, holds: () => boolean): boolean {
  if (holds()) return true;
  const before = weight(layer);
  for (;;) {
    let stopped = false;
    layer.device.poll((arrival) => {
      enter(layer, arrival);
      return (stopped =
        isAnswer(arrival) ||
        isNotice(arrival) ||
        isCopy(arrival.mode) ||
        isOneSided(arrival.mode) ||
        layer.deferred.some((d) => d.do === 'advance') ||
        holds());
    });
    settle(layer);
    if (holds() || !stopped) break;
  }
  if (weight(layer) !== before) tellStored(layer);
  return holds();
}
