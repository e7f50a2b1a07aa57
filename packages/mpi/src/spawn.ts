/**
 * Processes that come later (MPI 4.1 §11.8): the root asks the world for tasks, a world of their own, and the two
 * groups become an intercommunicator as any others do whose leaders can reach each other (intercomm.ts): the root and
 * the children's rank 0, which asks for it at its MPI_Init.
 *
 * The request is a numbered message of the root and its answer a logged arrival, so a root that is restarted asks once
 * and hears the same; what the world has granted is in its journal. Two steps for the program's call: {@link ask}, then
 * {@link meetChildren} with what came of it.
 */
import { SpawnRefusal, spawnedTasks, type SpawnRequest } from '@mayfly/wire';
import { bcastBinomial } from './collectives/bcast-binomial.ts';
import { checkRoot, intra } from './checks.ts';
import { COMM_WORLD, SPAWN_CONTEXT } from './constants.ts';
import { MPIError, type ErrorClass } from './errors.ts';
import { setCell } from './files/steps.ts';
import { CELL_BYTES } from './files/state.ts';
import { connect } from './intercomm.ts';
import { commOf, type Layer } from './layer.ts';
import { tellChildren } from './ports.ts';
import { Schedule, start } from './schedule.ts';
import type { Via } from './state.ts';

const via = (first: number): Via => ({ context: SPAWN_CONTEXT, tag: first });

/**
 * The request's result is the first of the new tasks, the bytes of its status how many were asked for (also where it
 * fails).
 * @param parts counts at the root only; undefined: the command is no program of this job
 */
export function ask(
  layer: Layer,
  handle: number,
  root: number,
  parts: () => { parts: SpawnRequest; known: boolean },
  call = 'MPI_Comm_spawn',
): number {
  const comm = intra(layer, handle, call);
  checkRoot(comm, root, call);
  const s = new Schedule(layer, comm, call);
  const cell = s.scratch(CELL_BYTES);
  let text: string | undefined;
  if (comm.rank === root) {
    try {
      const wanted = parts();
      const json = JSON.stringify(wanted.parts);
      if (wanted.known)
        s.file({ do: 'spawn', parts: json, cell }).next().file({ do: 'spawn', parts: json, cell, again: true }).next();
      else setCell(layer, cell, ERR_SPAWN, SpawnRefusal.COMMAND, spawnedTasks(wanted.parts));
    } catch (e) {
      if (!(e instanceof MPIError)) throw e;
      // The root's error is everybody's: nobody is left waiting.
      text = e.text;
      setCell(layer, cell, e.errorClass, 0, 0);
    }
  }
  bcastBinomial(s, cell, root);
  s.next();
  s.file({ do: 'spawned', cell, ...(text === undefined ? {} : { text }) });
  return start(s);
}
const ERR_SPAWN: ErrorClass = 53;

/**
 * The parents' side: the request's result is the intercommunicator. @param first of the new tasks @param count of them
 */
export function meetChildren(
  layer: Layer,
  handle: number,
  root: number,
  first: number,
  count: number,
  call = 'MPI_Comm_spawn',
): number {
  const comm = intra(layer, handle, call);
  if (comm.rank === root) tellChildren(layer, first, count);
  return connect(
    new Schedule(layer, comm, call),
    root,
    comm.rank === root ? { task: first, via: via(first) } : undefined,
    handle,
  );
}

/**
 * The children's side, all of them, before anything else: the request's result is the parent communicator. Undefined:
 * this task was not spawned, or has met them.
 */
export function meetParents(layer: Layer, call = 'MPI_Init'): number | undefined {
  const { spawned } = layer.device;
  if (!spawned || layer.state.parent !== undefined) return undefined;
  const world = commOf(layer, COMM_WORLD, call);
  return connect(
    new Schedule(layer, world, call),
    0,
    world.rank === 0 ? { task: spawned.root, via: via(spawned.first) } : undefined,
    0,
  );
}

export function setParent(layer: Layer, handle: number): void {
  layer.state.parent = handle;
  const comm = layer.state.comms.rows.get(handle);
  if (comm) comm.name = 'MPI_COMM_PARENT';
}

/** [MPI_Comm_get_parent] Its handle, or NULL: not spawned, or freed since. */
export function parentOf(layer: Layer): number {
  const handle = layer.state.parent ?? 0;
  const comm = layer.state.comms.rows.get(handle);
  return comm && !comm.freed ? handle : 0;
}

/** A command that names the job's own program: by its name, with or without a path and an ending. */
export function isOwn(command: string, program: string): boolean {
  const bare = (s: string): string =>
    (s.trim().split('/').at(-1) ?? '').replace(/\.(c|cc|cpp|cxx|ts|js|wasm|exe|out)$/i, '');
  return bare(command) !== '' && bare(command) === bare(program);
}
