/** What every communicator object has: its record, and point to point. The rest stands in comm.ts. */
import { ANY_SOURCE, ANY_TAG, PROC_NULL, ROOT } from '../constants.ts';
import { commOf } from '../layer.ts';
import { check, improbe, iprobe, mprobe, probe, send as sendNow, startReceive, startSend } from '../p2p.ts';
import * as bundles from '../bundle.ts';
import * as requests from '../requests.ts';
import { newSeries } from '../schedule.ts';
import { stateProgress } from '../stated-progress.ts';
import { contextOf, Held } from './held.ts';
import { GroupObject } from './group.ts';
import { ElementsObject, checkData, received, sentBytes } from './datatype.ts';
import { MessageObject } from './message.ts';
import { PartitionedReceiveObject, PartitionedSendObject, PersistentObject } from './persistent.ts';
import { ObjectRequestObject, RequestObject, status } from './status.ts';
import type { Context } from './context.ts';
import type { Outcome } from '../requests.ts';
import type { CommRecord } from '../state.ts';
import type * as Mayfly from '../../types/mayfly.d.ts';

type Data = Mayfly.Data;

export class PointToPoint extends Held {
  private groupObject: GroupObject | undefined;
  constructor(
    context: Context,
    readonly handle: number,
  ) {
    super(context);
  }

  record(call: string): CommRecord {
    return commOf(contextOf(this).layer, this.handle, call);
  }
  get rank(): number {
    return contextOf(this).local(() => this.record('MPI_Comm_rank').rank);
  }
  get size(): number {
    return contextOf(this).local(() => this.record('MPI_Comm_size').group.length);
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
    return contextOf(this).call(() => this.record('MPI_Comm_test_inter').remote !== undefined);
  }
  /** Ranks that blocks are for or of: of an intercommunicator the other group's. */
  get blocks(): number {
    const c = this.record('MPI_Comm_size');
    return (c.remote ?? c.group).length;
  }
  get name(): string {
    return contextOf(this).call(() => this.record('MPI_Comm_get_name').name);
  }
  set name(value: string) {
    contextOf(this).call(() => void (this.record('MPI_Comm_set_name').name = String(value).slice(0, 128)));
  }
  progress(done: number, total = 1): void {
    contextOf(this).call(() => stateProgress(contextOf(this).layer, done, total, 'Comm.progress'));
  }
  get group(): Mayfly.Group {
    return contextOf(this).call(() => {
      const tasks = this.record('MPI_Comm_group').group;
      const { rows } = contextOf(this).layer.state.groups;
      if (!this.groupObject || !rows.has(this.groupObject.handle))
        this.groupObject = GroupObject.make(contextOf(this), [...tasks]);
      return this.groupObject;
    });
  }

  // ── point to point

