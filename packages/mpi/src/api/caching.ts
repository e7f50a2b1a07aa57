/**
 * Caching and hints (MPI 4.1 §7.7, chapter 10): of communicators, datatypes and windows alike. Values of attributes are
 * structured values: they are in the images.
 */
import { ERR, fail } from '../errors.ts';
import { contextOf, Held } from './held.ts';
import { describe, type Context } from './context.ts';
import type * as Mayfly from '../../types/mayfly.d.ts';

type Attributes = Map<number, unknown>;

export class KeyvalObject<T, O> extends Held implements Mayfly.Keyval<T, O> {
  /** Never used: they tell keys for values of different types and on different objects apart. */
  declare readonly of: T;
  declare readonly on: O;
  constructor(
    context: Context,
    readonly handle: number,
  ) {
    super(context);
  }
  static create<T, O>(context: Context, functions: Mayfly.KeyvalFunctions<T, O> = {}): KeyvalObject<T, O> {
    return context.call(() => {
      for (const f of [functions.copy, functions.delete])
        if (f !== undefined && typeof f !== 'function')
          fail(ERR.ARG, 'MPI_Comm_create_keyval', `${describe(f)} is not a function`);
      const { state } = context.layer;
      // A new incarnation that goes on behind the prologue gives no number twice.
      const handle = (state.keyvals ?? 0) + 1;
      state.keyvals = handle;
      context.keyvals.set(handle, { copy: functions.copy as never, remove: functions.delete as never });
      return new KeyvalObject<T, O>(context, handle);
    });
  }
  /** "It is not erroneous to free an attribute key that is in use" (§7.7.2): its functions are still called. */
  free(): void {
    contextOf(this).freedKeyvals.add(this.handle);
  }
}
function keyOf(context: Context, key: unknown, call: string, comm: number): number {
  if (!(key instanceof KeyvalObject)) return fail(ERR.KEYVAL, call, `the key is ${describe(key)}`, comm);
  if (context.freedKeyvals.has(key.handle)) fail(ERR.KEYVAL, call, 'the key was freed', comm);
  return key.handle;
}
function drop(context: Context, object: object, list: Attributes, key: number): void {
  const value = list.get(key);
  context.keyvals.get(key)?.remove?.(object as never, value);
  list.delete(key);
}

export const get = <T>(
  context: Context,
  list: Attributes,
  key: Mayfly.Keyval<T, unknown>,
  call: string,
  comm: number,
): T | undefined => list.get(keyOf(context, key, call, comm)) as T | undefined;
export function set(
  context: Context,
  object: object,
  list: Attributes,
  key: Mayfly.Keyval<unknown, unknown>,
  value: unknown,
  call: string,
  comm: number,
): void {
  const k = keyOf(context, key, call, comm);
  context.encode(value, call, comm);
  if (list.has(k)) drop(context, object, list, k);
  list.set(k, value);
}
export function remove(
  context: Context,
  object: object,
  list: Attributes,
  key: Mayfly.Keyval<unknown, unknown>,
  call: string,
  comm: number,
): void {
  const k = keyOf(context, key, call, comm);
  if (list.has(k)) drop(context, object, list, k);
}
/** An object goes: the last attribute set goes first. */
export function removeAll(context: Context, object: object, list: Attributes): void {
  for (const key of [...list.keys()].reverse()) drop(context, object, list, key);
}
/** What a duplicate gets: what the copy functions say, in the order of their keys' making; without one nothing. */
export function copied(context: Context, object: object, list: Attributes): Attributes {
  const out: Attributes = new Map();
  for (const [key, value] of [...list].sort((a, b) => a[0] - b[0])) {
    const copy = context.keyvals.get(key)?.copy?.(object as never, value);
    if (copy !== undefined) out.set(key, copy);
  }
  return out;
}

/** Lengths that the standard ABI has for keys and values (MPI_MAX_INFO_KEY, MPI_MAX_INFO_VAL), their ends counted. */
const KEY = 256;
const VALUE = 1024;

/** Hints as the layer takes them. @throws MPIError ERR_INFO, ERR_INFO_KEY, ERR_INFO_VALUE */
export function hints(info: Mayfly.Info | undefined, call: string, comm: number): Map<string, string> | undefined {
  if (info === undefined) return undefined;
  if (typeof info !== 'object' || info === null)
    return fail(ERR.INFO, call, `the hints are ${describe(info)}, not an object of texts`, comm);
  const out = new Map<string, string>();
  for (const [key, value] of Object.entries(info)) {
    if (key.length === 0 || key.length >= KEY)
      fail(ERR.INFO_KEY, call, `a key of ${key.length} characters: 1 to ${KEY - 1} are allowed`, comm);
    if (typeof value !== 'string' || value.length >= VALUE)
      fail(ERR.INFO_VALUE, call, `the value of '${key}' is not a text of at most ${VALUE - 1} characters`, comm);
    out.set(key, value);
  }
  return out;
}
