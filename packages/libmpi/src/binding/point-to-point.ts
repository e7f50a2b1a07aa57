/**
 * Point to point (MPI 4.1 chapter 3). A standard, buffered or ready send is complete when it returns: the Channel
 * Memory is the buffer. Its request is therefore the one {@link COMPLETE}, which costs nothing.
 */
import { ERR, MPIError, PROC_NULL, isContiguous, p2p, requests, types, type Buf, type Outcome } from '@mayfly/mpi';
import { record, type Implementations } from './define.ts';
import { COMPLETE, newSlot } from './slots.ts';
import type { Starters } from './requests.ts';
import type { Core } from './core.ts';
import type { CallRecord } from './state.ts';

export function pointToPoint(core: Core, starters: Starters): Implementations {
  const { layer, heap } = core;

  /** The bytes of a message; of a derived type a packed copy. */
  const body = (buf: number, count: number, datatype: number, comm: number, use: (bytes: Uint8Array) => void): void => {
    const t = core.typeFor(count, datatype, comm);
    core.count(count, comm);
    core.taken(buf, count, t, comm, use);
  };
  const send = (buf: number, count: number, datatype: number, dest: number, tag: number, comm: number): number => {
    const c = core.commNumber(comm);
    body(buf, count, datatype, c, (bytes) => p2p.send(layer, c, dest, tag, bytes, core.call));
    return ERR.SUCCESS;
  };
  /** Room in the attached buffer: messages leave it at once, so each one finds it empty. */
  const buffered = (buf: number, count: number, datatype: number, dest: number, tag: number, comm: number): number => {
    const c = core.comm(comm);
    const bytes = core.typeFor(count, datatype, c.handle).layout.size * core.count(count, c.handle);
    const have =
      core.state.commBuffers.get(c.handle) ??
      core.state.buffer ??
      [...core.state.sessions.values()].find((x) => x.buffer)?.buffer;
    if (dest !== PROC_NULL && (!have || (have.bytes >= 0 && have.bytes < bytes)))
      core.fail(
        ERR.BUFFER,
        have
          ? `the attached buffer has ${have.bytes} bytes, the message ${bytes}`
          : 'no buffer is attached: MPI_Buffer_attach comes first',
        c.handle,
      );
    return send(buf, count, datatype, dest, tag, comm);
  };
  const synchronous = (
    buf: number,
    count: number,
    datatype: number,
    dest: number,
    tag: number,
    comm: number,
  ): number => {
    const c = core.commNumber(comm);
    let request = 0;
    body(buf, count, datatype, c, (bytes) => (request = p2p.startSend(layer, c, dest, tag, bytes, true, core.call)));
    return request;
  };
  const receive = (buf: number, count: number, datatype: number, source: number, tag: number, comm: number): number => {
    const c = core.commNumber(comm);
    const t = core.typeFor(count, datatype, c);
    core.count(count, c);
    if (isContiguous(t.layout, count))
      return p2p.startReceive(layer, c, source, tag, core.contiguous(buf, count, t, c, 'buf'), core.call);
    return core.begin((bundle) =>
      p2p.startReceive(
        layer,
        c,
        source,
        tag,
        core.incoming(bundle, buf, count, t, c, 'buf'),
        core.call,
        false,
        types.unitOf(t.signature),
      ),
    );
  };
  const complete =
    (f: typeof send) =>
    (buf: number, count: number, datatype: number, dest: number, tag: number, comm: number): number => (
      f(buf, count, datatype, dest, tag, comm),
      COMPLETE
    );
  Object.assign(starters, {
    Send: complete(send),
    Rsend: complete(send),
    Bsend: complete(buffered),
    Ssend: synchronous,
    Recv: receive,
    Sendrecv: (sb, sc, st, dest, stag, rb, rc, rt, source, rtag, comm) => {
      checkBoth(comm, dest, stag, source, rtag);
      const request = receive(rb!, rc!, rt!, source!, rtag!, comm!);
      send(sb!, sc!, st!, dest!, stag!, comm!);
      return request;
    },
    Sendrecv_replace: (buf, count, datatype, dest, stag, source, rtag, comm) => {
      checkBoth(comm, dest, stag, source, rtag);
      // The message is taken before the call comes back, so the buffer is free for the other one.
      send(buf!, count!, datatype!, dest!, stag!, comm!);
      return receive(buf!, count!, datatype!, source!, rtag!, comm!);
    },
  } satisfies Starters);
  /** Both halves are checked before the first one starts. */
  function checkBoth(
    comm: number | undefined,
    dest: number | undefined,
    stag: number | undefined,
    source: number | undefined,
    rtag: number | undefined,
  ): void {
    p2p.check(core.comm(comm!), { dest: dest!, sendTag: stag!, source: source!, recvTag: rtag! }, core.call);
  }

  /** The end of a blocking receive. */
  const done = (outcome: Outcome, status: number): number => {
    core.setStatus(status, outcome.status);
    if (outcome.error) throw core.failed(outcome.error, outcome.comm);
    return ERR.SUCCESS;
  };
  const wait = (r: CallRecord): number => done(requests.wait(layer, r.request, `MPI_${r.call}`), r.at[0]!);
  const isend =
    (f: (...args: number[]) => number) =>
    (buf: number, count: number, datatype: number, dest: number, tag: number, comm: number, out: number): number => {
      heap.check(out, 4, 'request');
      let request: number;
      try {
        request = f(buf, count, datatype, dest, tag, comm);
      } catch (e) {
        if (!(e instanceof MPIError) || (e.errorClass !== ERR.PROC_FAILED && e.errorClass !== ERR.REVOKED)) throw e;
        request = requests.failedSend(layer, e);
      }
      heap.setInt(out, newSlot(core, request), 'request');
      return ERR.SUCCESS;
    };

  const probed = (source: number, tag: number, comm: number) => p2p.iprobe(layer, core.commNumber(comm), source, tag);
  const out: Implementations = {
    Send: send,
    Rsend: send,
    Bsend: buffered,
    Ssend: {
      start: (buf, count, datatype, dest, tag, comm) =>
        record('Ssend', synchronous(buf!, count!, datatype!, dest!, tag!, comm!), [0]),
      finish: wait,
    },
    Recv: {
      start: (buf, count, datatype, source, tag, comm, status) =>
        record('Recv', receive(buf!, count!, datatype!, source!, tag!, comm!), [status!]),
      finish: wait,
    },
    Isend: isend(starters['Send']!),
    Irsend: isend(starters['Rsend']!),
    Ibsend: isend(starters['Bsend']!),
    Issend: isend(synchronous),
    Irecv: isend(receive),
    Sendrecv: { start: (...a) => record('Sendrecv', starters['Sendrecv']!(...a), [a[11]!]), finish: wait },
    Sendrecv_replace: {
      start: (...a) => record('Sendrecv_replace', starters['Sendrecv_replace']!(...a), [a[8]!]),
      finish: wait,
    },
    Isendrecv: (...a) => (heap.setInt(a[11]!, newSlot(core, starters['Sendrecv']!(...a)), 'request'), ERR.SUCCESS),
    Isendrecv_replace: (...a) => (
      heap.setInt(a[8]!, newSlot(core, starters['Sendrecv_replace']!(...a)), 'request'),
      ERR.SUCCESS
    ),
    Probe: {
      start: (source, tag, comm, status) => record('Probe', 0, [source!, tag!, core.commNumber(comm!), status!]),
      finish: (r) => {
        const [source, tag, comm, status] = r.at as [number, number, number, number];
        core.setStatus(status, p2p.probe(layer, comm, source, tag));
        return ERR.SUCCESS;
      },
    },
    Iprobe: (source: number, tag: number, comm: number, flag: number, status: number) => {
      heap.check(flag, 4, 'flag');
      const s = probed(source, tag, comm);
      heap.setInt(flag, s ? 1 : 0, 'flag');
      if (s) core.setStatus(status, s);
      return ERR.SUCCESS;
    },
    Mprobe: {
      start: (source, tag, comm, message, status) => (
        heap.check(message!, 4, 'message'),
        record('Mprobe', 0, [source!, tag!, core.commNumber(comm!), message!, status!])
      ),
      finish: (r) => {
        const [source, tag, comm, message, status] = r.at as [number, number, number, number, number];
        const m = p2p.mprobe(layer, comm, source, tag);
        heap.setInt(message, core.messageHandle(m.handle), 'message');
        core.setStatus(status, m.status);
        return ERR.SUCCESS;
      },
    },
    Improbe: (source: number, tag: number, comm: number, flag: number, message: number, status: number) => {
      heap.check(message, 4, 'message');
      heap.check(flag, 4, 'flag');
      const m = p2p.improbe(layer, core.commNumber(comm), source, tag);
      heap.setInt(flag, m ? 1 : 0, 'flag');
      if (m) {
        heap.setInt(message, core.messageHandle(m.handle), 'message');
        core.setStatus(status, m.status);
      }
      return ERR.SUCCESS;
    },
    Mrecv: {
      start: (buf, count, datatype, message, status) =>
        record('Mrecv', mreceive(buf!, count!, datatype!, message!), [status!]),
      finish: wait,
    },
    Imrecv: (buf: number, count: number, datatype: number, message: number, request: number) => {
      heap.check(request, 4, 'request');
      heap.setInt(request, newSlot(core, mreceive(buf, count, datatype, message)), 'request');
      return ERR.SUCCESS;
    },
    Buffer_attach: (address: number, size: number) => {
      if (core.state.buffer) core.fail(ERR.BUFFER, 'a buffer is attached already');
      core.state.buffer = attached(core, address, size);
      return ERR.SUCCESS;
    },
    Buffer_detach: (address: number, size: number) =>
      detached(core, address, size, core.state.buffer, () => (core.state.buffer = undefined)),
    Buffer_flush: () => ERR.SUCCESS,
    Buffer_iflush: (request: number) => (heap.setInt(request, COMPLETE_HANDLE(), 'request'), ERR.SUCCESS),
    Comm_attach_buffer: (comm: number, address: number, size: number) => {
      const c = core.comm(comm).handle;
      if (core.state.commBuffers.has(c)) core.fail(ERR.BUFFER, 'a buffer is attached already', c);
      core.state.commBuffers.set(c, attached(core, address, size));
      return ERR.SUCCESS;
    },
    Comm_detach_buffer: (comm: number, address: number, size: number) => {
      const c = core.comm(comm).handle;
      return detached(core, address, size, core.state.commBuffers.get(c), () => core.state.commBuffers.delete(c));
    },
    Comm_flush_buffer: (comm: number) => (core.comm(comm), ERR.SUCCESS),
    Comm_iflush_buffer: (comm: number, request: number) => (
      core.comm(comm),
      heap.setInt(request, COMPLETE_HANDLE(), 'request'),
      ERR.SUCCESS
    ),
  };
  const COMPLETE_HANDLE = (): number => newSlot(core, COMPLETE);

  function mreceive(buf: number, count: number, datatype: number, at: number): number {
    const handle = heap.int(at, 'message');
    const t = core.typeFor(count, datatype, 0);
    core.count(count, 0);
    const request = core.begin((bundle) => {
      const into: Buf = core.incoming(bundle, buf, count, t, 0, 'buf');
      return p2p.startMatchedReceive(layer, core.messageNumber(handle), into, core.call);
    });
    heap.setInt(at, core.messageHandle(0), 'message');
    return request;
  }
  return out;
}

/** MPI_BUFFER_AUTOMATIC (2) has all the room there is. */
export function attached(core: Core, address: number, size: number): { address: number; bytes: number } {
  if (address === 2) return { address, bytes: -1 };
  core.count(size, 0, 'size');
  return { address: core.heap.check(address, size, 'buffer'), bytes: size };
}
/** Nothing waits in the buffer: it can be given back at once. */
export function detached(
  core: Core,
  address: number,
  size: number,
  have: { address: number; bytes: number } | undefined,
  drop: () => void,
): number {
  if (!have) core.fail(ERR.BUFFER, 'no buffer is attached');
  core.heap.check(address, 4, 'buffer_addr');
  core.heap.setCount(size, Math.max(have!.bytes, 0), 'size');
  core.heap.setInt(address, have!.address, 'buffer_addr');
  drop();
  return ERR.SUCCESS;
}
