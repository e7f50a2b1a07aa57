/**
 * From implementations to import functions: arguments of 64 bits become numbers (what a number cannot hold is an error,
 * never another count), errors go to their handlers, calls that wait are split in two and can be resumed.
 */
import { ERR, Interrupted, MPIError, failures } from '@mayfly/mpi';
import type { CFunction } from '../abi/functions.ts';
import type { Word } from '../program.ts';
import type { Core } from './core.ts';
import type { CallRecord } from './state.ts';

/** A call that does not wait: arguments as numbers, answers an error code (or what its prototype says). */
export type Direct = (...args: number[]) => number;

/**
 * A call that may wait. `start` has no effect when it throws; `finish` may be entered again and again until it comes
 * back.
 */
export interface Waiting {
  start(...args: number[]): CallRecord | number;
  finish(record: CallRecord): number;
}
/** A call that does not wait and takes counts of 64 bits as they are. */
export interface Exact {
  exact(...args: Word[]): number;
}
export type Implementation = Direct | Waiting | Exact;
/** By name without MPI_ (MPIX_ stays). Large forms need no entry of their own. */
export type Implementations = Record<string, Implementation>;

export const record = (call: string, request: number, at: number[] = []): CallRecord => ({
  call,
  request,
  at,
  phase: 0,
});

type Exported = (...args: Word[]) => Word | void;

/** Callable before MPI_Init and after MPI_Finalize (§11.4.1). */
const ANYTIME =
  /^MPIX_Progress$|^MPI_(Init|Init_thread|Initialized|Finalized|Get_version|Get_library_version|Info_|Session_|Error_|Add_error|Remove_error|Abi_|Errhandler_|Group_from_session|Comm_create_from_group|T_|Aint_|.*_(toint|fromint|c2f|f2c)|.*_create_errhandler|Abort|Wtime|Wtick|Pcontrol)/;

/** Under FT-MPI's modes all other calls fail from the news of a loss to the recovery. MPI_Comm_dup looks for itself. */
const ALWAYS =
  /^P?MPIX?_(Comm_(rank|size|dup|recover|(create|set|get)_errhandler)|Errhandler_\w+|Wtime|Wtick|Error_\w+|Abort|Init|Init_thread|Initialized|Finalize|Finalized|Get_version|Get_library_version|Pcontrol)$/;

/** `long` has 64 bits in a program of mpicc -mlong64. */
const WIDE = /^(MPI_Count|MPI_Offset|long) \w+$/;

/**
 * Arguments of 64 bits as numbers. @throws MPIError ERR_COUNT for one beyond 2^53: no memory and no file here is as
 * long
 */
function narrow(args: readonly Word[], f: CFunction): number[] {
  return args.map((x, i) => {
    const value = Number(x);
    if (typeof x === 'bigint' && !Number.isSafeInteger(value))
      throw new MPIError(
        ERR.COUNT,
        f.name,
        `${f.parameters[i] ?? 'an argument'} is ${x}: more than 2^53 is not supported`,
      );
    return value;
  });
}

/** What the name and the parameters of a function say, looked at once. */
interface Traits {
  readonly anytime: boolean;
  readonly always: boolean;
  readonly wide: boolean;
}
const traits = new Map<CFunction, Traits>();
function traitsOf(f: CFunction): Traits {
  let t = traits.get(f);
  if (!t)
    traits.set(
      f,
      (t = {
        anytime: ANYTIME.test(f.name),
        always: ALWAYS.test(f.name),
        wide: f.parameters.some((p) => WIDE.test(p)),
      }),
    );
  return t;
}

export function exported(core: Core, f: CFunction, implementation: Implementation): Exported {
  const short = (f.largeOf ?? f.name).replace(/^MPI_/, '');
  const { heap } = core;
  const large = f.largeOf !== undefined;
  const { anytime, always, wide } = traitsOf(f);
  const mayBreak = !always && failures.ftModesOf(core.layer) !== undefined;
  const enter = (): void => {
    heap.call = f.name;
    heap.large = large;
    if (!core.inUse && !anytime) early(core, f.name);
    if (mayBreak && core.inUse) failures.needWhole(core.layer, f.name);
  };
  if ('exact' in implementation)
    return (...args) => {
      try {
        enter();
        return implementation.exact(...args);
      } catch (e) {
        if (e instanceof MPIError) return core.raise(e);
        throw e;
      }
    };
  const body =
    typeof implementation === 'function'
      ? direct(core, implementation, enter)
      : waiting(core, short, implementation, enter);
  // Answers other than error codes stay as they are; a 64-bit one does not occur.
  if (!wide) return body as Exported;
  return (...args) => {
    let narrowed: number[];
    try {
      narrowed = narrow(args, f);
    } catch (e) {
      return core.raise(e as MPIError);
    }
    return (body as (...a: number[]) => number)(...narrowed);
  };
}

function early(core: Core, name: string): never {
  throw new MPIError(
    ERR.OTHER,
    name,
    core.state.phase === 'before' ? 'called before MPI_Init' : 'called after MPI_Finalize',
  );
}

/** One wrapper per number of arguments: rest parameters would cost an array at every call. */
function direct(core: Core, f: Direct, enter: () => void): Direct {
  const failed = (e: unknown): number => {
    if (e instanceof MPIError) return core.raise(e);
    throw e;
  };
  switch (f.length) {
    case 2:
      return (a, b) => {
        try {
          enter();
          return f(a!, b!);
        } catch (e) {
          return failed(e);
        }
      };
    case 6:
      return (a, b, c, d, g, h) => {
        try {
          enter();
          return f(a!, b!, c!, d!, g!, h!);
        } catch (e) {
          return failed(e);
        }
      };
    case 7:
      return (a, b, c, d, g, h, i) => {
        try {
          enter();
          return f(a!, b!, c!, d!, g!, h!, i!);
        } catch (e) {
          return failed(e);
        }
      };
    default:
      return (...args) => {
        try {
          enter();
          return f(...args);
        } catch (e) {
          return failed(e);
        }
      };
  }
}

function waiting(core: Core, short: string, f: Waiting, enter: () => void): Direct {
  const go = (r: CallRecord): number => {
    try {
      const code = f.finish(r);
      return code;
    } catch (e) {
      if (e instanceof Interrupted) {
        core.state.pending = r;
        throw e;
      }
      if (e instanceof MPIError) return core.raise(e);
      throw e;
    }
  };
  return (...args) => {
    let r: CallRecord | number;
    if (core.resuming) {
      core.resuming = false;
      r = core.state.pending!;
      if (r.call !== short) throw new Error(`${short} came in where ${r.call} was to be resumed`);
      core.state.pending = undefined;
      core.heap.call = short.startsWith('MPIX_') ? short : `MPI_${short}`;
      return go(r);
    }
    try {
      enter();
      r = f.start(...args);
    } catch (e) {
      if (e instanceof MPIError) return core.raise(e);
      throw e;
    }
    return typeof r === 'number' ? r : go(r);
  };
}
