/** Access rights: roles of tokens, and the views of tokens in REST. */
import { Type, type Static } from 'typebox';
import { CountSchema } from './schema.ts';

/** From the least to the most; each may do what those before it may. */
export const ROLES = ['viewer', 'submitter', 'owner'] as const;
export const Role = Type.Union([Type.Literal('viewer'), Type.Literal('submitter'), Type.Literal('owner')]);
export type Role = Static<typeof Role>;

/**
 * Name of the token that was printed at the first start, and owner of the jobs that were submitted before tokens had
 * names.
 */
export const FIRST_TOKEN = 'owner';
/** Owner of the jobs of lessons, which need no token. */
export const LESSON_OWNER = 'a lesson';
/** Names that no token has. */
export const RESERVED_NAMES: readonly string[] = [FIRST_TOKEN, LESSON_OWNER];

/** Stands beside the jobs that it submitted: one line, without blanks at its ends. */
export const TokenName = Type.String({ pattern: '^[^\\s\\p{C}](?:[^\\p{C}\\n]{0,38}[^\\s\\p{C}])?$', maxLength: 40 });

/** POST /api/tokens */
export const NewToken = Type.Object(
  {
    name: TokenName,
    role: Role,
    /** ms since 1970; absent: until it is revoked. */ expiresAt: Type.Optional(CountSchema),
  },
  { additionalProperties: false },
);
export type NewToken = Static<typeof NewToken>;

/** What a login made: the session of a browser, or a token for a terminal. */
export const LoginKind = Type.Union([Type.Literal('browser'), Type.Literal('terminal')]);
export type LoginKind = Static<typeof LoginKind>;

const about = {
  name: Type.String(),
  role: Role,
  expiresAt: Type.Optional(CountSchema),
  login: Type.Optional(LoginKind),
};

export const TokenView = Type.Object({
  /** Absent: the token of the first start, which is changed with `mayfly server --token` only. */
  id: Type.Optional(Type.String()),
  ...about,
  createdAt: Type.Optional(CountSchema),
  /** To a minute; absent: never. */
  lastUsedAt: Type.Optional(CountSchema),
});
export type TokenView = Static<typeof TokenView>;

/** The only time that a token is shown. */
export const TokenCreated = Type.Object({ ...about, id: Type.String(), createdAt: CountSchema, token: Type.String() });
export type TokenCreated = Static<typeof TokenCreated>;

/** GET /api/me: whose token this is. */
export const Me = Type.Object(about);
export type Me = Static<typeof Me>;
