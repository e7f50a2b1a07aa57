/**
 * `checkpoint.*` in a job whose losses the program hears of (protocol `app`): checkpoints of all processes together, as
 * MPI_Ckpt_open and its kin have them (../ckpt, docs/mpi-ckpt.md). The registered data of a process are one piece of
 * bytes: the length of the index, the index (codec.ts), then the typed arrays.
 *
 * Owns: the registered data, and the checkpoint that was read last.
 */
import { pad8 } from '@mayfly/wire';
import { MalformedValue, Unencodable, decodeValue, encodeValue } from '../codec.ts';
import * as service from '../ckpt/service.ts';
import { COMM_WORLD } from '../constants.ts';
import { ELEMENT_TYPES } from '../datatypes.ts';
import { ERR, fail } from '../errors.ts';
import {
  checkDataOf,
  checkTagOf,
  entriesOf,
  putBack,
  show,
  type Data,
  type Entry,
  type Tag,
} from './checkpoint-data.ts';
import type { Context } from './context.ts';
import type * as Mayfly from '../../types/mayfly.d.ts';

const HEAD = 8;
/** More than any communicator has; what a word has room for. */
const MOST_GROUP = 0x7f_ffff;

const CODES: ReadonlyMap<NonNullable<Mayfly.CheckpointOptions['code']>, number> = new Map([
  ['copies', service.Algorithm.IMEM_M_REP],
  ['pair', service.Algorithm.PAIR],
  ['checksum', service.Algorithm.CHECKSUM],
  ['weighted', service.Algorithm.WEIGHTED],
  ['real', service.Algorithm.WEIGHTED_REAL],
]);

/** The index is the head; typed arrays are the numbers. */
const NUMBERS = service.numbersFormat((data) => {
  const { entries, start } = indexOf(data);
  const parts = entries.flatMap((e) =>
    'array' in e ? [{ element: typeNamed(e.array.type), offset: start + e.array.offset, bytes: e.array.bytes }] : [],
  );
  const length = parts.reduce((n, p) => Math.max(n, p.offset + pad8(p.bytes)), start);
  return { head: start, length, parts };
});

function indexOf(bytes: Uint8Array): { entries: Entry[]; start: number } {
  const length = new DataView(bytes.buffer, bytes.byteOffset, bytes.length).getUint32(0, true);
  const { entries } = decodeValue(bytes.subarray(HEAD, HEAD + length)) as { entries: Entry[] };
  return { entries, start: HEAD + pad8(length) };
}
const typeNamed = (name: string): number => ELEMENT_TYPES.findIndex((t) => t.id > 0 && t.array.name === name);

