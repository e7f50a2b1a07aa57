/**
 * Operation-level checkpoints (Tang, Fagg, Dongarra, "Proposal of MPI operation level checkpoint/rollback", §3.1):
 * open, register, here, rollback, remove, control, close over the host's images.
 *
 * Owns: the registered data, the sections of the image that this incarnation began from. Two sections are its own:
 * 'arrays', the bytes of registered typed arrays one behind the other, and 'data', an index (codec.ts) that names them
 * and holds the other values. 'mpi' is the layer's state.
 *
 * Invariants
 *  K1  An image is taken only inside `here`, with no request pending and no communicator alive that `open` did not
 *      know: what a restarted program cannot get back is never in it.
 *  K2  Whether `here` takes an image is not visible to the program: it checks the same either way, and returns nothing.
 *  K3  Every tag of the image that the incarnation began from is registered again, rolled back or removed before the
 *      next image, so images do not lose data silently.
 */
import { MalformedValue, Unencodable, decodeValue, encodeValue } from '../codec.ts';
import { ERR, fail } from '../errors.ts';
import { heldArrivals, pendingRequests, restore, snapshot } from '../snapshot.ts';
import { checkDataOf, checkTagOf, entriesOf, putBack, show, type Entry, type Tag } from './checkpoint-data.ts';
import type { Context } from './context.ts';
import { sharedCheckpoints } from './shared-checkpoint.ts';
import type { RestoredImage } from './runtime.ts';
import type * as Mayfly from '../../types/mayfly.d.ts';

interface Index {
  entries: Entry[];
  /** Images of the rank until this one, it included; absent in older ones. */
  images?: number;
  intervalMs: number | undefined;
}

