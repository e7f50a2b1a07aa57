/** Status and Request objects of the API, and the wait and test families. */
import { UNDEFINED } from '../constants.ts';
import { ERR, MPIError, fail } from '../errors.ts';
import * as requests from '../requests.ts';
import { requestOf } from '../layer.ts';
import type { Context } from './context.ts';
import type { Outcome } from '../requests.ts';
import type { StatusRecord } from '../state.ts';
import type * as Mayfly from '../../types/mayfly.d.ts';

class StatusObject implements Mayfly.Status {
  readonly source: number;
  readonly tag: number;
  readonly bytes: number;
  readonly cancelled: boolean;
  readonly isObject: boolean;
  readonly error: Mayfly.MPIError | undefined;
  constructor(r: StatusRecord, error?: MPIError) {
    this.source = r.source;
    this.tag = r.tag;
    this.bytes = r.bytes;
    this.cancelled = r.cancelled;
    this.isObject = r.object;
    this.error = error as unknown as Mayfly.MPIError | undefined;
  }
  count(type: { readonly BYTES_PER_ELEMENT: number }): number {
    return this.bytes % type.BYTES_PER_ELEMENT === 0 ? this.bytes / type.BYTES_PER_ELEMENT : UNDEFINED;
  }
}

export const status = (r: StatusRecord, error?: MPIError): Mayfly.Status => new StatusObject(r, error);

export class RequestObject implements Mayfly.Request {
  constructor(
    private readonly context: Context,
    readonly handle: number,
  ) {}

  /** Throws the outcome's error, by way of its handler. */
  static finish(context: Context, o: Outcome): Mayfly.Status {
    if (o.error) throw context.failed(o.error, o.comm);
    return status(o.status);
  }
  wait(): Mayfly.Status {
    return this.context.call(() => RequestObject.finish(this.context, requests.wait(this.context.layer, this.handle)));
  }
  test(): Mayfly.Status | undefined {
    return this.context.call(() => {
      const o = requests.test(this.context.layer, this.handle);
      return o && RequestObject.finish(this.context, o);
    });
  }
  getStatus(): Mayfly.Status | undefined {
    return this.context.call(() => {
      const o = requests.getStatus(this.context.layer, this.handle);
      return o && status(o.status);
    });
  }
  cancel(): void {
    this.context.call(() => requests.cancel(this.context.layer, requestOf(this.context.layer, this.handle, 'MPI_Cancel').handle));
  }
  free(): void {
    this.context.call(() => requests.free(this.context.layer, this.handle));
  }
  get inactive(): boolean {
    const r = this.context.layer.state.requests.rows.get(this.handle);
    return r === undefined || r.freed;
  }
}

/** waitall and its family as the module exports them. */
export function completion(context: Context): Pick<typeof Mayfly, 'waitall' | 'waitany' | 'waitsome' | 'testall' | 'testany' | 'testsome'> {
  const { layer } = context;
  const handles = (list: readonly Mayfly.Request[], call: string): number[] => {
    if (!Array.isArray(list)) fail(ERR.REQUEST, call, 'takes an array of requests');
    return list.map((r, i) => (r instanceof RequestObject ? r.handle : fail(ERR.REQUEST, call, `element ${i} is not a request`)));
  };
  const one = (r: { index: number; outcome: Outcome }): { index: number; status: Mayfly.Status } => ({ index: r.index, status: RequestObject.finish(context, r.outcome) });
  const several = (call: string, outcomes: readonly Outcome[]): Mayfly.Status[] => {
    const statuses = outcomes.map((o) => status(o.status, o.error && context.failed(o.error, o.comm)));
    const bad = outcomes.findIndex((o) => o.error);
    if (bad >= 0) {
      const first = outcomes[bad]!;
      const error = new MPIError(ERR.IN_STATUS, call, `request ${bad} failed: ${statuses[bad]!.error!.message}`, first.comm);
      error.statuses = statuses;
      throw error;
    }
    return statuses;
  };
  const some = (call: string, list: { index: number; outcome: Outcome }[]): { index: number; status: Mayfly.Status }[] => {
    const statuses = several(call, list.map((r) => r.outcome));
    return list.map((r, i) => ({ index: r.index, status: statuses[i]! }));
  };
  return {
    waitall: (list) => context.call(() => several('MPI_Waitall', requests.waitAll(layer, handles(list, 'MPI_Waitall')))),
    waitany: (list) =>
      context.call(() => {
        const r = requests.waitAny(layer, handles(list, 'MPI_Waitany'));
        return r && one(r);
      }),
    waitsome: (list) => context.call(() => some('MPI_Waitsome', requests.waitSome(layer, handles(list, 'MPI_Waitsome')))),
    testall: (list) =>
      context.call(() => {
        const r = requests.testAll(layer, handles(list, 'MPI_Testall'));
        return r && several('MPI_Testall', r);
      }),
    testany: (list) =>
      context.call(() => {
        const r = requests.testAny(layer, handles(list, 'MPI_Testany'));
        return r === undefined || r === 'none' ? undefined : one(r);
      }),
    testsome: (list) => context.call(() => some('MPI_Testsome', requests.testSome(layer, handles(list, 'MPI_Testsome')))),
  };
}
