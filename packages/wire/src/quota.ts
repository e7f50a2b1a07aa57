/** What an owner may use at once, and uses: the views of quotas in REST. */
import { Type, type Static } from 'typebox';
import { CountSchema } from './schema.ts';

/** Of one owner. Absent: no limit. */
export const Limits = Type.Object(
  {
    /** Ranks that run, or wait to run on, of jobs that have begun. */
    slots: Type.Optional(CountSchema),
    /** Jobs that have not ended. */
    jobs: Type.Optional(CountSchema),
    /** Input files, output, and the newest checkpoint of each rank, of all jobs. */
    bytes: Type.Optional(CountSchema),
  },
  { additionalProperties: false },
);
export type Limits = Static<typeof Limits>;

const limit = Type.Optional(Type.Union([CountSchema, Type.Null()]));
/** PUT /api/quotas/{owner}: null is no limit; what is absent keeps to the limit that all owners have. */
export const QuotaWish = Type.Object({ slots: limit, jobs: limit, bytes: limit }, { additionalProperties: false });
export type QuotaWish = Static<typeof QuotaWish>;

export const QuotaView = Type.Object({
  /** Name of a token. */
  owner: Type.String(),
  used: Type.Object({ slots: CountSchema, jobs: CountSchema, bytes: CountSchema }),
  limits: Limits,
  /** What was set for this owner; absent: nothing, the limits are those of all. */
  own: Type.Optional(QuotaWish),
});
export type QuotaView = Static<typeof QuotaView>;
