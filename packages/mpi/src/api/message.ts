/** Messages of matched probes (MPI 4.1 §3.8.2): nobody else can receive them. */
import * as bundles from '../bundle.ts';
import { startMatchedReceive, type Matched } from '../p2p.ts';
import * as requests from '../requests.ts';
import { contextOf, Held } from './held.ts';
import { received } from './datatype.ts';
import { RequestObject, status } from './status.ts';
import type { Context } from './context.ts';
import type * as Mayfly from '../../types/mayfly.d.ts';

export class MessageObject extends Held implements Mayfly.Message {
  readonly status: Mayfly.Status;
  private readonly handle: number;

  constructor(
    context: Context,
    matched: Matched,
    private readonly comm: number,
  ) {
    super(context);
    this.status = status(matched.status);
    this.handle = matched.handle;
  }
  private start(buf: Mayfly.Data, call: string): number {
    const context = contextOf(this);
    return bundles.begin(context.layer, (b) =>
      startMatchedReceive(context.layer, this.handle, received(context, b, buf, call, this.comm), call),
    );
  }
  private finish(handle: number): requests.Outcome {
    const o = requests.wait(contextOf(this).layer, handle);
    if (o.error) throw contextOf(this).failed(o.error, o.comm);
    return o;
  }
  recv(buf: Mayfly.Data): Mayfly.Status {
    return contextOf(this).call(() => status(this.finish(this.start(buf, 'MPI_Mrecv')).status));
  }
  irecv(buf: Mayfly.Data): Mayfly.Request {
    return contextOf(this).call(() => new RequestObject(contextOf(this), this.start(buf, 'MPI_Imrecv')));
  }
  recvObject<T>(): { value: T; status: Mayfly.Status } {
    return contextOf(this).call(() => {
      const o = this.finish(startMatchedReceive(contextOf(this).layer, this.handle, undefined, 'MPI_Mrecv'));
      return {
        value: o.body ? contextOf(this).decode<T>(o.body, 'MPI_Mrecv', this.comm) : (undefined as T),
        status: status(o.status),
      };
    });
  }
}
