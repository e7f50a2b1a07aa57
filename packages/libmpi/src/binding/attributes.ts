/**
 * Caching (MPI 4.1 §7.7): attributes of communicators and datatypes, with the program's copy and delete functions; the
 * predefined attributes.
 */
import { ERR, TAG_UB, failures } from '@mayfly/mpi';
import { constant } from '../abi/constants.ts';
import { ERROR_FAILURE, NUM_FAILED_PROCS } from '../abi/extensions.ts';
import { PREDEFINED_OF_WINDOWS, predefinedOfWindow, windowOf } from './windows-attributes.ts';
import type { Implementations } from './define.ts';
import type { Core } from './core.ts';
import type { Keyval } from './state.ts';

type Attributes = Map<number, unknown>;
const NONE = 0;
/** MPI_COMM_DUP_FN and its kin. */
const DUP = 1;

/** The communicator whose error handler hears of a failed function. */
const owner = (core: Core, kind: Keyval['kind'], object: number): number =>
  kind === 'comm' ? core.commNumber(object) : kind === 'win' ? windowOf(core, object).comm : 0;

/**
 * Attributes of a new object after its parent's, in the order of their keys' making. @throws MPIError of a copy
 * function
 */
export function copyAttributes(
  core: Core,
  kind: Keyval['kind'],
  object: number,
  from: Attributes,
  to: Attributes,
): void {
  for (const [key, value] of [...from].sort((a, b) => a[0] - b[0])) {
    const k = core.state.keyvals.get(key);
    if (k?.kind !== kind || k.copy === NONE) continue;
    if (k.copy === DUP) {
      to.set(key, value);
      continue;
    }
    core.lend(8, (a) => {
      core.heap.setInt(a, 0, 'attribute_val_out');
      core.heap.setInt(a + 4, 0, 'flag');
      core.callbackCode(
        'copy function of an attribute',
        owner(core, kind, object),
        k.copy,
        object,
        key,
        k.extra,
        value as number,
        a,
        a + 4,
      );
      if (core.heap.int(a + 4, 'flag') !== 0) to.set(key, core.heap.int(a, 'attribute_val_out'));
    });
  }
}

function remove(core: Core, object: number, key: number, attributes: Attributes): void {
  const k = core.state.keyvals.get(key);
  const value = attributes.get(key);
  if (k && k.remove !== NONE)
    core.callbackCode(
      'delete function of an attribute',
      owner(core, k.kind, object),
      k.remove,
      object,
      key,
      value as number,
      k.extra,
    );
  attributes.delete(key);
}

/** An object goes: the last attribute set goes first (§11.2.4 has it so for MPI_COMM_SELF). */
export function deleteAttributes(core: Core, kind: Keyval['kind'], object: number, attributes: Attributes): void {
  for (const key of [...attributes.keys()].reverse())
    if (core.state.keyvals.get(key)?.kind === kind) remove(core, object, key, attributes);
}

const PREDEFINED = [
  'MPI_TAG_UB',
  'MPI_IO',
  'MPI_HOST',
  'MPI_WTIME_IS_GLOBAL',
  'MPI_APPNUM',
  'MPI_LASTUSEDCODE',
  'MPI_UNIVERSE_SIZE',
].map((n) => constant(n));

