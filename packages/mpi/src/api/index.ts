/** The module 'mayfly' for one rank, and the running of a program with it. */
import * as c from '../constants.ts';
import { ERR, MPIError } from '../errors.ts';
import { BUILTIN_OPS } from '../ops.ts';
import { leave } from '../ports.ts';
import { dimsCreate } from '../topology.ts';
import { checkpoints } from './checkpoint.ts';
import { KeyvalObject } from './caching.ts';
import { CommObject, IntercommObject } from './comm.ts';
import { connections, meetParents } from './connections.ts';
import { Context, IN_PLACE } from './context.ts';
import { DatatypeObject } from './datatype.ts';
import { environment } from './environment.ts';
import { ftModule, recover } from './failures.ts';
import { fileModule } from './file.ts';
import { GroupObject } from './group.ts';
import { ErrorHandlerObject, OpObject } from './handles.ts';
import { startall } from './persistent.ts';
import { SessionObject } from './session.ts';
import { completion } from './status.ts';
import { toolModule } from './tools.ts';
import { CartObject, DistGraphObject, GraphObject } from './topology.ts';
import { WinObject } from './win.ts';
import { Assert } from '../windows/index.ts';
import type { Layer } from '../layer.ts';
import type { Runtime } from './runtime.ts';
import type * as Mayfly from '../../types/mayfly.d.ts';

export type { CheckpointImage, RestoredImage, Runtime } from './runtime.ts';

/** What `import … from 'mayfly'` gives a program. */
export type MayflyModule = typeof Mayfly;

/** Resolution of the job's clock, seconds. */
const TICK = 0.001;

