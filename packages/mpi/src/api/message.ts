/** Messages of matched probes (MPI 4.1 §3.8.2): nobody else can receive them. */
import * as bundles from '../bundle.ts';
import { startMatchedReceive, type Matched } from '../p2p.ts';
import * as requests from '../requests.ts';
import { received } from './datatype.ts';
import { RequestObject, status } from './status.ts';
import type { Context } from './context.ts';
import type * as Mayfly from '../../types/mayfly.d.ts';

export class MessageObject implements Mayfly.Message {
  readonly status: Mayfly.Status;
  private readonly handle: number;

  constructor(
    private readonly context: Context,
    matched: Matched,
    private readonly comm: number,
  ) {
    this.status = status(matched.status);
    this.handle = matched.handle;
  }
  private start(buf: Mayfly.Data, call: string): number {
    const { context } = this;
    return bundles.begin(context.layer, (b) => startMatchedReceive(context.layer, this.handle, received(context, b, buf, call, this.comm), call));
  }
  private finish(handle: number): requests.Outcome {
    const o = requests.wait(this.context.layer, handle);
    if (o.error) throw this.context.failed(o.error, o.comm);
    return o;
  }
  recv(buf: Mayfly.Data): Mayfly.Status {
    return this.context.call(() => status(this.finish(this.start(buf, 'MPI_Mrecv')).status));
  }
  irecv(buf: Mayfly.Data): Mayfly.Request {
    return this.context.call(() => new RequestObject(this.context, this.start(buf, 'MPI_Imrecv')));
  }
  recvObject<T>(): { value: T; status: Mayfly.Status } {
    return this.context.call(() => {
      const o = this.finish(startMatchedReceive(this.context.layer, this.handle, undefined, 'MPI_Mrecv'));
      return { value: o.body ? this.context.decode<T>(o.body, 'MPI_Mrecv', this.comm) : (undefined as T), status: status(o.status) };
    });
  }
}
