/** The volunteers of the model (model.ts). */
import type { Hold, NodeId, ProgramKind } from '@mayfly/wire';
import type { DispatcherEffect } from '../../src/index.ts';

export interface Worker extends Hold {
  started: boolean;
  /** Steps until it exits. */
  left: number;
  /** It has taken its last image. */
  parked?: true;
}

/** One volunteer. Its socket and its workers live and die apart. */
export class Volunteer {
  id: NodeId | undefined;
  session = 0;
  connection: string | undefined;
  slots: number;
  frozen = false;
  workers: Worker[] = [];
  /** Sent by the server, under way on this connection. */
  inbox: DispatcherEffect[] = [];
  constructor(
    slots: number,
    /** undefined: it does not tell, and runs everything. */
    readonly runs: readonly ProgramKind[] | undefined,
  ) {
    this.slots = slots;
  }

  /** What its heartbeat says of its workers. */
  get reports() {
    return this.workers.map((w) => ({
      job: w.job,
      task: w.task,
      incarnation: w.incarnation,
      started: w.started,
      recovered: w.started,
      ...(w.parked && { parked: true as const }),
      activity: { state: 'computing' as const, arrivals: 0, sends: 0 },
    }));
  }
}