export function attributes(core: Core): Implementations {
  const { heap, layer } = core;

  /** Predefined attributes are addresses of whole numbers, which lie in the program's memory. */
  function cell(key: number): number {
    if (core.state.attributeCells === 0) core.state.attributeCells = core.program.malloc(4 * PREDEFINED.length);
    const at = core.state.attributeCells + 4 * PREDEFINED.indexOf(key);
    const values: Record<number, number> = {
      [constant('MPI_TAG_UB')]: TAG_UB,
      [constant('MPI_IO')]: constant('MPI_ANY_SOURCE'),
      [constant('MPI_HOST')]: constant('MPI_PROC_NULL'),
      [constant('MPI_WTIME_IS_GLOBAL')]: 1,
      [constant('MPI_APPNUM')]: (layer.device.spawned ?? layer.device.part)?.appnum ?? 0,
      [constant('MPI_LASTUSEDCODE')]: Math.max(constant('MPI_ERR_LASTCODE'), core.state.nextErrorCode - 1),
      [constant('MPI_UNIVERSE_SIZE')]: layer.device.universe ?? layer.state.size,
    };
    heap.setInt(at, values[key]!, 'attribute');
    return at;
  }
  /** FT-MPI: how many ranks were lost before the last recovery, and an error code whose text has their numbers. */
  function failureCell(key: number): number {
    core.state.failureCells ??= core.program.malloc(8);
    const ranks = layer.state.failures?.failedRanks ?? [];
    const at = core.state.failureCells + (key === NUM_FAILED_PROCS ? 0 : 4);
    if (key === ERROR_FAILURE) {
      core.state.failureCode ??= core.state.nextErrorCode++;
      const text = ranks.length === 0 ? 'no rank has failed' : `failed ranks: ${ranks.join(' ')}`;
      core.state.errorCodes.set(core.state.failureCode, { errorClass: ERR.OTHER, text });
    }
    heap.setInt(at, key === NUM_FAILED_PROCS ? ranks.length : core.state.failureCode!, 'attribute');
    return at;
  }
  const keyval = (kind: Keyval['kind'], key: number): Keyval => {
    const k = core.state.keyvals.get(key);
    return k?.kind === kind
      ? k
      : core.fail(
          ERR.KEYVAL,
          PREDEFINED.includes(key) || PREDEFINED_OF_WINDOWS.includes(key)
            ? 'a predefined attribute cannot be changed'
            : `${key} is not a key for attributes of a ${kind}`,
        );
  };
  const create =
    (kind: Keyval['kind']) =>
    (copy: number, remove: number, at: number, extra: number): number => {
      heap.check(at, 4, 'keyval');
      const key = core.state.nextKeyval++;
      core.state.keyvals.set(key, { kind, copy, remove, extra });
      heap.setInt(at, key, 'keyval');
      return ERR.SUCCESS;
    };
  /**
   * "It is not erroneous to free an attribute key that is in use" (§7.7.2): its functions are still called, so the
   * record stays.
   */
  const freeKey =
    (kind: Keyval['kind']) =>
    (at: number): number => {
      keyval(kind, heap.int(at, 'keyval'));
      heap.setInt(at, constant('MPI_KEYVAL_INVALID'), 'keyval');
      return ERR.SUCCESS;
    };
  const get = (list: Attributes, key: number, at: number, flag: number): number => {
    heap.check(at, 4, 'attribute_val');
    const has = list.has(key);
    heap.setInt(flag, has ? 1 : 0, 'flag');
    if (has) heap.setInt(at, list.get(key) as number, 'attribute_val');
    return ERR.SUCCESS;
  };
  const set = (kind: Keyval['kind'], object: number, list: Attributes, key: number, value: number): number => {
    keyval(kind, key);
    if (list.has(key)) remove(core, object, key, list);
    list.set(key, value);
    return ERR.SUCCESS;
  };
  const drop = (kind: Keyval['kind'], object: number, list: Attributes, key: number): number => {
    keyval(kind, key);
    if (list.has(key)) remove(core, object, key, list);
    return ERR.SUCCESS;
  };

  const commGet = (comm: number, key: number, at: number, flag: number): number => {
    const c = core.comm(comm);
    if (failures.ftModesOf(layer) && (key === NUM_FAILED_PROCS || key === ERROR_FAILURE)) {
      heap.setInt(flag, 1, 'flag');
      heap.setInt(at, failureCell(key), 'attribute_val');
      return ERR.SUCCESS;
    }
    if (!PREDEFINED.includes(key)) {
      keyval('comm', key);
      return get(c.attributes, key, at, flag);
    }
    heap.setInt(flag, 1, 'flag');
    heap.setInt(at, cell(key), 'attribute_val');
    return ERR.SUCCESS;
  };
  const commSet = (comm: number, key: number, value: number): number =>
    set('comm', comm, core.comm(comm).attributes, key, value);
  const commDelete = (comm: number, key: number): number => drop('comm', comm, core.comm(comm).attributes, key);
  return {
    Comm_create_keyval: create('comm'),
    Comm_free_keyval: freeKey('comm'),
    Comm_get_attr: commGet,
    Comm_set_attr: commSet,
    Comm_delete_attr: commDelete,
    Keyval_create: create('comm'),
    Keyval_free: freeKey('comm'),
    Attr_get: commGet,
    Attr_put: commSet,
    Attr_delete: commDelete,
    Type_create_keyval: create('type'),
    Type_free_keyval: freeKey('type'),
    Type_get_attr: (type: number, key: number, at: number, flag: number) => (
      keyval('type', key),
      get(core.typeAttributes(core.type(type)), key, at, flag)
    ),
    Type_set_attr: (type: number, key: number, value: number) =>
      set('type', type, core.typeAttributes(core.type(type)), key, value),
    Type_delete_attr: (type: number, key: number) => drop('type', type, core.typeAttributes(core.type(type)), key),
    Win_create_keyval: create('win'),
    Win_free_keyval: freeKey('win'),
    Win_get_attr: (win: number, key: number, at: number, flag: number) => {
      const w = windowOf(core, win);
      const value = predefinedOfWindow(core, w, key);
      if (value === undefined) {
        keyval('win', key);
        return get(w.attributes, key, at, flag);
      }
      heap.setInt(flag, 1, 'flag');
      heap.setInt(at, value, 'attribute_val');
      return ERR.SUCCESS;
    },
    Win_set_attr: (win: number, key: number, value: number) =>
      set('win', win, windowOf(core, win).attributes, key, value),
    Win_delete_attr: (win: number, key: number) => drop('win', win, windowOf(core, win).attributes, key),
  };
}
