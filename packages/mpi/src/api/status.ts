/** Status and Request objects of the API, and the wait and test families. */
import { UNDEFINED } from '../constants.ts';
import { ERR, MPIError, fail } from '../errors.ts';
import * as requests from '../requests.ts';
import { requestOf } from '../layer.ts';
import { elementsIn } from '../types/index.ts';
import { contextOf, Held } from './held.ts';
import { DatatypeObject } from './datatype.ts';
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
  count(type: Mayfly.Countable): number {
    const size = type instanceof DatatypeObject ? type.size : (type as { BYTES_PER_ELEMENT: number }).BYTES_PER_ELEMENT;
    if (size === 0) return 0;
    return this.bytes % size === 0 ? this.bytes / size : UNDEFINED;
  }
  elements(type: Mayfly.Datatype): number {
    return type instanceof DatatypeObject
      ? Number(elementsIn(type.record('MPI_Get_elements').signature, BigInt(this.bytes)))
      : fail(ERR.TYPE, 'MPI_Get_elements', 'the argument is not a datatype');
  }
}

export const status = (r: StatusRecord, error?: MPIError): Mayfly.Status => new StatusObject(r, error);

export class RequestObject extends Held implements Mayfly.Request {
  constructor(
    context: Context,
    /** Of the layer's request; of a persistent one that was never started 0. */
    public handle: number,
  ) {
    super(context);
  }

  /** What a complete request leaves, beside its status. */
  took(_outcome: Outcome): void {}
  /** Throws the outcome's error, by way of its handler. */
  settle(o: Outcome): Mayfly.Status {
    if (o.error) throw contextOf(this).failed(o.error, o.comm);
    if (o.comm !== 0) this.took(o);
    return status(o.status);
  }
  wait(): Mayfly.Status {
    return contextOf(this).call(() => this.settle(requests.wait(contextOf(this).layer, this.handle)));
  }
  test(): Mayfly.Status | undefined {
    return contextOf(this).call(() => {
      const o = requests.test(contextOf(this).layer, this.handle);
      return o && this.settle(o);
    });
  }
  getStatus(): Mayfly.Status | undefined {
    return contextOf(this).call(() => {
      const o = requests.getStatus(contextOf(this).layer, this.handle);
      return o && status(o.status);
    });
  }
  cancel(): void {
    if (this.inactive && this.handle === 0) return;
    contextOf(this).call(() =>
      requests.cancel(contextOf(this).layer, requestOf(contextOf(this).layer, this.handle, 'MPI_Cancel').handle),
    );
  }
  free(): void {
    contextOf(this).call(() => requests.free(contextOf(this).layer, this.handle));
  }
  get inactive(): boolean {
    const r = contextOf(this).layer.state.requests.rows.get(this.handle);
    return r === undefined || r.freed;
  }
}

/** A receive of a structured value. */
export class ObjectRequestObject<T> extends RequestObject implements Mayfly.ObjectRequest<T> {
  private received: { value: T } | undefined;
  override took(o: Outcome): void {
    if (o.body) this.received = { value: contextOf(this).decode<T>(o.body, 'irecvObject', o.comm) };
  }
  get value(): T {
    return this.received
      ? this.received.value
      : contextOf(this).call(() =>
          fail(ERR.REQUEST, 'ObjectRequest.value', 'the receive is not complete: wait for it first'),
        );
  }
}

/** A communicator that is being made. */
export class CommRequestObject extends RequestObject implements Mayfly.CommRequest {
  private made = 0;
  constructor(
    context: Context,
    handle: number,
    private readonly finished: (comm: number) => void,
  ) {
    super(context, handle);
  }
  override took(o: Outcome): void {
    this.made = o.result;
    this.finished(o.result);
  }
  get comm(): Mayfly.Comm {
    return this.made > 0
      ? contextOf(this).commObject(this.made)
      : contextOf(this).call(() =>
          fail(ERR.REQUEST, 'CommRequest.comm', 'the communicator is not made yet: wait for it first'),
        );
  }
}

/** waitall and its family as the module exports them. */
export function completion(
  context: Context,
): Pick<typeof Mayfly, 'waitall' | 'waitany' | 'waitsome' | 'testall' | 'testany' | 'testsome'> {
  const { layer } = context;
  const handles = (list: readonly Mayfly.Request[], call: string): number[] => {
    if (!Array.isArray(list)) fail(ERR.REQUEST, call, 'takes an array of requests');
    return list.map((r, i) =>
      r instanceof RequestObject ? r.handle : fail(ERR.REQUEST, call, `element ${i} is not a request`),
    );
  };
  const at = (list: readonly Mayfly.Request[], i: number): RequestObject => list[i] as RequestObject;
  const one = (
    list: readonly Mayfly.Request[],
    r: { index: number; outcome: Outcome },
  ): { index: number; status: Mayfly.Status } => ({ index: r.index, status: at(list, r.index).settle(r.outcome) });
  const several = (call: string, list: readonly RequestObject[], outcomes: readonly Outcome[]): Mayfly.Status[] => {
    const statuses = outcomes.map((o) => status(o.status, o.error && context.failed(o.error, o.comm)));
    outcomes.forEach((o, i) => {
      if (!o.error && o.comm !== 0) list[i]!.took(o);
    });
    const bad = outcomes.findIndex((o) => o.error);
    if (bad >= 0) {
      const first = outcomes[bad]!;
      const error = new MPIError(
        ERR.IN_STATUS,
        call,
        `request ${bad} failed: ${statuses[bad]!.error!.message}`,
        first.comm,
      );
      error.statuses = statuses;
      throw error;
    }
    return statuses;
  };
  const some = (
    call: string,
    all: readonly Mayfly.Request[],
    list: { index: number; outcome: Outcome }[],
  ): { index: number; status: Mayfly.Status }[] => {
    const statuses = several(
      call,
      list.map((r) => at(all, r.index)),
      list.map((r) => r.outcome),
    );
    return list.map((r, i) => ({ index: r.index, status: statuses[i]! }));
  };
  return {
    waitall: (list) =>
      context.call(() =>
        several('MPI_Waitall', list as readonly RequestObject[], requests.waitAll(layer, handles(list, 'MPI_Waitall'))),
      ),
    waitany: (list) =>
      context.call(() => {
        const r = requests.waitAny(layer, handles(list, 'MPI_Waitany'));
        return r && one(list, r);
      }),
    waitsome: (list) =>
      context.call(() => some('MPI_Waitsome', list, requests.waitSome(layer, handles(list, 'MPI_Waitsome')))),
    testall: (list) =>
      context.call(() => {
        const r = requests.testAll(layer, handles(list, 'MPI_Testall'));
        return r && several('MPI_Testall', list as readonly RequestObject[], r);
      }),
    testany: (list) =>
      context.call(() => {
        const r = requests.testAny(layer, handles(list, 'MPI_Testany'));
        return r === undefined || r === 'none' ? undefined : one(list, r);
      }),
    testsome: (list) =>
      context.call(() => some('MPI_Testsome', list, requests.testSome(layer, handles(list, 'MPI_Testsome')))),
  };
}
