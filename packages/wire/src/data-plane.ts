/**
 * Bodies of the data plane's own frames (ATTACH, ATTACHED, REFUSED, ACK), and the positions that they and the images
 * name.
 */
import { Type, type Static } from 'typebox';
import { ProtocolName } from './job-options.ts';
import { CountSchema, ErrorBody, TaskIdSchema } from './schema.ts';
import { getU53, setU53 } from './u53.ts';

/**
 * A place in the history of a task from which an incarnation can begin. A V-protocol makes it, and it alone reads
 * `at`; everybody else passes it on.
 */
export const Position = Type.Object({
  protocol: ProtocolName,
  /** Of the protocol's own format. */
  version: Type.Integer({ minimum: 1, maximum: 1000 }),
  at: Type.Unknown(),
});
export type Position = Static<typeof Position>;

export const Attach = Type.Object({
  /** Capability of the incarnation, as the dispatcher issued it. */
  capability: Type.String({ maxLength: 1024 }),
  /** Drawn by the comm worker when the incarnation begins; distinguishes a reconnection from a clone. */
  nonce: Type.String({ minLength: 8, maxLength: 64 }),
  /** Where the incarnation begins. */
  position: Position,
  /**
   * Highest arrival number that the comm worker has received whole: at least the last one before the image once past
   * the prologue, else 0.
   */
  received: CountSchema,
  /** True when this incarnation was attached before (the connection broke): no determinants are asked for. */
  resume: Type.Boolean(),
});
export type Attach = Static<typeof Attach>;

export const Attached = Type.Object({
  /**
   * For every channel (task, dst) that this CM logs: messages logged whole. The sender's limit (Figure 4, per channel).
   */
  received: Type.Array(Type.Tuple([TaskIdSchema, CountSchema])),
  /** Number of the task's arrivals logged here (0 unless this is its home CM). */
  arrivals: CountSchema,
  /** Which of the task's determinants this CM holds: half-open ranges, ascending. */
  determinants: Type.Array(Type.Tuple([CountSchema, CountSchema])),
  /**
   * Present while the CM recovers: the comm worker resupplies its arrivals above this number, then sends RESUPPLIED.
   */
  resupplyFrom: Type.Optional(CountSchema),
});
export type Attached = Static<typeof Attached>;

const Counts = Type.Array(Type.Tuple([TaskIdSchema, CountSchema]));

/** Where a task has cut its channels in a wave: counts, so that the cut means the same to every Channel Memory. */
export const Cut = Type.Object({
  /** Arrivals that the task had consumed. */
  arrivals: CountSchema,
  /** Messages handed to each channel, the world's included. */
  sends: Counts,
  /** Messages consumed of each channel, those of the world and of the file service included. */
  receives: Counts,
  /** Consumed arrivals whose bodies were still at the Channel Memory. */
  held: Type.Array(CountSchema),
});
export type Cut = Static<typeof Cut>;

/** `pcl`: what a task has sent when it freezes its sends. */
export const Mark = Type.Object({ sends: Counts });
export type Mark = Static<typeof Mark>;

/** Why a wave cannot be had. */
export const Cannot = Type.Object({ reason: Type.String({ maxLength: 500 }) });
export type Cannot = Static<typeof Cannot>;

export const Refused = ErrorBody;
export type Refused = Static<typeof Refused>;

/**
 * Body of ACK, binary: u64 determinants first | u64 determinants appended | u64 determinants synced | u64 arrivals
 * synced | u32 n | u32 0 | n × (u32 dst, u32 0, u64 messages appended, u64 messages synced).
 */
export interface Ack {
  /** The latest block from the task, [first, appended), is logged here whole. */
  determinantsFirst: number;
  determinantsAppended: number;
  /** Every determinant held here below this number is durable. */
  determinantsSynced: number;
  /** Own arrivals (home CM only) that are synced: the comm worker need not retain them any more. */
  arrivalsSynced: number;
  channels: { dst: number; appended: number; synced: number }[];
}

const ACK_HEAD = 40;

export function encodeAck(a: Ack): Uint8Array {
  const out = new Uint8Array(ACK_HEAD + 24 * a.channels.length);
  const v = new DataView(out.buffer);
  const put = (o: number, n: number): void => setU53(v, o, n);
  put(0, a.determinantsFirst);
  put(8, a.determinantsAppended);
  put(16, a.determinantsSynced);
  put(24, a.arrivalsSynced);
  v.setUint32(32, a.channels.length, true);
  a.channels.forEach((c, i) => {
    const o = ACK_HEAD + 24 * i;
    v.setUint32(o, c.dst, true);
    put(o + 8, c.appended);
    put(o + 16, c.synced);
  });
  return out;
}

export function decodeAck(bytes: Uint8Array): Ack {
  const v = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const get = (o: number): number => getU53(v, o);
  const channels = [];
  const n = v.getUint32(32, true);
  for (let i = 0; i < n; i++) {
    const o = ACK_HEAD + 24 * i;
    channels.push({ dst: v.getUint32(o, true), appended: get(o + 8), synced: get(o + 16) });
  }
  return {
    determinantsFirst: get(0),
    determinantsAppended: get(8),
    determinantsSynced: get(16),
    arrivalsSynced: get(24),
    channels,
  };
}

/** Body of an EXIT message to the world: how a task ended. A trap or an abort is a result, not a fault. */
export const ExitReport = Type.Object({
  code: Type.Integer({ minimum: 0, maximum: 255 }),
  /** It left between MPI_Init and MPI_Finalize: a failed process, where losses are told to the others. */
  unfinalized: Type.Optional(Type.Literal(true)),
  /** Present when the task ended the whole job (MPI_Abort, an uncaught error, a fatal MPI error). */
  abort: Type.Optional(
    Type.Object({
      code: Type.String({ maxLength: 64 }),
      message: Type.String({ maxLength: 16384 }),
      stack: Type.Optional(Type.String({ maxLength: 65536 })),
    }),
  ),
});
export type ExitReport = Static<typeof ExitReport>;
