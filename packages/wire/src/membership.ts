/**
 * Bodies of messages between a task and the membership service of its job (protocol `app`): WorldMode MEMBER, and
 * NOTICE back from {@link import('./ids.ts').MEMBERS}. JSON. No logic.
 *
 * A communicator is named by its point-to-point context and its members, because groups that are split off together
 * share a context.
 */
import { Type, type Static } from 'typebox';

const Task = Type.Integer({ minimum: 0, maximum: 0x00ff_ffff });
const Word = Type.Integer({ minimum: 0, maximum: 0xffff_ffff });
/** Tasks, ascending; of an intercommunicator those of both groups. */
const Members = Type.Array(Task, { minItems: 1, maxItems: 65_536 });

export const MemberRequest = Type.Union([
  /** MPIX_Comm_revoke. */
  Type.Object({ op: Type.Literal('revoke'), context: Word, members: Members }),
  /** MPIX_Comm_agree, MPIX_Comm_shrink: one member's contribution to agreement `number` of the communicator. */
  Type.Object({
    op: Type.Union([Type.Literal('agree'), Type.Literal('shrink')]),
    context: Word,
    members: Members,
    number: Word,
    flag: Type.Integer({ minimum: -0x8000_0000, maximum: 0x7fff_ffff }),
    /** A context id that no other making is offered; the greatest becomes that of the new communicator. */
    offer: Word,
    /** Losses that the member has acknowledged on the communicator. */
    acknowledged: Type.Array(Task, { maxItems: 65_536 }),
  }),
  /** FT-MPI: a task that has heard of a loss, or takes the place of a lost one, is ready to go on. */
  Type.Object({ op: Type.Literal('recover'), offer: Word }),
]);
export type MemberRequest = Static<typeof MemberRequest>;
export type Contribution = Extract<MemberRequest, { number: number }>;

export type MemberNotice =
  /** These tasks are lost: nothing of them comes behind this notice. */
  | { readonly op: 'lost'; readonly tasks: readonly number[] }
  | { readonly op: 'revoked'; readonly context: number }
  /** The same at every member that is left. */
  | {
      readonly op: 'agreed';
      readonly context: number;
      readonly number: number;
      readonly flag: number;
      readonly offer: number;
      /** Lost members of the communicator. */
      readonly lost: readonly number[];
      /** A lost member was not acknowledged by everybody who contributed. */
      readonly unacknowledged: boolean;
    }
  /** FT-MPI, the same at all tasks of the world: it has recovered from all losses that were told before. */
  | {
      readonly op: 'recovered';
      /** How often it has. */
      readonly epoch: number;
      /** MPI_COMM_WORLD from now on, tasks by rank; {@link HOLE}: nobody has this rank any more. */
      readonly ranks: readonly number[];
      /** Ranks that were lost since the last recovery, as they were numbered then, in the order of the notices. */
      readonly failed: readonly number[];
      /** A context id of its own. */
      readonly context: number;
    };

/** In place of a task, where a rank stays empty. */
export const HOLE = -1;

const text = new TextEncoder();
const read = new TextDecoder();

export const encodeMember = (message: MemberRequest | MemberNotice): Uint8Array => text.encode(JSON.stringify(message));

/** Of the server, which is trusted. */
export const decodeNotice = (body: Uint8Array): MemberNotice => JSON.parse(read.decode(body)) as MemberNotice;
