/**
 * The environment (MPI 4.1 chapters 9 and 11): start and end, error classes and handlers, versions, clock, memory,
 * operations, info objects.
 */
import { COMM_SELF, ERR, failures, ports, requests, spawns, type CommRecord } from '@mayfly/mpi';
import { constant, constantNames } from '../abi/constants.ts';
import { deleteAttributes } from './attributes.ts';
import { closeCheckpoints } from './ckpt.ts';
import { record, type Implementations } from './define.ts';
import { Kind, Null, Predefined, handleOf, numberOf } from './handles.ts';
import { EXTENSION_PARTS, RESTARTED } from '../abi/extensions.ts';
import { FIRST_USER_ERROR, type CallRecord } from './state.ts';
import { bindOp } from './user-op.ts';
import type { Core } from './core.ts';

const TICK_S = 0.001;
const LEVELS = ['SINGLE', 'FUNNELED', 'SERIALIZED', 'MULTIPLE'].map((n) => constant(`MPI_THREAD_${n}`));
const MULTIPLE = constant('MPI_THREAD_MULTIPLE');
const CLASSES = new Map<number, string>([
  ...constantNames()
    .filter((n) => /^MPI_(SUCCESS|ERR_)/.test(n) && n !== 'MPI_ERR_LASTCODE')
    .map((n) => [constant(n), n] as const),
  ...EXTENSION_PARTS.flatMap((p) => p.values.filter(([name]) => name.includes('_ERR_'))).map(
    ([name, value]) => [value, name] as const,
  ),
]);

/** The layer's number of an error handler. @throws MPIError ERR_ERRHANDLER */
export function errhandlerNumber(core: Core, handle: number): number {
  if (handle === Predefined.ERRORS_ARE_FATAL) return 1;
  if (handle === Predefined.ERRORS_RETURN) return 2;
  if (handle === Predefined.ERRORS_ABORT) return 3;
  const n = numberOf(Kind.ERRHANDLER, handle);
  return n > 0 && core.layer.state.errhandlers.rows.has(n)
    ? n
    : core.fail(
        ERR.ERRHANDLER,
        handle === Null.ERRHANDLER ? 'the error handler is MPI_ERRHANDLER_NULL' : `${handle} is not an error handler`,
      );
}
export const errhandlerHandle = (n: number): number =>
  [Null.ERRHANDLER, Predefined.ERRORS_ARE_FATAL, Predefined.ERRORS_RETURN, Predefined.ERRORS_ABORT][n] ??
  handleOf(Kind.ERRHANDLER, n);

/** What a code is called, for messages. */
export const errorName = (core: Core, code: number): string =>
  CLASSES.get(code) ?? core.state.errorCodes.get(code)?.text ?? '';

