/** REST answers besides jobs, nodes (job.ts) and tokens (access.ts): the server itself, examples, compile errors. */
import { Type, type Static } from 'typebox';
import { ErrorBody, CountSchema } from './schema.ts';
import { JobOptions } from './job-options.ts';
import { FilePath } from './program.ts';

/** GET /api/info, without a token. */
export const InfoView = Type.Object({
  name: Type.Literal('mayfly'),
  version: Type.String(),
  /** Where volunteers come to, as the server knows itself from outside, e.g. 'https://class.example:7070'. */
  publicUrl: Type.Optional(Type.String()),
  /** True: volunteers need a room's join code. */
  roomNeeded: Type.Optional(Type.Boolean()),
  slots: Type.Object({ total: CountSchema, free: CountSchema, nodes: CountSchema }),
  /** Present: people can sign in at /login. `by`: host of the issuer; `ready`: it has answered. */
  login: Type.Optional(Type.Object({ by: Type.String(), ready: Type.Boolean() })),
  /** Bytes of one whole submission. */
  maxSubmissionBytes: Type.Optional(CountSchema),
  /** Of all input files and the standard input of one job. */
  maxInputBytes: Type.Optional(CountSchema),
  /** The most memory that a job may ask for, for each rank. */
  maxMemoryBytes: Type.Optional(CountSchema),
  /** What a job has that does not say: how long a lost connection is waited for, and the memory of a rank. */
  defaults: Type.Object({ graceMs: CountSchema, memoryBytes: CountSchema }),
});
export type InfoView = Static<typeof InfoView>;

/** GET /api/examples */
export const ExampleEntry = Type.Object({
  name: Type.String(),
  title: Type.String(),
  description: Type.String(),
  /** Ranks that it likes to have. */
  size: CountSchema,
  language: Type.Union([Type.Literal('typescript'), Type.Literal('c'), Type.Literal('c++')]),
});
export type ExampleEntry = Static<typeof ExampleEntry>;

/** GET /api/examples/:name. Its input files are at GET /api/examples/:name/files/<path>, raw. */
export const ExampleView = Type.Object({
  ...ExampleEntry.properties,
  args: Type.Array(Type.String()),
  /** C, C++: options for the compiler. */
  flags: Type.Array(Type.String()),
  entry: Type.String(),
  sources: Type.Record(FilePath, Type.String()),
  files: Type.Array(Type.Object({ path: Type.String(), bytes: CountSchema })),
  options: Type.Optional(JobOptions),
});
export type ExampleView = Static<typeof ExampleView>;

/** GET /api/checkpoint-advice?room=: an interval from what was measured in the room, √(2·C·M). */
export const CheckpointAdvice = Type.Object({
  checkpointMs: CountSchema,
  /** False: too little is known, and the interval is the default. */
  measured: Type.Boolean(),
  /** C: how long a rank stands still for an image. */
  costMs: Type.Optional(Type.Number()),
  /** M: mean time until a rank is lost. */
  mtbfMs: Type.Optional(Type.Number()),
  /** Ranks lost, and the time of ranks in which that happened, within the last week. */
  faults: CountSchema,
  rankMs: CountSchema,
});
export type CheckpointAdvice = Static<typeof CheckpointAdvice>;

/** GET /api/server: how the server is. Counters begin with its start; two requests give a rate. */
/** A server process of a database that several share. */
export const PeerView = Type.Object({
  who: Type.String(),
  address: Type.String(),
  owns: Type.Boolean(),
  /** Channel Memories whose messages it passes on, of how many jobs, and messages a second on their data links. */
  memories: CountSchema,
  jobs: CountSchema,
  messagesPerSecond: CountSchema,
});
export type PeerView = Static<typeof PeerView>;

export const ServerView = Type.Object({
  version: Type.String(),
  node: Type.String(),
  startedAt: CountSchema,
  now: CountSchema,
  nodes: CountSchema,
  slots: CountSchema,
  busy: CountSchema,
  jobs: Type.Record(Type.String(), CountSchema),
  dashboards: CountSchema,
  dataLinks: CountSchema,
  imageLinks: CountSchema,
  /** Records appended to the message logs, and their bytes. */
  appends: CountSchema,
  appendedBytes: CountSchema,
  receivedBytes: CountSchema,
  sentBytes: CountSchema,
  /** Of running jobs. */
  logBytes: CountSchema,
  /**
   * Bytes on the disk: message logs, checkpoint images, files of jobs, registry; as of `at`. Absent: they are measured
   * for the first time, which takes a while where many jobs are kept.
   */
  storage: Type.Object({
    at: Type.Optional(CountSchema),
    log: Type.Optional(CountSchema),
    images: Type.Optional(CountSchema),
    jobs: Type.Optional(CountSchema),
    registry: Type.Optional(CountSchema),
    freeBytes: Type.Optional(CountSchema),
    limitBytes: CountSchema,
  }),
  /**
   * The disk of the data directory: `low` refuses new jobs and uploads, `stopped` pauses jobs, for `message` since
   * `since`. Sizes are absent where the file system does not report them.
   */
  disk: Type.Object({
    state: Type.Unsafe<'ok' | 'low' | 'stopped'>(Type.String()),
    directory: Type.String(),
    freeBytes: Type.Optional(CountSchema),
    totalBytes: Type.Optional(CountSchema),
    reserveBytes: Type.Optional(CountSchema),
    code: Type.Optional(Type.String()),
    message: Type.Optional(Type.String()),
    since: Type.Optional(CountSchema),
  }),
  /** Delay of the event loop beyond its timer within the last 10 s or so, ms. */
  eventLoopMs: Type.Object({ mean: Type.Number(), p99: Type.Number(), max: Type.Number() }),
  memoryBytes: CountSchema,
  /** Share of one core since the start. */
  cpu: Type.Number(),
  /** Server processes of the database, this one first; the others stand by. Absent: it shares nothing. */
  servers: Type.Optional(Type.Array(PeerView)),
});
export type ServerView = Static<typeof ServerView>;

/** One message of the compiler; lines and columns from 1. */
export const Diagnostic = Type.Object({
  file: Type.String(),
  line: CountSchema,
  column: CountSchema,
  /** e.g. 'TS2304', or clang's flag '-Wunused-variable'. */
  code: Type.String(),
  message: Type.String(),
});
export type Diagnostic = Static<typeof Diagnostic>;

/** Any refusal of REST; `diagnostics` with COMPILE_FAILED, FORBIDDEN_IMPORT and BAD_MODULE. */
export const ApiError = Type.Object(
  { ...ErrorBody.properties, diagnostics: Type.Optional(Type.Array(Diagnostic)) },
  { description: 'Every refusal: a stable code (docs/errors.md) and a sentence.' },
);
export type ApiError = Static<typeof ApiError>;
