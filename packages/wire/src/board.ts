/** The board of a room: contributions of volunteers with a name. */
import { Type, type Static } from 'typebox';
import { CountSchema } from './schema.ts';

/** As in the node's Hello. Any text passes the schema; boardText (board-name.ts) makes a name of it. */
export const BoardName = Type.Object({
  name: Type.String({ maxLength: 200 }),
  team: Type.Optional(Type.String({ maxLength: 200 })),
});
export type BoardName = Static<typeof BoardName>;

const Figures = {
  /** Time of ranks at new work, and at replaying what lost ranks had done. */
  usefulMs: CountSchema,
  replayedMs: CountSchema,
  /** Ranks that ended there. */
  finished: CountSchema,
};

export const BoardEntry = Type.Object({
  place: CountSchema,
  name: Type.String(),
  team: Type.Optional(Type.String()),
  ...Figures,
  jobs: CountSchema,
  /** A tab of that name is connected. */
  here: Type.Boolean(),
});
export type BoardEntry = Static<typeof BoardEntry>;

export const BoardView = Type.Object({
  /** When the first was counted; absent: nothing yet. */
  since: Type.Optional(CountSchema),
  /** How many names there are; `entries` has the first hundred. */
  names: CountSchema,
  entries: Type.Array(BoardEntry),
  /** Who asked, should there be something. */
  you: Type.Optional(BoardEntry),
  teams: Type.Array(Type.Object({ team: Type.String(), names: CountSchema, ...Figures })),
  /** All volunteers without a name. */
  anonymous: Type.Object({ ...Figures, jobs: CountSchema }),
});
export type BoardView = Static<typeof BoardView>;
