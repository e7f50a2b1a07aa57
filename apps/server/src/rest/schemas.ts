/** Schemas of REST that are not part of the wire contract: parameters and answers, for validation and for OpenAPI. */
import { Type } from 'typebox';
import { CountSchema, ImageIdSchema, IncarnationSchema, JobIdSchema, TaskIdSchema } from '@mayfly/wire';

export const JobParams = Type.Object({ id: JobIdSchema });
export const TaskParams = Type.Object({ id: JobIdSchema, task: Type.Integer({ minimum: 0, maximum: 1_000_000 }) });
export const ErrorAnswer = Type.Object(
  {
    code: Type.String(),
    message: Type.String(),
    diagnostics: Type.Optional(
      Type.Array(Type.Object({ file: Type.String(), line: CountSchema, column: CountSchema, code: Type.String(), message: Type.String() })),
    ),
  },
  { description: 'Every refusal: a stable code (docs/errors.md) and a sentence.' },
);
export const Advice = Type.Object({
  checkpointMs: CountSchema,
  measured: Type.Boolean(),
  costMs: Type.Optional(Type.Number()),
  mtbfMs: Type.Optional(Type.Number()),
  faults: CountSchema,
  rankMs: CountSchema,
});
export const Ok = Type.Object({ ok: Type.Literal(true) });
/** How long ranks may take for an image before a paused job gives their slots back without one, ms. */
export const Pause = Type.Object({ waitMs: Type.Optional(Type.Integer({ minimum: 0, maximum: 600_000 })) }, { additionalProperties: false });
export const Asked = Type.Object({ asked: Type.Array(TaskIdSchema) });
export const Created = Type.Object({ id: JobIdSchema, warnings: Type.Array(Type.Unknown()) });
export const Images = Type.Array(
  Type.Object({ task: TaskIdSchema, image: ImageIdSchema, serial: CountSchema, incarnation: IncarnationSchema, bytes: CountSchema, sentBytes: CountSchema, at: CountSchema }),
);

/** Refusals that a route may answer with, for OpenAPI. */
export const refusals = <const S extends number>(...codes: S[]): Record<S, typeof ErrorAnswer> =>
  Object.fromEntries(codes.map((c) => [c, ErrorAnswer])) as Record<S, typeof ErrorAnswer>;
