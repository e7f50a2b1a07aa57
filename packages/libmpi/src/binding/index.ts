/**
 * The binding: MPI functions of C over the layer (packages/mpi), as the imports of a program's module. Which function
 * lies where is in this folder's file names; how they become imports is in define.ts; what an image holds of them is in
 * state.ts.
 */
import { ERR, decodeValue, encodeValue, MalformedValue, stateProgress } from '@mayfly/mpi';
import { EXTENSIONS } from '../abi/extensions.ts';
import { FUNCTIONS, type CFunction } from '../abi/functions.ts';
import type { Binding, BindingOptions, Word } from '../program.ts';
import { attributes } from './attributes.ts';
import { checkpointCalls } from './ckpt.ts';
import { collectives } from './collectives.ts';
import { reductions } from './reductions.ts';
import { communicators, madeComm } from './communicators.ts';
import { Core } from './core.ts';
import { bindDatarep } from './datareps.ts';
import { datatypes } from './datatypes.ts';
import { exported, type Implementation, type Implementations } from './define.ts';
import { environment } from './environment.ts';
import { failureCalls } from './failures.ts';
import { external } from './external32.ts';
import { fileAccess } from './files-access.ts';
import { fileFunctions } from './files.ts';
import { integers } from './integers.ts';
import { SUSPENDING } from './suspending-calls.ts';
import { processes } from './processes.ts';
import { sessions } from './sessions.ts';
import { neighbourhoods } from './neighbours.ts';
import { partitionedCommunication } from './partitioned.ts';
import { pointToPoint } from './point-to-point.ts';
import { completion, type Starters } from './requests.ts';
import { BINDING_FORMAT, initialState, type BindingState } from './state.ts';
import { tools } from './tools.ts';
import { topologies } from './topologies.ts';
import { bindOp } from './user-op.ts';
import { windowAccess } from './windows-access.ts';
import { windowFunctions } from './windows.ts';

/** In groups: joining hundreds of functions in one object costs more than making them. */
function implementations(core: Core): Implementations[] {
  const starters: Starters = {};
  return [
    pointToPoint(core, starters),
    partitionedCommunication(core, starters),
    completion(core, starters, (number, at, parent, gets) =>
      madeComm(core, number, at, parent, gets?.info, gets?.attributes),
    ),
    collectives(core, starters),
    reductions(core, starters),
    neighbourhoods(core, starters),
    communicators(core),
    processes(core),
    sessions(core),
    attributes(core),
    topologies(core),
    datatypes(core),
    external(core),
    environment(core),
    tools(core),
    windowFunctions(core),
    windowAccess(core),
    fileFunctions(core),
    fileAccess(core),
    integers(),
  ];
}

/** What stands for a function that is declared and not there yet: it links, and says so when it is called. */
const missing = (core: Core) => (): number =>
  core.fail(ERR.UNSUPPORTED_OPERATION, 'Mayfly does not have this function yet (docs/mpi-coverage.md)');

/** Mayfly's own, which the header declares at its end. */
const PROGRESS: CFunction = {
  name: 'MPIX_Progress',
  result: 'int',
  parameters: ['double done', 'double total'],
  chapter: '',
  largeOf: undefined,
};

/** Names without MPI_ of all functions that are more than a refusal. Large forms are there with their function. */
export function supported(): ReadonlySet<string> {
  // The functions are made over an empty rank; none of them runs.
  const core = new Core({
    layer: undefined as never,
    program: { memory: { buffer: new ArrayBuffer(0) } } as never,
    processorName: () => '',
    version: '',
  });
  return new Set(implementations(core).flatMap(Object.keys));
}

/** The group of each name: the same for every rank. */
let groupOf: ReadonlyMap<string, number> | undefined;
const indexed = (groups: readonly Implementations[]): ReadonlyMap<string, number> =>
  new Map(groups.flatMap((g, i) => Object.keys(g).map((name) => [name, i] as const)));

export function createBinding(options: BindingOptions): Binding {
  const core = new Core(options);
  const groups = implementations(core);
  const find = (name: string): Implementation | undefined =>
    groups[(groupOf ??= indexed(groups)).get(name.slice(4)) ?? -1]?.[name.slice(4)];
  const functions: Record<string, (...args: Word[]) => Word | void> = {};
  const { wanted } = options;
  for (const f of FUNCTIONS) {
    if (wanted && !wanted.has(f.name) && !wanted.has(`P${f.name}`)) continue;
    const own = find(f.name) ?? (f.largeOf === undefined ? undefined : find(f.largeOf));
    const fn = exported(core, f, own ?? missing(core));
    functions[f.name] = fn;
    functions[`P${f.name}`] = fn;
  }
  const own = { ...failureCalls(core), ...checkpointCalls(core) };
  for (const f of EXTENSIONS) {
    if (wanted && !wanted.has(f.name) && !wanted.has(`P${f.name}`)) continue;
    functions[f.name] = functions[`P${f.name}`] = exported(core, f, own[f.name]!);
  }
  functions['MPIX_Checkpoint_poll'] = () => ERR.SUCCESS;
  functions['MPIX_Progress'] = exported(
    core,
    PROGRESS,
    (done: number, total: number) => (stateProgress(core.layer, done, total, 'MPIX_Progress'), ERR.SUCCESS),
  );
  return {
    functions,
    suspending: new Set(SUSPENDING),
    get depth() {
      return core.depth;
    },
    resume: () => void (core.resuming = core.state.pending !== undefined),
    get unfinalized() {
      return core.inUse;
    },
    snapshot: () => {
      core.state.images++;
      return encodeValue(core.state, 'MPI binding');
    },
    restore: (bytes) => {
      const state = decodeValue(bytes) as BindingState;
      if (state.format !== BINDING_FORMAT)
        throw new MalformedValue(`MPI binding of format ${String(state.format)}, this build reads ${BINDING_FORMAT}`);
      // An image of an older build lacks what came later.
      core.state = { ...initialState(), ...state };
      if (!state.allocated) delete core.state.allocated;
      for (const op of state.opFunctions.keys()) bindOp(core, op);
      for (const name of state.datareps?.keys() ?? []) bindDatarep(core, name);
    },
  };
}
