/** Sessions (MPI 4.1 §11.3): process sets as groups, from which createFromGroup makes communicators. */
import * as comms from '../comm.ts';
import { ERR, fail } from '../errors.ts';
import { contextOf, Held } from './held.ts';
import { GroupObject } from './group.ts';
import type { Context } from './context.ts';
import type * as Mayfly from '../../types/mayfly.d.ts';

export class SessionObject extends Held implements Mayfly.Session {
  private finalized = false;
  readonly info: Mayfly.Info = Object.freeze({ thread_level: 'MPI_THREAD_MULTIPLE', mpi_memory_alloc_kinds: 'mpi' });
  private constructor(context: Context) {
    super(context);
  }

  static init(context: Context): SessionObject {
    return context.call(() => {
      if (context.layer.state.finalized) fail(ERR.OTHER, 'MPI_Session_init', 'called after MPI_Finalize');
      return new SessionObject(context);
    });
  }
  private within<T>(call: string, f: () => T): T {
    return contextOf(this).call(() => (this.finalized ? fail(ERR.SESSION, call, 'the session was finalized') : f()));
  }
  get psets(): readonly string[] {
    return this.within('MPI_Session_get_nth_pset', () => [...comms.processSets(contextOf(this).layer).keys()]);
  }
  private tasks(name: string, call: string): number[] {
    return (
      comms.processSet(contextOf(this).layer, String(name)) ??
      fail(ERR.ARG, call, `there is no process set '${String(name)}' (there are ${this.psets.join(' and ')})`)
    );
  }
  psetInfo(name: string): Mayfly.Info {
    const call = 'MPI_Session_get_pset_info';
    return this.within(call, () => ({ mpi_size: String(this.tasks(name, call).length) }));
  }
  group(name: string): Mayfly.Group {
    const call = 'MPI_Group_from_session_pset';
    return this.within(call, () => GroupObject.make(contextOf(this), this.tasks(name, call)));
  }
  finalize(): void {
    this.within('MPI_Session_finalize', () => void (this.finalized = true));
  }
}
