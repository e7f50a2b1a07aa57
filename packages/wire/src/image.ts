/**
 * A checkpoint image: a manifest and pages of at most 64 KiB addressed by their hash. Independent of the machine and of
 * the language: `sections` name byte ranges of the concatenated pages ('memory', 'globals', 'data', 'mpi', 'endpoint',
 * …).
 */
import { Type, type Static } from 'typebox';
import { CountSchema, HashSchema, ImageIdSchema, IncarnationSchema, JobIdSchema, TaskIdSchema } from './schema.ts';
import { Position } from './data-plane.ts';
import type { ImageId, Incarnation, JobId, TaskId } from './ids.ts';

export const PAGE_BYTES = 64 * 1024;
/** Format 1 named a `replay` of message logging in place of a position. */
export const IMAGE_FORMAT = 2;

export const Manifest = Type.Object({
  format: Type.Literal(IMAGE_FORMAT),
  image: ImageIdSchema,
  job: JobIdSchema,
  task: TaskIdSchema,
  incarnation: IncarnationSchema,
  /** Hash of the program that wrote it: an image of another build is refused. */
  program: HashSchema,
  /** Number of this image of this task, from 1; higher is newer. */
  serial: CountSchema,
  /** Where an incarnation that begins with this image begins. */
  position: Position,
  sections: Type.Array(Type.Object({ name: Type.String({ maxLength: 32 }), bytes: CountSchema }), { maxItems: 64 }),
  /** Hash of every page in order. A page of zeros only is ''. The last page may be shorter. */
  pages: Type.Array(Type.Union([HashSchema, Type.Literal('')]), { maxItems: 65536 }),
  bytes: CountSchema,
});
export type Manifest = Static<typeof Manifest>;

/** The only name that the Checkpoint Server accepts for this image, so that no node can overwrite another's. */
export const imageIdOf = (job: JobId, task: TaskId, incarnation: Incarnation, serial: number): ImageId =>
  `${job}-${task}-${incarnation}-${serial}` as ImageId;