export function environment(core: Core): Implementations {
  const { layer, heap, program } = core;
  const success = (f: () => void): number => (f(), ERR.SUCCESS);
  const init = (level: number): number =>
    success(() => {
      if (core.state.phase !== 'before') core.fail(ERR.OTHER, 'called a second time');
      core.state.phase = 'active';
      core.state.threadLevel = level;
    }) || (layer.device.ft?.restarted ? RESTARTED : ERR.SUCCESS);

  /**
   * "MPI_COMM_SPAWN in the parents and MPI_INIT in the children form a collective operation over the union of parent
   * and child processes" (§11.8.2).
   */
  const parents = (call: string): number => {
    if (core.state.phase !== 'before') return 0;
    // Others that hear of a loss here learn of it by their next call: they recover when the program does.
    const joins = layer.device.ft?.restarted ? failures.startRecovery(layer, call) : spawns.meetParents(layer, call);
    return joins ?? 0;
  };
  const met = (r: CallRecord): void => {
    if (r.request === 0) return;
    const outcome = requests.wait(layer, r.request, `MPI_${r.call}`);
    if (outcome.error) throw core.failed(outcome.error, outcome.comm);
    if (layer.device.ft?.restarted) return;
    spawns.setParent(layer, outcome.result);
    core.state.names.set(outcome.result, 'MPI_COMM_PARENT');
  };

  const createErrhandler = (fn: number, at: number): number =>
    success(() => {
      heap.check(at, 4, 'errhandler');
      const n = layer.state.errhandlers.next++;
      layer.state.errhandlers.rows.set(n, { name: `error handler ${n}` });
      core.state.errorFunctions.set(n, fn);
      heap.setInt(at, handleOf(Kind.ERRHANDLER, n), 'errhandler');
    });
  const setErrhandler = (comm: number, handle: number): number =>
    success(() => {
      const c: CommRecord = core.comm(comm);
      c.errhandler = errhandlerNumber(core, handle);
    });
  const getErrhandler = (comm: number, at: number): number =>
    success(() => heap.setInt(at, errhandlerHandle(core.comm(comm).errhandler), 'errhandler'));

  function errorText(code: number): string {
    const own = core.state.errorCodes.get(code)?.text ?? core.state.errorClasses.get(code);
    if (own !== undefined) return own;
    const name = CLASSES.get(code) ?? (code === ERR.CHECKPOINT ? 'MPI_ERR_CHECKPOINT' : undefined);
    if (name === undefined) return core.fail(ERR.ARG, `${code} is not an error code`);
    if (code === ERR.SUCCESS) return 'MPI_SUCCESS: no error';
    const last = core.state.lastErrors.get(code);
    return last ? `${name}: ${last}` : name;
  }

  const createOp = (fn: number, commute: number, at: number): number =>
    success(() => {
      heap.check(at, 4, 'op');
      const n = layer.state.ops.next++;
      layer.state.ops.rows.set(n, { name: 'user-defined operation', commute: commute !== 0 });
      core.state.opFunctions.set(n, { index: fn, large: heap.large, freed: false });
      bindOp(core, n);
      heap.setInt(at, handleOf(Kind.OP, n), 'op');
    });

  const infoOf = (handle: number): Map<string, string> =>
    core.info(handle) ?? core.fail(ERR.INFO, 'the info object is MPI_INFO_NULL');
  const key = (at: number): string => {
    const k = heap.string(at, 'key');
    if (k.length === 0 || k.length > 255)
      core.fail(ERR.INFO_KEY, `a key has 1 to 255 characters, this one ${k.length}`);
    return k;
  };
  const newInfo = (at: number, entries: Map<string, string>): number =>
    success(() => (heap.check(at, 4, 'info'), heap.setInt(at, core.newInfo(entries), 'info')));

  return {
    Init: {
      start: () => record('Init', parents('MPI_Init')),
      finish: (r) => {
        met(r);
        return init(MULTIPLE);
      },
    },
    Init_thread: {
      start: (_argc, _argv, required, provided) => {
        if (!LEVELS.includes(required!)) core.fail(ERR.ARG, `required ${required} is not a level of thread support`);
        heap.check(provided!, 4, 'provided');
        return record('Init_thread', parents('MPI_Init_thread'), [required!, provided!]);
      },
      finish: (r) => {
        met(r);
        const code = init(r.at[0]!);
        heap.setInt(r.at[1]!, core.state.threadLevel, 'provided');
        return code;
      },
    },
    Initialized: (at: number) => success(() => heap.setInt(at, core.state.phase === 'before' ? 0 : 1, 'flag')),
    Finalized: (at: number) => success(() => heap.setInt(at, core.state.phase === 'after' ? 1 : 0, 'flag')),
    Finalize: {
      start: () => {
        // "MPI_FINALIZE … the equivalent of an MPI_COMM_FREE … on MPI_COMM_SELF" (§11.2.4): its delete functions run
        // first.
        deleteAttributes(core, 'comm', Predefined.COMM_SELF, layer.state.comms.rows.get(COMM_SELF)!.attributes);
        closeCheckpoints(core);
        return record('Finalize', 0);
      },
      finish: () =>
        success(() => {
          core.state.phase = 'after';
          if (!core.inUse) ports.leave(layer);
          layer.state.finalized = !core.inUse;
        }),
    },
    Query_thread: (at: number) => success(() => heap.setInt(at, core.state.threadLevel, 'provided')),
    Is_thread_main: (at: number) => success(() => heap.setInt(at, 1, 'flag')),
    Abort: (comm: number, code: number) => {
      const name = core.inUse ? core.comm(comm).name : 'MPI_COMM_WORLD';
      return program.abort(code, `MPI_Abort(${name}, ${code})`);
    },
    Get_version: (version: number, sub: number) =>
      success(() => (heap.setInt(version, 5, 'version'), heap.setInt(sub, 0, 'subversion'))),
    Abi_get_version: (version: number, sub: number) =>
      success(() => (heap.setInt(version, 1, 'abi_major'), heap.setInt(sub, 0, 'abi_minor'))),
    Abi_get_info: (at: number) =>
      newInfo(
        at,
        new Map([
          ['mpi_aint_size', '4'],
          ['mpi_count_size', '8'],
          ['mpi_offset_size', '8'],
        ]),
      ),
    // Of the resources that MPI_COMM_TYPE_RESOURCE_GUIDED knows: a rank shares memory with nobody.
    Get_hw_resource_info: (at: number) =>
      success(() =>
        heap.setInt(heap.check(at, 4, 'hw_info'), core.newInfo(new Map([['mpi_shared_memory', 'true']])), 'hw_info'),
      ),
    Get_library_version: (at: number, length: number) =>
      success(() => heap.setInt(length, heap.setString(at, core.options.version, 8192, 'version'), 'resultlen')),
    Get_processor_name: (at: number, length: number) =>
      success(() =>
        heap.setInt(
          length,
          heap.setString(
            at,
            layer.device.place(() => core.options.processorName()),
            256,
            'name',
          ),
          'resultlen',
        ),
      ),
    Wtime: () => layer.device.clock() / 1000,
    Wtick: () => TICK_S,
    Pcontrol: () => ERR.SUCCESS,
    Alloc_mem: (size: number, info: number, at: number) =>
      success(() => {
        if (size < 0) core.fail(ERR.ARG, `size ${size} is negative`);
        core.info(info);
        heap.check(at, 4, 'baseptr');
        const address = program.malloc(size);
        if (address === 0 && size > 0) core.fail(ERR.NO_MEM, `no memory for ${size} bytes`);
        core.state.allocated?.add(address);
        heap.setInt(at, address, 'baseptr');
      }),
    Free_mem: (address: number) =>
      success(() => {
        // A null pointer is freed as by free().
        if (address !== 0 && core.state.allocated?.delete(address) === false)
          core.fail(ERR.BASE, `${address >>> 0} is not an address that MPI_Alloc_mem gave, or it was freed`);
        program.free(address);
      }),

    Error_class: (code: number, at: number) =>
      success(() => {
        errorText(code);
        heap.setInt(at, core.state.errorCodes.get(code)?.errorClass ?? code, 'errorclass');
      }),
    Error_string: (code: number, at: number, length: number) =>
      success(() => heap.setInt(length, heap.setString(at, errorText(code), 512, 'string'), 'resultlen')),
    Add_error_class: (at: number) =>
      success(() => {
        heap.check(at, 4, 'errorclass');
        const c = core.state.nextErrorCode++;
        core.state.errorClasses.set(c, '');
        heap.setInt(at, c, 'errorclass');
      }),
    Add_error_code: (errorClass: number, at: number) =>
      success(() => {
        heap.check(at, 4, 'errorcode');
        if (!CLASSES.has(errorClass) && !core.state.errorClasses.has(errorClass))
          core.fail(ERR.ARG, `${errorClass} is not an error class`);
        const c = core.state.nextErrorCode++;
        core.state.errorCodes.set(c, { errorClass, text: '' });
        heap.setInt(at, c, 'errorcode');
      }),
    Add_error_string: (code: number, at: number) =>
      success(() => {
        const text = heap.string(at, 'string', 511);
        const own = core.state.errorCodes.get(code);
        if (own) own.text = text;
        else if (core.state.errorClasses.has(code)) core.state.errorClasses.set(code, text);
        else core.fail(ERR.ARG, `${code} is not an error code of the program (those begin at ${FIRST_USER_ERROR})`);
      }),
    Remove_error_class: (c: number) =>
      success(
        () =>
          void (core.state.errorClasses.delete(c) || core.fail(ERR.ARG, `${c} is not an error class of the program`)),
      ),
    Remove_error_code: (c: number) =>
      success(
        () => void (core.state.errorCodes.delete(c) || core.fail(ERR.ARG, `${c} is not an error code of the program`)),
      ),
    Remove_error_string: (code: number) =>
      success(() => {
        const own = core.state.errorCodes.get(code);
        if (own) own.text = '';
        else if (core.state.errorClasses.has(code)) core.state.errorClasses.set(code, '');
        else core.fail(ERR.ARG, `${code} is not an error code of the program`);
      }),
    Comm_create_errhandler: createErrhandler,
    Errhandler_create: createErrhandler,
    Win_create_errhandler: createErrhandler,
    File_create_errhandler: createErrhandler,
    Session_create_errhandler: createErrhandler,
    Comm_set_errhandler: setErrhandler,
    Errhandler_set: setErrhandler,
    Comm_get_errhandler: getErrhandler,
    Errhandler_get: getErrhandler,
    Comm_call_errhandler: (comm: number, code: number) =>
      success(() => {
        const c = core.comm(comm);
        core.handle(c.errhandler, comm, code, `error ${code} raised by the program: ${errorName(core, code)}`);
      }),
    // "The error handler … will be deallocated after all the objects associated with it … have been deallocated"
    // (§9.3): communicators that have it keep it.
    Errhandler_free: (at: number) =>
      success(
        () => (errhandlerNumber(core, heap.int(at, 'errhandler')), heap.setInt(at, Null.ERRHANDLER, 'errhandler')),
      ),

    Op_create: createOp,
    Op_free: (at: number) =>
      success(() => {
        const handle = heap.int(at, 'op');
        const n = core.op(handle);
        if (!core.state.opFunctions.has(n)) core.fail(ERR.OP, `${core.opRecord(handle).name} is predefined`);
        // Reductions under way still need the function: only the handle goes.
        core.state.opFunctions.get(n)!.freed = true;
        heap.setInt(at, Null.OP, 'op');
      }),
    Op_commutative: (op: number, at: number) =>
      success(() => heap.setInt(at, core.opRecord(op).commute ? 1 : 0, 'commute')),

    Info_create: (at: number) => newInfo(at, new Map()),
    // "the same … as MPI_INFO_ENV", and the program's own arguments where it gives them (§11.2.2).
    Info_create_env: (argc: number, argv: number, at: number) => {
      const entries = core.environment();
      const words = argv === 0 || argc <= 0 ? [] : heap.ints(argv, argc, 'argv').map((a) => heap.string(a, 'argv'));
      if (words.length > 0) entries.set('command', words[0]!).set('argv', words.slice(1).join(' '));
      return newInfo(at, entries);
    },
    Info_dup: (info: number, at: number) => newInfo(at, infoOf(info)),
    Info_free: (at: number) =>
      success(() => {
        const handle = heap.int(at, 'info');
        infoOf(handle);
        if (handle === Null.INFO_ENV) core.fail(ERR.INFO, 'MPI_INFO_ENV cannot be freed');
        core.state.infos.delete(numberOf(Kind.INFO, handle));
        heap.setInt(at, Null.INFO, 'info');
      }),
    Info_set: (info: number, k: number, v: number) =>
      success(() => {
        const value = heap.string(v, 'value');
        if (value.length > 1023)
          core.fail(ERR.INFO_VALUE, `a value has up to 1023 characters, this one ${value.length}`);
        infoOf(info).set(key(k), value);
      }),
    Info_delete: (info: number, k: number) =>
      success(() => void (infoOf(info).delete(key(k)) || core.fail(ERR.INFO_NOKEY, `there is no key '${key(k)}'`))),
    Info_get: (info: number, k: number, length: number, v: number, flag: number) =>
      success(() => {
        const value = infoOf(info).get(key(k));
        heap.setInt(flag, value === undefined ? 0 : 1, 'flag');
        // valuelen does not count the end: the program has room for one more.
        if (value !== undefined) heap.setString(v, value, length + 1, 'value');
      }),
    Info_get_string: (info: number, k: number, length: number, v: number, flag: number) =>
      success(() => {
        const value = infoOf(info).get(key(k));
        heap.setInt(flag, value === undefined ? 0 : 1, 'flag');
        if (value === undefined) return;
        const room = heap.int(length, 'buflen');
        if (room > 0) heap.setString(v, value, room, 'value');
        heap.setInt(length, new TextEncoder().encode(value).length + 1, 'buflen');
      }),
    Info_get_valuelen: (info: number, k: number, length: number, flag: number) =>
      success(() => {
        const value = infoOf(info).get(key(k));
        heap.setInt(flag, value === undefined ? 0 : 1, 'flag');
        if (value !== undefined) heap.setInt(length, new TextEncoder().encode(value).length, 'valuelen');
      }),
    Info_get_nkeys: (info: number, at: number) => success(() => heap.setInt(at, infoOf(info).size, 'nkeys')),
    Info_get_nthkey: (info: number, n: number, at: number) =>
      success(() => {
        const k = [...infoOf(info).keys()][n];
        if (k === undefined) core.fail(ERR.ARG, `n ${n} is not below the ${infoOf(info).size} keys`);
        heap.setString(at, k!, 256, 'key');
      }),
  };
}
