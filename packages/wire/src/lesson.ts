/** The lesson “What happens when a tab closes?”: how it stands. */
import { Type, type Static } from 'typebox';
import { JobState } from './job.ts';
import { CountSchema } from './schema.ts';

/** POST /api/lesson. `room`: what a volunteer of this server would type. */
export const NewLesson = Type.Object(
  { room: Type.Optional(Type.String({ maxLength: 64 })) },
  { additionalProperties: false },
);

export const LessonView = Type.Object({
  state: JobState,
  /** How often the token was sent round, of LESSON_LAPS (lesson-program.ts). */
  steps: CountSchema,
  ranks: Type.Array(
    Type.Object({
      rank: CountSchema,
      state: Type.String(),
      incarnation: CountSchema,
      /**
       * Messages in its log in the Channel Memory, and how many of them the incarnation that is there had read when it
       * was last heard.
       */
      logged: CountSchema,
      read: CountSchema,
      activity: Type.Optional(Type.String()),
    }),
  ),
  faults: Type.Array(
    Type.Object({ rank: CountSchema, incarnation: CountSchema, recoveredAfterMs: Type.Optional(Type.Number()) }),
  ),
  /** What rank 0 has printed. */
  output: Type.String(),
  error: Type.Optional(Type.String()),
});
export type LessonView = Static<typeof LessonView>;