export function sharedCheckpoints(context: Context): typeof Mayfly.checkpoint {
  const { layer, runtime } = context;
  const registered = new Map<Tag, Data>();
  let state: 'before' | 'open' | 'closed' = 'before';
  let comm = COMM_WORLD;
  let settings: service.Settings = { algorithm: 0, nof: 0, ratio: 0, memory: 0, flags: 0 };
  let read: { bytes: Uint8Array; entries: readonly Entry[]; arrays: Uint8Array } | undefined;

  const bad = (call: string, why: string): never => fail(ERR.CHECKPOINT, `checkpoint.${call}`, why, comm);
  const needOpen = (call: string): void => {
    if (state !== 'open') bad(call, state === 'before' ? 'checkpoint.open comes first' : 'checkpoints are closed');
  };

  function algorithmOf(o: Mayfly.CheckpointOptions, call: string): number {
    if (o.code === undefined && o.disk === undefined) return settings.algorithm;
    if (o.disk === true && o.code !== undefined)
      fail(ERR.ARG, `checkpoint.${call}`, 'disk: true leaves nothing in memory, so there is no code', comm);
    if (o.disk === true) return service.Algorithm.STABLE_DISK;
    if (o.code === undefined && settings.algorithm !== service.Algorithm.STABLE_DISK) return settings.algorithm;
    const algorithm = CODES.get(o.code ?? 'copies');
    if (algorithm !== undefined) return algorithm;
    return fail(
      ERR.ARG,
      `checkpoint.${call}`,
      `code ${String(o.code)} is none of ${[...CODES.keys()].join(', ')}`,
      comm,
    );
  }

  function join(o: Mayfly.CheckpointOptions, call: string): void {
    const count = (value: unknown, what: string, before: number): number => {
      if (value === undefined) return before;
      if (typeof value !== 'number' || !Number.isInteger(value) || value < 1 || value > 0x7fff_ffff)
        return fail(ERR.ARG, `checkpoint.${call}`, `${what} ${String(value)} is not a whole number above 0`, comm);
      return value;
    };
    const group = count(o.group, 'group', service.groupOf(settings.flags));
    const next: service.Settings = {
      algorithm: algorithmOf(o, call),
      nof: count(o.copies, 'copies', settings.nof),
      ratio: count(o.ratio, 'ratio', settings.ratio),
      memory: count(o.memory, 'memory', settings.memory),
      flags:
        (Math.min(group, MOST_GROUP) << service.GROUP_SHIFT) |
        (o.crossing === undefined ? settings.flags & service.NO_CHECK : o.crossing ? 0 : service.NO_CHECK),
    };
    const handle = o.comm === undefined ? comm : (o.comm as unknown as { readonly handle: number }).handle;
    const size = layer.state.comms.rows.get(handle)?.group.length;
    const wrong = size === undefined ? undefined : service.wrongIn(next, size);
    if (wrong) fail(ERR.ARG, `checkpoint.${call}`, wrong, comm);
    service.join(
      layer,
      handle,
      next,
      layer.device.place(() => runtime.processorName()),
      `checkpoint.${call}`,
      NUMBERS,
    );
    comm = handle;
    settings = next;
  }

  function packed(): Uint8Array {
    const { entries, parts } = entriesOf(registered);
    if (settings.algorithm === service.Algorithm.WEIGHTED_REAL)
      for (const e of entries)
        if ('array' in e && !service.isNumber(ELEMENT_TYPES[typeNamed(e.array.type)]))
          fail(ERR.TYPE, 'checkpoint.here', `tag ${show(e.tag)} holds a ${e.array.type}, which has no doubles`, comm);
    let index: Uint8Array;
    try {
      index = encodeValue({ entries }, 'the registered data');
    } catch (e) {
      if (e instanceof Unencodable) return bad('here', e.message);
      throw e;
    }
    const start = HEAD + pad8(index.length);
    const out = new Uint8Array(parts.reduce((n, p) => n + p.length, start));
    new DataView(out.buffer).setUint32(0, index.length, true);
    out.set(index, HEAD);
    let at = start;
    for (const part of parts) {
      out.set(part, at);
      at += part.length;
    }
    return out;
  }

  function unpacked(bytes: Uint8Array): NonNullable<typeof read> {
    try {
      const { entries, start } = indexOf(bytes);
      return { bytes, entries, arrays: bytes.subarray(start) };
    } catch (e) {
      if (e instanceof MalformedValue || e instanceof RangeError)
        return bad('rollback', `the checkpoint cannot be read: ${e.message}`);
      throw e;
    }
  }

  function rollback(tag: Tag, into: Data | undefined): unknown {
    checkTagOf(tag, (why) => bad('rollback', why));
    needOpen('rollback');
    const bytes = service.rollback(layer, 'checkpoint.rollback');
    if (read?.bytes !== bytes) read = unpacked(bytes);
    const e = read.entries.find((x) => x.tag === tag);
    if (!e) return bad('rollback', `the checkpoint holds no data under tag ${show(tag)}`);
    const { result, holds } = putBack(e, read.arrays, into ?? registered.get(tag), (why) => bad('rollback', why));
    if (holds) registered.set(tag, holds);
    return result;
  }

  return {
    open: (o = {}) =>
      context.call(() => {
        if (state === 'open') bad('open', 'checkpoints are open already: checkpoint.close comes first');
        join(o, 'open');
        state = 'open';
        return { restarted: (layer.ckpt?.present?.team.whole.round ?? 0) > 0 };
      }),
    register: (tag, data) =>
      context.call(() => {
        checkTagOf(tag, (why) => bad('register', why));
        checkDataOf(data, (why) => bad('register', why));
        registered.set(tag, data);
      }),
    here: () =>
      context.call(() => {
        needOpen('here');
        service.here(layer, packed(), 'checkpoint.here');
      }),
    rollback: <T>(tag: Tag, into?: Data) => context.call(() => rollback(tag, into)) as T,
    remove: (tag) =>
      context.call(() => {
        checkTagOf(tag, (why) => bad('remove', why));
        if (!registered.delete(tag)) bad('remove', `nothing is registered under tag ${show(tag)}`);
      }),
    control: (o) =>
      context.call(() => {
        needOpen('control');
        join(o, 'control');
      }),
    close: () =>
      context.call(() => {
        needOpen('close');
        service.close(layer, 'checkpoint.close');
        state = 'closed';
      }),
  };
}