  private body(data: Data, call: string, what?: string): Uint8Array {
    return sentBytes(contextOf(this), data, call, this.handle, what);
  }
  send(buf: Data, dest: number, tag = 0): void {
    contextOf(this).call(() => sendNow(contextOf(this).layer, this.handle, dest, tag, this.body(buf, 'MPI_Send')));
  }
  ssend(buf: Data, dest: number, tag = 0): void {
    contextOf(this).call(() =>
      this.finish(
        startSend(contextOf(this).layer, this.handle, dest, tag, this.body(buf, 'MPI_Ssend'), true, 'MPI_Ssend'),
      ),
    );
  }
  recv(buf: Data, source: number = ANY_SOURCE, tag: number = ANY_TAG): Mayfly.Status {
    return contextOf(this).call(() => status(this.finish(this.receive(buf, source, tag, 'MPI_Recv')).status));
  }
  isend(buf: Data, dest: number, tag = 0): Mayfly.Request {
    return this.request(() =>
      startSend(contextOf(this).layer, this.handle, dest, tag, this.body(buf, 'MPI_Isend'), false, 'MPI_Isend'),
    );
  }
  issend(buf: Data, dest: number, tag = 0): Mayfly.Request {
    return this.request(() =>
      startSend(contextOf(this).layer, this.handle, dest, tag, this.body(buf, 'MPI_Issend'), true, 'MPI_Issend'),
    );
  }
  irecv(buf: Data, source: number = ANY_SOURCE, tag: number = ANY_TAG): Mayfly.Request {
    return this.request(() => this.receive(buf, source, tag, 'MPI_Irecv'));
  }
  /** The send is buffered before the receive may write: one array may be both. */
  private exchange(
    send: Data,
    dest: number,
    sendTag: number,
    recv: Data,
    source: number,
    recvTag: number,
    call: string,
  ): number {
    const comm = this.record(call);
    check(comm, { dest, sendTag, source, recvTag }, call);
    checkData(contextOf(this), recv, call, this.handle, 'the receive buffer');
    const body = this.body(send, call, 'the send buffer');
    sendNow(contextOf(this).layer, this.handle, dest, sendTag, body, call);
    return this.receive(recv, source, recvTag, call);
  }
  sendrecv(
    send: Data,
    dest: number,
    sendTag: number,
    recv: Data,
    source: number = ANY_SOURCE,
    recvTag: number = ANY_TAG,
  ): Mayfly.Status {
    return contextOf(this).call(() =>
      status(this.finish(this.exchange(send, dest, sendTag, recv, source, recvTag, 'MPI_Sendrecv')).status),
    );
  }
  sendrecvReplace(
    buf: Data,
    dest: number,
    sendTag = 0,
    source: number = ANY_SOURCE,
    recvTag: number = ANY_TAG,
  ): Mayfly.Status {
    return contextOf(this).call(() =>
      status(this.finish(this.exchange(buf, dest, sendTag, buf, source, recvTag, 'MPI_Sendrecv_replace')).status),
    );
  }
  isendrecv(
    send: Data,
    dest: number,
    sendTag: number,
    recv: Data,
    source: number = ANY_SOURCE,
    recvTag: number = ANY_TAG,
  ): Mayfly.Request {
    return this.request(() => this.exchange(send, dest, sendTag, recv, source, recvTag, 'MPI_Isendrecv'));
  }
  isendrecvReplace(
    buf: Data,
    dest: number,
    sendTag = 0,
    source: number = ANY_SOURCE,
    recvTag: number = ANY_TAG,
  ): Mayfly.Request {
    return this.request(() => this.exchange(buf, dest, sendTag, buf, source, recvTag, 'MPI_Isendrecv_replace'));
  }
  sendInit(buf: Data, dest: number, tag = 0): Mayfly.PersistentRequest {
    return this.persistentSend('MPI_Send_init', buf, dest, tag, false);
  }
  ssendInit(buf: Data, dest: number, tag = 0): Mayfly.PersistentRequest {
    return this.persistentSend('MPI_Ssend_init', buf, dest, tag, true);
  }
  /** Arguments are checked now, and not only when it is started. */
  private persistentSend(call: string, buf: Data, dest: number, tag: number, sync: boolean): Mayfly.PersistentRequest {
    return this.persistent(
      call,
      () => startSend(contextOf(this).layer, this.handle, dest, tag, this.body(buf, call), sync, call),
      false,
      () => {
        check(this.record(call), { dest, sendTag: tag, source: ANY_SOURCE, recvTag: ANY_TAG }, call);
        checkData(contextOf(this), buf, call, this.handle);
      },
    );
  }
  recvInit(buf: Data, source: number = ANY_SOURCE, tag: number = ANY_TAG): Mayfly.PersistentRequest {
    const call = 'MPI_Recv_init';
    return this.persistent(
      call,
      () => this.receive(buf, source, tag, call),
      false,
      () => {
        check(this.record(call), { dest: PROC_NULL, sendTag: 0, source, recvTag: tag }, call);
        checkData(contextOf(this), buf, call, this.handle);
      },
    );
  }
  /** @param collective it has a place among the collectives */
  persistent(
    call: string,
    begin: () => number,
    collective: boolean,
    checked: () => void = () => undefined,
  ): Mayfly.PersistentRequest {
    return contextOf(this).call(() => {
      checked();
      return new PersistentObject(
        contextOf(this),
        call,
        this.handle,
        begin,
        collective ? newSeries(this.record(call)) : undefined,
      );
    });
  }
  psendInit(buf: Data, partitions: number, dest: number, tag = 0): Mayfly.PartitionedSend {
    return PartitionedSendObject.create(contextOf(this), this.handle, buf, partitions, dest, tag);
  }
  precvInit(buf: Data, partitions: number, source: number, tag = 0): Mayfly.PartitionedReceive {
    return PartitionedReceiveObject.create(contextOf(this), this.handle, buf, partitions, source, tag);
  }
  probe(source: number = ANY_SOURCE, tag: number = ANY_TAG): Mayfly.Status {
    return contextOf(this).call(() => status(probe(contextOf(this).layer, this.handle, source, tag)));
  }
  iprobe(source: number = ANY_SOURCE, tag: number = ANY_TAG): Mayfly.Status | undefined {
    return contextOf(this).call(() => {
      const s = iprobe(contextOf(this).layer, this.handle, source, tag);
      return s && status(s);
    });
  }
  mprobe(source: number = ANY_SOURCE, tag: number = ANY_TAG): Mayfly.Message {
    return contextOf(this).call(
      () => new MessageObject(contextOf(this), mprobe(contextOf(this).layer, this.handle, source, tag), this.handle),
    );
  }
  improbe(source: number = ANY_SOURCE, tag: number = ANY_TAG): Mayfly.Message | undefined {
    return contextOf(this).call(() => {
      const m = improbe(contextOf(this).layer, this.handle, source, tag);
      return m && new MessageObject(contextOf(this), m, this.handle);
    });
  }
  sendObject(value: unknown, dest: number, tag = 0): void {
    contextOf(this).call(() =>
      sendNow(
        contextOf(this).layer,
        this.handle,
        dest,
        tag,
        contextOf(this).encode(value, 'sendObject', this.handle),
        'sendObject',
        true,
      ),
    );
  }
  isendObject(value: unknown, dest: number, tag = 0): Mayfly.Request {
    return this.request(() =>
      startSend(
        contextOf(this).layer,
        this.handle,
        dest,
        tag,
        contextOf(this).encode(value, 'isendObject', this.handle),
        false,
        'isendObject',
        true,
      ),
    );
  }
  recvObject<T>(source: number = ANY_SOURCE, tag: number = ANY_TAG): { value: T; status: Mayfly.Status } {
    return contextOf(this).call(() => {
      const o = this.finish(startReceive(contextOf(this).layer, this.handle, source, tag, undefined, 'recvObject'));
      return {
        value: o.body ? contextOf(this).decode<T>(o.body, 'recvObject', this.handle) : (undefined as T),
        status: status(o.status),
      };
    });
  }

