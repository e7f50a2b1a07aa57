/** Schemas of REST that are not part of the wire contract: parameters and answers, for validation and for OpenAPI. */
import { Type } from 'typebox';
import { ApiError, CountSchema, ImageIdSchema, IncarnationSchema, JobIdSchema, TaskIdSchema } from '@mayfly/wire';

export const JobParams = Type.Object({ id: JobIdSchema });
export const TaskParams = Type.Object({ id: JobIdSchema, task: Type.Integer({ minimum: 0, maximum: 1_000_000 }) });
export const Ok = Type.Object({ ok: Type.Literal(true) });
/** How long ranks may take for an image before a paused job gives their slots back without one, ms. */
export const Pause = Type.Object(
  { waitMs: Type.Optional(Type.Integer({ minimum: 0, maximum: 600_000 })) },
  { additionalProperties: false },
);
export const Asked = Type.Object({ asked: Type.Array(TaskIdSchema) });
export const Created = Type.Object({ id: JobIdSchema, warnings: Type.Array(Type.Unknown()) });
export const Images = Type.Array(
  Type.Object({
    task: TaskIdSchema,
    image: ImageIdSchema,
    serial: CountSchema,
    incarnation: IncarnationSchema,
    bytes: CountSchema,
    sentBytes: CountSchema,
    at: CountSchema,
  }),
);

/** Refusals that a route may answer with, for OpenAPI. */
export const refusals = <const S extends number>(...codes: S[]): Record<S, typeof ApiError> =>
  Object.fromEntries(codes.map((c) => [c, ApiError])) as Record<S, typeof ApiError>;
