/** What a job under the protocol `app` asks for of FT-MPI. */
import { Type, type Static } from 'typebox';

/**
 * FT-MPI (docs/ft-mpi.md): what becomes of MPI_COMM_WORLD, and of messages under way, when ranks are lost. Absent:
 * `rebuild`, `reset`.
 */
export const FtOption = Type.Object(
  {
    communicators: Type.Optional(
      Type.Union([Type.Literal('abort'), Type.Literal('blank'), Type.Literal('shrink'), Type.Literal('rebuild')]),
    ),
    messages: Type.Optional(Type.Union([Type.Literal('cont'), Type.Literal('reset')])),
    /**
     * Under `rebuild`: how long the replacement of a lost rank may be without a slot, ms; then the job fails. 0: for
     * ever. Absent: DEFAULT_SLOT_MS of limits.ts.
     */
    slotMs: Type.Optional(Type.Integer({ minimum: 0, maximum: 604_800_000 })),
  },
  { additionalProperties: false },
);
export type FtOption = Static<typeof FtOption>;
export type FtModes = Required<Pick<FtOption, 'communicators' | 'messages'>>;
export const ftModes = ({ communicators = 'rebuild', messages = 'reset' }: FtOption): FtModes => ({
  communicators,
  messages,
});
