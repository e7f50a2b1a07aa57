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
import { typeOfArray, type ElementArray } from '../datatypes.ts';
import { ERR, fail } from '../errors.ts';
import { heldArrivals, pendingRequests, restore, snapshot } from '../snapshot.ts';
import { describe, type Context } from './context.ts';
import type { RestoredImage } from './runtime.ts';
import type * as Mayfly from '../../types/mayfly.d.ts';

type Tag = Mayfly.CheckpointTag;

/** One entry of the index. */
type Entry = { tag: Tag; array: { type: string; offset: number; bytes: number } } | { tag: Tag; value: unknown };
interface Index {
  entries: Entry[];
  /** Images of the rank until this one, it included; absent in older ones. */
  images?: number;
  intervalMs: number | undefined;
}

const pad8 = (n: number): number => (n + 7) & ~7;
const PADDING = new Uint8Array(8);

const isKept = (data: unknown): data is Mayfly.Kept =>
  typeof data === 'object' &&
  data !== null &&
  !(data instanceof Map) &&
  typeof (data as Mayfly.Kept).get === 'function' &&
  typeof (data as Mayfly.Kept).set === 'function';

const asBytes = (a: ElementArray): Uint8Array => new Uint8Array(a.buffer, a.byteOffset, a.byteLength);
const show = (tag: Tag): string => (typeof tag === 'string' ? `'${tag}'` : String(tag));

/** Gives an object the content of another of the same kind, so that references to it stay valid. */
function assign(into: object, from: unknown): boolean {
  if (Array.isArray(into) && Array.isArray(from)) {
    into.length = 0;
    for (const x of from) into.push(x);
  } else if (into instanceof Map && from instanceof Map) {
    into.clear();
    for (const [k, v] of from) into.set(k, v);
  } else if (into instanceof Set && from instanceof Set) {
    into.clear();
    for (const v of from) into.add(v);
  } else {
    const plain = (o: unknown): boolean =>
      typeof o === 'object' &&
      o !== null &&
      !Array.isArray(o) &&
      !ArrayBuffer.isView(o) &&
      !(o instanceof Map) &&
      !(o instanceof Set);
    if (!plain(into) || !plain(from)) return false;
    for (const key of Object.keys(into))
      if (!Object.hasOwn(from as object, key)) delete (into as Record<string, unknown>)[key];
    Object.assign(into, from);
  }
  return true;
}

export function checkpoints(context: Context): typeof Mayfly.checkpoint {
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
  const checkTag = (tag: unknown, call: string): void => {
    if (!(typeof tag === 'string' && tag.length > 0) && !(typeof tag === 'number' && Number.isInteger(tag)))
      bad(call, `the tag is ${describe(tag)}: it has to be a word or a whole number`);
  };
  const options = (o: Mayfly.CheckpointOptions | undefined, call: string): void => {
    if (o?.intervalMs === undefined) return;
    if (typeof o.intervalMs !== 'number' || !(o.intervalMs >= 0))
      bad(call, `intervalMs ${String(o.intervalMs)} is not a number ≥ 0`);
    interval = o.intervalMs;
    runtime.setCheckpointInterval(interval);
  };
  const checkData = (data: unknown, call: string): void => {
    if (typeOfArray(data) || isKept(data)) return;
    if (typeof data !== 'object' || data === null)
      bad(call, `the data is ${describe(data)}: a typed array, an object, or { get, set } can be registered`);
    try {
      encodeValue(data, 'the data');
    } catch (e) {
      if (e instanceof Unencodable) bad(call, e.message);
      throw e;
    }
  };

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
    const parts: Uint8Array[] = [];
    const entries: Entry[] = [];
    let offset = 0;
    for (const [tag, data] of registered) {
      const type = typeOfArray(data);
      if (type) {
        const bytes = asBytes(data as ElementArray);
        parts.push(bytes);
        if (bytes.length % 8) parts.push(PADDING.subarray(0, pad8(bytes.length) - bytes.length));
        entries.push({ tag, array: { type: type.array.name, offset, bytes: bytes.length } });
        offset += pad8(bytes.length);
      } else entries.push({ tag, value: isKept(data) ? data.get() : data });
    }
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
    const target = into ?? registered.get(tag);
    let result: unknown;
    if ('array' in e) {
      const bytes = arrays.subarray(e.array.offset, e.array.offset + e.array.bytes);
      const wanted = target === undefined ? undefined : typeOfArray(target);
      if (target !== undefined && wanted?.array.name !== e.array.type)
        bad(call, `tag ${show(tag)} holds a ${e.array.type}, the data to restore is ${describe(target)}`);
      const array = (target ?? newArray(e.array.type, e.array.bytes)) as ElementArray;
      if (array.byteLength !== e.array.bytes)
        bad(
          call,
          `tag ${show(tag)} holds ${e.array.bytes / array.BYTES_PER_ELEMENT} elements, the array has ${array.length}`,
        );
      asBytes(array).set(bytes);
      registered.set(tag, array);
      result = array;
    } else if (target !== undefined && isKept(target)) {
      target.set(e.value);
      registered.set(tag, target);
      result = e.value;
    } else if (target !== undefined) {
      if (typeOfArray(target) || !assign(target, e.value))
        bad(call, `tag ${show(tag)} holds ${describe(e.value)}, the data to restore is ${describe(target)}`);
      registered.set(tag, target);
      result = target;
    } else {
      if (typeof e.value === 'object' && e.value !== null) registered.set(tag, e.value);
      result = e.value;
    }
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

function newArray(type: string, bytes: number): ElementArray {
  const make = {
    Int8Array,
    Uint8Array,
    Uint8ClampedArray,
    Int16Array,
    Uint16Array,
    Int32Array,
    Uint32Array,
    Float32Array,
    Float64Array,
    BigInt64Array,
    BigUint64Array,
  }[type];
  if (!make) throw new MalformedValue(`unknown array type ${type}`);
  return new make(new ArrayBuffer(bytes));
}
