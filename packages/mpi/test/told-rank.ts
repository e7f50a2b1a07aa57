/** A rank at the border of the layer: arrivals and notices go in, its messages come out. */
import { MEMBERS, WorldMode, encodeMember, type MemberNotice, type TaskId, taskId } from '@mayfly/wire';
import { COMM_WORLD, Mode, createLayer, linear, p2p, type Arrival, type Device, type Layer } from '../src/index.ts';

export const NONE: Uint8Array = new Uint8Array(0);
/** Where {@link receive} puts what comes. */
export const AT = 64;

export const lost = (...tasks: number[]): MemberNotice => ({ op: 'lost', tasks });
/** Of one byte, with the tag 7. */
export const receive = (layer: Layer, source: number, call = 'MPI_Irecv'): number =>
  p2p.startReceive(layer, COMM_WORLD, source, 7, linear(AT, 1), call);
/** The class of the error with which it ends; 0: none. */
export const classOf = (f: () => unknown): number => {
  try {
    f();
  } catch (e) {
    return (e as { errorClass: number }).errorClass;
  }
  return 0;
};

/** Rank 0 of three. A wait for what is not in `inbox` is a failure of the test. @param ft FT-MPI's modes */
export function rank(ft?: Device['ft']): {
  layer: Layer;
  memory: Uint8Array;
  sent: { dst: TaskId; mode: number; context: number; word: number; body: Uint8Array }[];
  comes: (src: TaskId, context: number, tag: number, body?: Uint8Array, mode?: number, word?: number) => void;
  notice: (n: MemberNotice) => void;
} {
  const inbox: Arrival[] = [];
  const sent: { dst: TaskId; mode: number; context: number; word: number; body: Uint8Array }[] = [];
  let number = 0;
  const device: Device = {
    task: taskId(0),
    size: 3,
    tellsLosses: true,
    ...(ft && { ft }),
    unexpectedBytes: 1 << 20,
    send: (dst, mode, context, _tag, word, body) => void sent.push({ dst, mode, context, word, body: body.slice() }),
    wait: (why) => {
      const a = inbox.shift();
      if (!a) throw new Error(`waits for ever in ${why.call}`);
      return a;
    },
    poll: (consume) => {
      for (let a = inbox.shift(); a && !consume(a); a = inbox.shift());
    },
    pull: () => {
      throw new Error('nothing is in the log');
    },
    unexpected: () => undefined,
    clock: () => 0,
    place: (read) => read(),
  };
  const memory = new Uint8Array(4096);
  const layer = createLayer(device, () => memory);
  layer.state.comms.rows.get(COMM_WORLD)!.errhandler = 2;
  const comes = (
    src: TaskId,
    context: number,
    tag: number,
    body = NONE,
    mode: number = Mode.STANDARD,
    word = 0,
  ): void => void inbox.push({ number: ++number, src, mode, context, tag, word, size: body.length, body });
  return { layer, memory, sent, comes, notice: (n) => comes(MEMBERS, 0, 0, encodeMember(n), WorldMode.NOTICE) };
}