export function checkpoints(context: Context): typeof Mayfly.checkpoint {
  if (context.layer.device.tellsLosses) return sharedCheckpoints(context);
  const { layer, runtime } = context;
  const registered = new Map<Tag, Mayfly.Buffer | Mayfly.Kept | object>();
  /** What the image that this incarnation began from holds and nobody has claimed yet. */
  const unclaimed = new Map<Tag, Entry>();
  let arrays: Uint8Array = new Uint8Array(0);
  let state: 'before' | 'open' | 'closed' = 'before';
  let restarted = false;
  /** First communicator handle that the prologue has not made. */
  let firstNewComm = 0;
  /** Persistent requests of the prologue. */
  let early = new Set<object>();
  let interval: number | undefined;

  const bad = (call: string, why: string): never => fail(ERR.CHECKPOINT, `checkpoint.${call}`, why);
  const checkTag = (tag: unknown, call: string): void => checkTagOf(tag, (why) => bad(call, why));
  const options = (o: Mayfly.CheckpointOptions | undefined, call: string): void => {
    if (o?.intervalMs === undefined) return;
    if (typeof o.intervalMs !== 'number' || !(o.intervalMs >= 0))
      bad(call, `intervalMs ${String(o.intervalMs)} is not a number ≥ 0`);
    interval = o.intervalMs;
    runtime.setCheckpointInterval(interval);
  };
  const checkData = (data: unknown, call: string): void => checkDataOf(data, (why) => bad(call, why));

  function take(image: RestoredImage): void {
    const { mpi, data } = image;
    if (!mpi || !data) return bad('open', 'the image lacks a section');
    try {
      const index = decodeValue(data) as Index;
      context.images = index.images ?? 1;
      for (const e of index.entries) unclaimed.set(e.tag, e);
      arrays = image['arrays'] ?? arrays;
      restore(layer, mpi);
      if (index.intervalMs !== undefined) options({ intervalMs: index.intervalMs }, 'open');
    } catch (e) {
      if (e instanceof MalformedValue) bad('open', `the image cannot be read: ${e.message}`);
      throw e;
    }
  }

  /** Checks of `here` that hold whether or not an image is due (K2). */
  function mayTake(): void {
    const pending = pendingRequests(layer)[0];
    if (pending) bad('here', `a request of ${pending.call} is pending; wait for it (or free it) first`);
    for (const c of layer.state.comms.rows.values())
      if (c.handle >= firstNewComm)
        bad(
          'here',
          `${c.name} was made after checkpoint.open, a restarted program could not get it back; make it ` +
            'before open, or free it first',
        );
    const message = [...layer.state.messages.rows.values()][0];
    if (message) bad('here', 'a message of a matched probe was not received yet; receive it first');
    for (const r of context.persistent)
      if (!early.has(r))
        bad(
          'here',
          `the persistent request of ${r.title} was made after checkpoint.open, a restarted program could ` +
            'not get it back; make it before open, or free it first',
        );
    const lost = [...unclaimed.keys()].find((tag) => !registered.has(tag));
    if (lost !== undefined)
      bad(
        'here',
        `the image that this rank restarted from holds data under tag ${show(lost)}, which is neither ` +
          'registered nor rolled back nor removed now',
      );
  }

  function save(): void {
    const { entries, parts } = entriesOf(registered);
    let index: Uint8Array;
    // The image that is taken now counts: it is behind whoever goes on from it.
    context.images++;
    try {
      index = encodeValue(
        { entries, intervalMs: interval, images: context.images } satisfies Index,
        'the registered data',
      );
    } catch (e) {
      if (e instanceof Unencodable) return bad('here', e.message);
      throw e;
    }
    runtime.saveCheckpoint({
      sections: [
        { name: 'arrays', parts },
        { name: 'data', parts: [index] },
        { name: 'mpi', parts: [snapshot(layer)] },
      ],
      held: heldArrivals(layer),
    });
  }

  function rollback(tag: Tag, into?: Mayfly.Buffer | Mayfly.Kept | object): unknown {
    const call = 'rollback';
    checkTag(tag, call);
    if (!restarted) bad(call, 'this rank has not been restarted: ask `restarted` of checkpoint.open first');
    const e = unclaimed.get(tag);
    if (!e) return bad(call, `the image holds no data under tag ${show(tag)}, or it was rolled back before`);
    const { result, holds } = putBack(e, arrays, into ?? registered.get(tag), (why) => bad(call, why));
    if (holds) registered.set(tag, holds);
    // A value that nothing holds on to (a number of get and set) stays unclaimed until it is registered.
    if (registered.has(tag)) unclaimed.delete(tag);
    return result;
  }

  return {
    open: (o) =>
      context.call(() => {
        if (state !== 'before') bad('open', 'called a second time');
        const pending = pendingRequests(layer)[0];
        if (pending) bad('open', `a request of ${pending.call} is pending; wait for it (or free it) first`);
        options(o, 'open');
        firstNewComm = layer.state.comms.next;
        early = new Set(context.persistent);
        const image = runtime.openCheckpoint();
        state = 'open';
        if (image) {
          restarted = true;
          take(image);
        }
        return { restarted };
      }),
    register: (tag, data) =>
      context.call(() => {
        checkTag(tag, 'register');
        checkData(data, 'register');
        registered.set(tag, data);
      }),
    here: (force = false) =>
      context.call(() => {
        if (state === 'before') bad('here', 'checkpoint.open comes first');
        if (state === 'closed') return;
        mayTake();
        if (runtime.checkpointDue(force)) save();
      }),
    rollback: <T>(tag: Tag, into?: Mayfly.Buffer | Mayfly.Kept | object) =>
      context.call(() => rollback(tag, into)) as T,
    remove: (tag) =>
      context.call(() => {
        checkTag(tag, 'remove');
        const was = registered.delete(tag);
        if (!unclaimed.delete(tag) && !was) bad('remove', `nothing is registered under tag ${show(tag)}`);
      }),
    control: (o) => context.call(() => options(o, 'control')),
    close: () =>
      context.call(() => void (state = state === 'before' ? bad('close', 'checkpoint.open comes first') : 'closed')),
  };
}