function build(context: Context): MayflyModule {
  const { layer, runtime } = context;
  const objects = new Map<number, CommObject>();
  context.commObject = (handle) => {
    let object = objects.get(handle);
    if (!object) {
      const record = layer.state.comms.rows.get(handle);
      const kind = record?.topology?.kind;
      object = new (
        record?.remote
          ? IntercommObject
          : kind === 'cart'
            ? CartObject
            : kind === 'graph'
              ? GraphObject
              : kind === 'dist'
                ? DistGraphObject
                : CommObject
      )(context, handle);
      objects.set(handle, object);
    }
    return object;
  };
  const op = (i: number): OpObject => new OpObject(context, i + 1, BUILTIN_OPS[i]!, true);
  const [SUM, PROD, MIN, MAX, LAND, LOR, LXOR, BAND, BOR, BXOR, MINLOC, MAXLOC, REPLACE, NO_OP] = BUILTIN_OPS.map(
    (_, i) => op(i),
  ) as [
    OpObject,
    OpObject,
    OpObject,
    OpObject,
    OpObject,
    OpObject,
    OpObject,
    OpObject,
    OpObject,
    OpObject,
    OpObject,
    OpObject,
    OpObject,
    OpObject,
  ];
  const world = context.commObject(c.COMM_WORLD);
  return {
    IN_PLACE,
    ANY_SOURCE: c.ANY_SOURCE,
    ANY_TAG: c.ANY_TAG,
    PROC_NULL: c.PROC_NULL,
    ROOT: c.ROOT,
    UNDEFINED: c.UNDEFINED,
    TAG_UB: c.TAG_UB,
    UNIVERSE_SIZE: layer.device.universe ?? layer.state.size,
    APPNUM: (layer.device.spawned ?? layer.device.part)?.appnum ?? 0,
    ...completion(context),
    startall: (list) => startall(context, list),
    datatype: (kind) => context.call(() => DatatypeObject.of(context, kind, 'datatype')),
    struct: (fields) => DatatypeObject.struct(context, fields),
    createKeyval: (functions) => KeyvalObject.create(context, functions),
    Session: { init: () => SessionObject.init(context) },
    tool: toolModule(context),
    Op: { create: (fn, commute) => OpObject.create(context, fn as (input: never, inout: never) => void, commute) },
    SUM,
    PROD,
    MIN,
    MAX,
    LAND,
    LOR,
    LXOR,
    BAND,
    BOR,
    BXOR,
    MINLOC,
    MAXLOC,
    REPLACE,
    NO_OP,
    GROUP_EMPTY: new GroupObject(context, c.GROUP_EMPTY),
    COMM_WORLD: world,
    COMM_SELF: context.commObject(c.COMM_SELF),
    ...connections(context),
    ft: ftModule(context),
    Win: { create: (memory, comm = world, info) => WinObject.create(context, memory, comm, info) },
    ...fileModule(context),
    MODE_NOCHECK: Assert.NOCHECK,
    MODE_NOPRECEDE: Assert.NOPRECEDE,
    MODE_NOPUT: Assert.NOPUT,
    MODE_NOSTORE: Assert.NOSTORE,
    MODE_NOSUCCEED: Assert.NOSUCCEED,
    dimsCreate: (nnodes, dims) =>
      context.call(() => dimsCreate(nnodes, typeof dims === 'number' ? new Array<number>(dims).fill(0) : dims)),
    SUCCESS: ERR.SUCCESS,
    ERR_BUFFER: ERR.BUFFER,
    ERR_COUNT: ERR.COUNT,
    ERR_TYPE: ERR.TYPE,
    ERR_TAG: ERR.TAG,
    ERR_COMM: ERR.COMM,
    ERR_RANK: ERR.RANK,
    ERR_ROOT: ERR.ROOT,
    ERR_GROUP: ERR.GROUP,
    ERR_OP: ERR.OP,
    ERR_TOPOLOGY: ERR.TOPOLOGY,
    ERR_DIMS: ERR.DIMS,
    ERR_ARG: ERR.ARG,
    ERR_UNKNOWN: ERR.UNKNOWN,
    ERR_TRUNCATE: ERR.TRUNCATE,
    ERR_OTHER: ERR.OTHER,
    ERR_INTERN: ERR.INTERN,
    ERR_IN_STATUS: ERR.IN_STATUS,
    ERR_PENDING: ERR.PENDING,
    ERR_REQUEST: ERR.REQUEST,
    ERR_BAD_FILE: ERR.BAD_FILE,
    ERR_NO_SUCH_FILE: ERR.NO_SUCH_FILE,
    ERR_IO: ERR.IO,
    ERR_ACCESS: ERR.ACCESS,
    ERR_AMODE: ERR.AMODE,
    ERR_FILE: ERR.FILE,
    ERR_FILE_EXISTS: ERR.FILE_EXISTS,
    ERR_FILE_IN_USE: ERR.FILE_IN_USE,
    ERR_NO_SPACE: ERR.NO_SPACE,
    ERR_QUOTA: ERR.QUOTA,
    ERR_READ_ONLY: ERR.READ_ONLY,
    ERR_NAME: ERR.NAME,
    ERR_PORT: ERR.PORT,
    ERR_SERVICE: ERR.SERVICE,
    ERR_SPAWN: ERR.SPAWN,
    ERR_UNSUPPORTED_OPERATION: ERR.UNSUPPORTED_OPERATION,
    ERR_ASSERT: ERR.ASSERT,
    ERR_DISP: ERR.DISP,
    ERR_LOCKTYPE: ERR.LOCKTYPE,
    ERR_RMA_RANGE: ERR.RMA_RANGE,
    ERR_RMA_SYNC: ERR.RMA_SYNC,
    ERR_WIN: ERR.WIN,
    ERR_INFO: ERR.INFO,
    ERR_INFO_KEY: ERR.INFO_KEY,
    ERR_INFO_VALUE: ERR.INFO_VALUE,
    ERR_KEYVAL: ERR.KEYVAL,
    ERR_SESSION: ERR.SESSION,
    ERR_CHECKPOINT: ERR.CHECKPOINT,
    ERR_PROC_FAILED: ERR.PROC_FAILED,
    ERR_PROC_FAILED_PENDING: ERR.PROC_FAILED_PENDING,
    ERR_REVOKED: ERR.REVOKED,
    // The declaration hides the constructor and narrows `statuses`.
    MPIError: MPIError as unknown as typeof Mayfly.MPIError,
    ErrorHandler: { create: (fn) => ErrorHandlerObject.create(context, fn) },
    ERRORS_ARE_FATAL: new ErrorHandlerObject(context, c.ERRORS_ARE_FATAL, 'MPI_ERRORS_ARE_FATAL'),
    ERRORS_RETURN: new ErrorHandlerObject(context, c.ERRORS_RETURN, 'MPI_ERRORS_RETURN'),
    wtime: () => layer.device.clock() / 1000,
    wtick: () => TICK,
    processorName: () => layer.device.place(() => runtime.processorName()),
    getVersion: () => ({ version: 4, subversion: 1 }),
    finalize: () => void (leave(layer), (layer.state.finalized = true)),
    isActive: () => !layer.state.finalized,
    abort: (code) => world.abort(code),
    exit: (code = 0) => context.local(() => context.end({ code: context.exitCode(code, 'exit') })),
    args: Object.freeze([...runtime.args]),
    env: Object.freeze({ ...runtime.env }),
    ...environment(context),
    checkpoint: checkpoints(context),
  };
}

/** The module for a rank, without running anything. */
export const createMayfly = (layer: Layer, runtime: Runtime): MayflyModule => build(new Context(layer, runtime));

/**
 * Runs a program to its end: `main` evaluates it with the module at hand. Its end is exit 0, an error that it does not
 * catch ends the job (PROGRAM_ERROR, with the stack). Either way the EXIT message is sent and `runtime.end` called,
 * which does not return.
 * @param ownError true for errors of the host itself, which are no result of the program: they are thrown on
 */
export function runProgram(
  layer: Layer,
  runtime: Runtime,
  main: (mayfly: MayflyModule) => void,
  ownError: (e: unknown) => boolean = () => false,
): never {
  const context = new Context(layer, runtime);
  const mayfly = build(context);
  try {
    if (mayfly.ft.restarted) recover(context, 'MPI_Init');
    meetParents(context);
    main(mayfly);
  } catch (e) {
    if (context.ended || ownError(e)) throw e;
    const said =
      runtime.describeError?.(e) ??
      (e instanceof Error
        ? { message: `${e.name}: ${e.message}`, ...(e.stack === undefined ? {} : { stack: e.stack }) }
        : { message: `thrown: ${String(e)}` });
    return context.abort('PROGRAM_ERROR', said.message, 1, said.stack);
  }
  return context.end({ code: 0 });
}