  irecvObject<T>(source: number = ANY_SOURCE, tag: number = ANY_TAG): Mayfly.ObjectRequest<T> {
    return contextOf(this).call(
      () =>
        new ObjectRequestObject<T>(
          contextOf(this),
          startReceive(contextOf(this).layer, this.handle, source, tag, undefined, 'irecvObject'),
        ),
    );
  }

  private receive(buf: Data, source: number, tag: number, call: string): number {
    if (!(buf instanceof ElementsObject)) {
      const into = contextOf(this).pin(buf, call, this.handle);
      try {
        return startReceive(contextOf(this).layer, this.handle, source, tag, into, call, true);
      } catch (e) {
        contextOf(this).layer.memory.unpin(into.space);
        throw e;
      }
    }
    return bundles.begin(contextOf(this).layer, (b) => {
      const into = received(contextOf(this), b, buf, call, this.handle);
      return startReceive(contextOf(this).layer, this.handle, source, tag, into, call);
    });
  }
  request(start: () => number): Mayfly.Request {
    return contextOf(this).call(() => new RequestObject(contextOf(this), start()));
  }
  /** The second half of a blocking call. */
  finish(handle: number): Outcome {
    const o = requests.wait(contextOf(this).layer, handle);
    if (o.error) throw contextOf(this).failed(o.error, o.comm);
    return o;
  }
}
