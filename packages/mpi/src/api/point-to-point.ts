/** What every communicator object has: its record, and point to point. The rest stands in comm.ts. */
import { ANY_SOURCE, ANY_TAG, ROOT } from '../constants.ts';
import { commOf, type Layer } from '../layer.ts';
import { iprobe, probe, send as sendNow, startReceive, startSend } from '../p2p.ts';
import * as requests from '../requests.ts';
import { GroupObject } from './group.ts';
import { RequestObject, status } from './status.ts';
import type { Context } from './context.ts';
import type { Outcome } from '../requests.ts';
import type { CommRecord } from '../state.ts';
import type * as Mayfly from '../../types/mayfly.d.ts';

type Buffer = Mayfly.Buffer;

export class PointToPoint {
  private groupObject: GroupObject | undefined;
  constructor(
    protected readonly context: Context,
    readonly handle: number,
  ) {}

  protected get layer(): Layer {
    return this.context.layer;
  }
  record(call: string): CommRecord {
    return commOf(this.layer, this.handle, call);
  }
  get rank(): number {
    return this.context.call(() => this.record('MPI_Comm_rank').rank);
  }
  get size(): number {
    return this.context.call(() => this.record('MPI_Comm_size').group.length);
  }
  /** Has the blocks of all in a collective with this root: itself, or of an intercommunicator who says ROOT. */
  isRoot(root: number): boolean {
    const c = this.record('MPI_Comm_rank');
    return c.remote ? root === ROOT : c.rank === root;
  }
  /** Gives or gets a block of its own in a collective with this root: of an intercommunicator the other group only. */
  hasOwn(root: number): boolean {
    return !this.isInter || root >= 0;
  }
  get isInter(): boolean {
    return this.context.call(() => this.record('MPI_Comm_test_inter').remote !== undefined);
  }
  /** Ranks that blocks are for or of: of an intercommunicator the other group's. */
  get blocks(): number {
    const c = this.record('MPI_Comm_size');
    return (c.remote ?? c.group).length;
  }
  get name(): string {
    return this.context.call(() => this.record('MPI_Comm_get_name').name);
  }
  set name(value: string) {
    this.context.call(() => void (this.record('MPI_Comm_set_name').name = String(value).slice(0, 128)));
  }
  get group(): Mayfly.Group {
    return this.context.call(() => {
      const tasks = this.record('MPI_Comm_group').group;
      const { rows } = this.layer.state.groups;
      if (!this.groupObject || !rows.has(this.groupObject.handle)) this.groupObject = GroupObject.make(this.context, [...tasks]);
      return this.groupObject;
    });
  }

  // ── point to point

  send(buf: Buffer, dest: number, tag = 0): void {
    this.context.call(() => sendNow(this.layer, this.handle, dest, tag, this.context.bytes(buf, 'MPI_Send', this.handle).bytes));
  }
  ssend(buf: Buffer, dest: number, tag = 0): void {
    this.context.call(() => this.finish(startSend(this.layer, this.handle, dest, tag, this.context.bytes(buf, 'MPI_Ssend', this.handle).bytes, true, 'MPI_Ssend')));
  }
  recv(buf: Buffer, source: number = ANY_SOURCE, tag: number = ANY_TAG): Mayfly.Status {
    return this.context.call(() => status(this.finish(this.receive(buf, source, tag, 'MPI_Recv')).status));
  }
  isend(buf: Buffer, dest: number, tag = 0): Mayfly.Request {
    return this.request(() => startSend(this.layer, this.handle, dest, tag, this.context.bytes(buf, 'MPI_Isend', this.handle).bytes, false, 'MPI_Isend'));
  }
  issend(buf: Buffer, dest: number, tag = 0): Mayfly.Request {
    return this.request(() => startSend(this.layer, this.handle, dest, tag, this.context.bytes(buf, 'MPI_Issend', this.handle).bytes, true, 'MPI_Issend'));
  }
  irecv(buf: Buffer, source: number = ANY_SOURCE, tag: number = ANY_TAG): Mayfly.Request {
    return this.request(() => this.receive(buf, source, tag, 'MPI_Irecv'));
  }
  sendrecv(send: Buffer, dest: number, sendTag: number, recv: Buffer, source: number = ANY_SOURCE, recvTag: number = ANY_TAG): Mayfly.Status {
    const call = 'MPI_Sendrecv';
    return this.context.call(() => {
      const body = this.context.bytes(send, call, this.handle, 'the send buffer').bytes;
      sendNow(this.layer, this.handle, dest, sendTag, body, call);
      return status(this.finish(this.receive(recv, source, recvTag, call)).status);
    });
  }
  sendrecvReplace(buf: Buffer, dest: number, sendTag = 0, source: number = ANY_SOURCE, recvTag: number = ANY_TAG): Mayfly.Status {
    const call = 'MPI_Sendrecv_replace';
    return this.context.call(() => {
      // The send is buffered before the receive may write: no copy is needed.
      sendNow(this.layer, this.handle, dest, sendTag, this.context.bytes(buf, call, this.handle).bytes, call);
      return status(this.finish(this.receive(buf, source, recvTag, call)).status);
    });
  }
  probe(source: number = ANY_SOURCE, tag: number = ANY_TAG): Mayfly.Status {
    return this.context.call(() => status(probe(this.layer, this.handle, source, tag)));
  }
  iprobe(source: number = ANY_SOURCE, tag: number = ANY_TAG): Mayfly.Status | undefined {
    return this.context.call(() => {
      const s = iprobe(this.layer, this.handle, source, tag);
      return s && status(s);
    });
  }
  sendObject(value: unknown, dest: number, tag = 0): void {
    this.context.call(() => sendNow(this.layer, this.handle, dest, tag, this.context.encode(value, 'sendObject', this.handle), 'sendObject', true));
  }
  isendObject(value: unknown, dest: number, tag = 0): Mayfly.Request {
    return this.request(() => startSend(this.layer, this.handle, dest, tag, this.context.encode(value, 'isendObject', this.handle), false, 'isendObject', true));
  }
  recvObject<T>(source: number = ANY_SOURCE, tag: number = ANY_TAG): { value: T; status: Mayfly.Status } {
    return this.context.call(() => {
      const o = this.finish(startReceive(this.layer, this.handle, source, tag, undefined, 'recvObject'));
      return { value: o.body ? this.context.decode<T>(o.body, 'recvObject', this.handle) : (undefined as T), status: status(o.status) };
    });
  }

  private receive(buf: unknown, source: number, tag: number, call: string): number {
    const into = this.context.pin(buf, call, this.handle);
    try {
      return startReceive(this.layer, this.handle, source, tag, into, call, true);
    } catch (e) {
      this.layer.memory.unpin(into.space);
      throw e;
    }
  }
  protected request(start: () => number): Mayfly.Request {
    return this.context.call(() => new RequestObject(this.context, start()));
  }
  /** The second half of a blocking call. */
  finish(handle: number): Outcome {
    const o = requests.wait(this.layer, handle);
    if (o.error) throw this.context.failed(o.error, o.comm);
    return o;
  }
}
