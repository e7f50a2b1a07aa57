/**
 * Parity of images between nodes (docs/codes.md), over the control connection. The server forms groups and relays what
 * their members and holders send each other; a sender waits for the acknowledgement of the node at the other end.
 *
 * A group lives as long as the control connections of all its nodes: after a new Hello, a node has none.
 */
import { Type, type Static } from 'typebox';
import type { Incarnation, JobId, TaskId } from './ids.ts';
import { DEFAULT_WHOLE_EVERY, MAX_CHECKSUMS, MAX_MEMBERS, PARITY_PAGES } from './limits.ts';
import { CountSchema } from './schema.ts';

const GroupSchema = Type.String({ pattern: '^[0-9a-z-]{1,64}$' });
const PageIndex = Type.Integer({ minimum: 0, maximum: 65_535 });
const PageIndexes = Type.Array(PageIndex, { maxItems: PARITY_PAGES });
const Member = Type.Integer({ minimum: 0, maximum: MAX_MEMBERS - 1 });
const Holder = Type.Integer({ minimum: 0, maximum: MAX_CHECKSUMS - 1 });

/** server → node: what it is in a group. */
export type ParityOrder =
  | {
      kind: 'member';
      group: string;
      job: JobId;
      task: TaskId;
      incarnation: Incarnation;
      member: number;
      members: number;
      checksums: number;
    }
  | { kind: 'holder'; group: string; job: JobId; holder: number; members: number; checksums: number }
  /** The group is no more. */
  | { kind: 'end'; group: string };

/**
 * Between a member and a holder. `page`: the part of a change that concerns these pages, coefficient · (old ⊕ new);
 * `change`: it has come whole. Then as in packages/checkpoint/src/parity.
 */
export const ParityPart = Type.Object({
  group: GroupSchema,
  member: Member,
  holder: Holder,
  kind: Type.Unsafe<'page' | 'change' | 'apply' | 'drop' | 'prepared' | 'applied'>(
    Type.String({ pattern: '^(page|change|apply|drop|prepared|applied)$' }),
  ),
  version: CountSchema,
  /** Of a change. */
  base: Type.Optional(CountSchema),
  /** Of `page`; the bytes follow, PAGE_BYTES for each. */
  pages: Type.Optional(PageIndexes),
});
export type ParityPart = Static<typeof ParityPart>;

/** One summand that a node adds: see decode-plan.ts of packages/checkpoint. */
export interface ParityTerm {
  coefficient: number;
  of: { kind: 'image'; version: number } | { kind: 'checksum' } | { kind: 'prepared'; member: number; version: number };
}

/** server → node, at a recovery. A node is in a group once, as a member or as a holder. */
export interface ParityRead {
  group: string;
  terms: readonly ParityTerm[];
  pages: readonly number[];
  /**
   * In place of `group` and `terms`: of an image in the node's own store the pages with these hashes. After a restart
   * of the server there are no groups.
   */
  names?: readonly string[];
}

const Versions = Type.Array(Type.Union([CountSchema, Type.Null()]), { maxItems: MAX_MEMBERS });

/** What a node has of a group: a member its images, a holder the images in its checksum and the prepared ones (Z8). */
export const ParityHave = Type.Object({
  images: Type.Optional(Type.Array(CountSchema, { maxItems: 4 })),
  applied: Type.Optional(Versions),
  prepared: Type.Optional(Versions),
});
export type ParityHave = Static<typeof ParityHave>;

/** Of a job with parity: how many nodes of each group may be lost at once, and which share of images is whole. */
export const ParityOption = Type.Object(
  {
    /** Nodes that may be lost at once without the images at the server. */
    checksums: Type.Integer({ minimum: 1, maximum: MAX_CHECKSUMS }),
    /** Of so many images of a rank or of a team, one goes to the server whole. */
    wholeEvery: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
  },
  { additionalProperties: false },
);
export type ParityOption = Static<typeof ParityOption>;

/** Of so many images of a rank or of a team, one goes to the server whole, also where the job does not say. */
export const wholeEveryOf = ({ wholeEvery = DEFAULT_WHOLE_EVERY }: ParityOption): number => wholeEvery;

/** What is known of the parity of a job. */
export const ParityView = Type.Object({
  checksums: CountSchema,
  wholeEvery: CountSchema,
  /**
   * How many more nodes may close at once, whichever they are and with all their ranks, so that every rank that has an
   * image still has one without the server's. 0: none, or not every rank is protected yet.
   */
  spare: CountSchema,
  /** Ranks whose newest protected image could be made again now, of all that run. */
  protectedRanks: CountSchema,
  ranks: CountSchema,
  /** Images that stayed with the nodes since the server began, and bytes of pages that they saved the server's disk. */
  images: CountSchema,
  savedBytes: CountSchema,
  /** Bytes of pages that its nodes sent to the server's disk since then. */
  sentBytes: CountSchema,
  /** Restarts from parity, and those that had to go back to the server's images. */
  rebuilt: CountSchema,
  fellBack: CountSchema,
  /** The newest reason of the latter. */
  reason: Type.Optional(Type.String()),
});
export type ParityView = Static<typeof ParityView>;
