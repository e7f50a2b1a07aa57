/** Routes of whoever has a token or is signed in: tokens, logins, quotas. */
import { Type } from 'typebox';
import { Me, NewToken, QuotaView, QuotaWish, TokenCreated, TokenView } from '@mayfly/wire';
import { AT, ok } from '../examples.ts';
import type { Route } from '../route.ts';
import { Ok, refusals } from '../schemas.ts';

const TokenParams = Type.Object({ id: Type.String({ pattern: '^[0-9a-z]{10}$' }) });
const OwnerParams = Type.Object({ owner: Type.String({ minLength: 1, maxLength: 200 }) });

export const PEOPLE = {
  'GET /api/me': {
    access: 'viewer',
    schema: {
      summary: 'Name and role of the token that is sent',
      description: 'Name, role and expiry of the token of this request.',
      tags: ['tokens'],
      response: { 200: Me, ...refusals(401) },
    },
    answer: { name: 'Ada', role: 'submitter' },
  },
  'POST /api/logout': {
    access: 'viewer',
    schema: {
      summary: 'End the session or the login token that is sent',
      description:
        'Ends what a login made: the session of this browser (its cookie goes), or the token of a terminal. The ' +
        'session at the issuer stays.',
      tags: ['tokens'],
      response: { 200: Ok, ...refusals(401, 409, 507) },
    },
    answer: ok,
  },
  'POST /api/me/token': {
    access: 'viewer',
    schema: {
      summary: 'Create a token for a terminal or a script of the person who is signed in; only this answer shows it',
      description:
        'For `mayfly login` and scripts: a token with the name and the role of the person who is signed in on a ' +
        'page, for 30 days. Only this answer shows it.',
      tags: ['tokens'],
      response: { 201: TokenCreated, ...refusals(401, 409, 507) },
    },
    answer: {
      id: 'a1b2c3d4e5',
      name: 'ada@example.org',
      role: 'submitter',
      login: 'terminal',
      createdAt: AT,
      expiresAt: AT + 30 * 86_400_000,
      token: 'mf_a1b2c3d4e5_0123456789abcdefghijklmnopqrstuvwxyz0123',
    },
  },
  'GET /api/quota': {
    access: 'viewer',
    schema: {
      summary: 'What the jobs of this token’s name use, and may use',
      description:
        'What the jobs with the name of this token use now: slots, jobs that have not ended, stored bytes; and their ' +
        'limits. A limit that is absent does not exist.',
      tags: ['quotas'],
      response: { 200: QuotaView, ...refusals(401) },
    },
    answer: { owner: 'Ada', used: { slots: 4, jobs: 2, bytes: 1_250_000 }, limits: { slots: 8, bytes: 2_000_000_000 } },
  },
  'GET /api/quotas': {
    access: 'owner',
    schema: {
      summary: 'What each owner uses, and may use; the most slots in use first',
      description:
        'The same for every owner that has jobs, a quota or a token. `own` is what was set for this owner; if it is ' +
        'absent, nothing was.',
      tags: ['quotas'],
      response: { 200: Type.Array(QuotaView), ...refusals(401, 403) },
    },
    answer: [
      {
        owner: 'Ada',
        used: { slots: 4, jobs: 2, bytes: 1_250_000 },
        limits: { slots: 16, jobs: 10 },
        own: { slots: 16, bytes: null },
      },
      { owner: 'owner', used: { slots: 0, jobs: 0, bytes: 0 }, limits: {} },
    ],
  },
  'PUT /api/quotas/:owner': {
    access: 'owner',
    schema: {
      summary: 'Set the quota of an owner',
      description:
        'Replaces what was set for this owner before. A number is the limit, null is no limit, and what is absent ' +
        'keeps the limit that all owners have. Nothing that runs is stopped.',
      tags: ['quotas'],
      params: OwnerParams,
      body: QuotaWish,
      response: { 200: QuotaView, ...refusals(400, 401, 403, 429, 507) },
    },
    request: { slots: 16, bytes: null },
    answer: {
      owner: 'Ada',
      used: { slots: 4, jobs: 2, bytes: 1_250_000 },
      limits: { slots: 16, jobs: 10 },
      own: { slots: 16, bytes: null },
    },
  },
  'DELETE /api/quotas/:owner': {
    access: 'owner',
    schema: {
      summary: 'Clear the quota of an owner: the limits of all apply',
      description: 'The owner has the limits of all owners again. It is no error if nothing was set.',
      tags: ['quotas'],
      params: OwnerParams,
      response: { 200: Ok, ...refusals(401, 403, 507) },
    },
    answer: ok,
  },
  'GET /api/tokens': {
    access: 'owner',
    schema: {
      summary: 'Tokens, and logins of people: the owner’s first, then the newest first',
      description:
        'Names and roles, when each was made and last used (to a minute). Never the tokens themselves, which ' +
        'are kept as hashes.',
      tags: ['tokens'],
      response: { 200: Type.Array(TokenView), ...refusals(401, 403) },
    },
    answer: [
      { name: 'owner', role: 'owner', lastUsedAt: AT },
      { id: 'a1b2c3d4e5', name: 'Ada', role: 'submitter', createdAt: AT, lastUsedAt: AT + 60_000 },
    ],
  },
  'POST /api/tokens': {
    access: 'owner',
    schema: {
      summary: 'Create a token; only this answer shows it',
      description: 'Creates a token. Only this answer shows it. Names are unique among the active tokens.',
      tags: ['tokens'],
      body: NewToken,
      response: { 201: TokenCreated, ...refusals(400, 401, 403, 409, 429, 507) },
    },
    request: { name: 'Ada', role: 'submitter', expiresAt: AT },
    answer: {
      id: 'a1b2c3d4e5',
      name: 'Ada',
      role: 'submitter',
      createdAt: AT - 86_400_000,
      expiresAt: AT,
      token: 'mf_a1b2c3d4e5_0123456789abcdefghijklmnopqrstuvwxyz0123',
    },
  },
  'DELETE /api/tokens/:id': {
    access: 'owner',
    schema: {
      summary: 'Revoke a token: it stops working, and its connections are closed',
      description: 'The token stops working, and sockets opened with it are closed. Its jobs stay.',
      tags: ['tokens'],
      params: TokenParams,
      response: { 200: Ok, ...refusals(401, 403, 404, 507) },
    },
    answer: ok,
  },
  'GET /login': {
    access: 'anyone',
    schema: { hide: true },
  },
  'GET /login/callback': {
    access: 'anyone',
    schema: { hide: true },
  },
} satisfies Readonly<Record<string, Route>>;
