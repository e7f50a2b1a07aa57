/**
 * /openapi.json: what @fastify/swagger gathers from the routes, made readable: who may, descriptions and
 * examples, the codes behind each refusal (the registry of errors), and schemas by their names.
 */
import {
  ApiError,
  BoardView,
  ChartsView,
  CheckpointAdvice,
  ComparisonView,
  ERRORS,
  ExampleEntry,
  ExampleView,
  InfoView,
  JobReport,
  JobSubmission,
  JobView,
  LessonView,
  MatrixView,
  Me,
  NewToken,
  NodeDetail,
  NodeView,
  NodesTimeline,
  ProfileView,
  QuotaView,
  QuotaWish,
  RoomView,
  ServerView,
  TimelineView,
  TokenCreated,
  TokenView,
  type ErrorCode,
} from '@mayfly/wire';
import { routes, type Access, type Route } from '@mayfly/rest';
import { needsToken } from '../access.ts';

type Json = Record<string, unknown>;
interface Response {
  description?: string;
  content?: Record<string, { schema?: unknown; example?: unknown }>;
}
interface Operation extends Json {
  summary?: string;
  tags?: string[];
  parameters?: { name: string; in: string; schema?: unknown; required?: boolean; description?: string }[];
  requestBody?: { required?: boolean; content: Record<string, { schema?: unknown; example?: unknown }> };
  responses: Record<string, Response>;
}
export interface OpenApi extends Json {
  info: Json;
  paths: Record<string, Record<string, Operation>>;
  components: Json;
}

/** Types of the wire that stand in `components` under their own names. */
export const NAMED = {
  ApiError,
  BoardView,
  ChartsView,
  CheckpointAdvice,
  ComparisonView,
  ExampleEntry,
  ExampleView,
  InfoView,
  JobReport,
  JobSubmission,
  JobView,
  LessonView,
  MatrixView,
  Me,
  NewToken,
  NodeDetail,
  NodeView,
  NodesTimeline,
  ProfileView,
  QuotaView,
  QuotaWish,
  RoomView,
  ServerView,
  TimelineView,
  TokenCreated,
  TokenView,
};

/** Codes that a route may answer with, by status; those of data links and of programs are data, not answers. */
const CODES: Readonly<Record<number, readonly ErrorCode[]>> = {
  400: ['BAD_REQUEST', 'BAD_ARCHIVE'],
  401: ['UNAUTHORIZED'],
  403: ['FORBIDDEN'],
  404: ['NOT_FOUND'],
  409: ['CONFLICT', 'QUOTA_EXCEEDED'],
  413: ['TOO_LARGE'],
  422: ['COMPILE_FAILED', 'FORBIDDEN_IMPORT', 'FORBIDDEN_FLAG', 'BAD_MODULE', 'BAD_ARCHIVE'],
  429: ['TOO_MANY'],
  507: ['DISK_FULL', 'STORAGE_FAILED'],
};
const MAY: Record<Access, string> = {
  anyone: 'Needs no token.',
  capability: 'Needs the capability of an incarnation.',
  viewer: 'Needs a token of any role.',
  submitter: 'Needs a token of the role submitter or owner.',
  own: 'Needs the token that submitted the job, or an owner’s.',
  owner: 'Needs a token of the role owner.',
};
const BYTES = { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } };

/** The document, made of what the plugin gathered. Changes `doc`. */
export function describe(doc: OpenApi): OpenApi {
  const paths: OpenApi['paths'] = {};
  for (const [path, methods] of Object.entries(doc.paths)) {
    const route = path.replaceAll(/\{([^}]+)\}/g, (_, name: string) => (name === '*' ? '*' : `:${name}`));
    for (const [method, operation] of Object.entries(methods)) {
      const key = `${method.toUpperCase()} ${route}`;
      enrich(key, operation, routes[key]!);
      (paths[path.replace('{*}', '{path}')] ??= {})[method] = operation;
    }
  }
  doc.paths = paths;
  const names = new Map(Object.entries(NAMED).map(([name, schema]) => [keyOf(schema), name]));
  doc.paths = byName(doc.paths, names) as OpenApi['paths'];
  doc.components = {
    ...doc.components,
    schemas: Object.fromEntries(
      Object.entries(NAMED).map(([name, schema]) => [name, byName(asWritten(schema), names, keyOf(schema))]),
    ),
  };
  return doc;
}

function enrich(key: string, o: Operation, row: Route): void {
  const { access } = row;
  o['operationId'] = operationId(key);
  o['description'] = [row.schema.description, MAY[access]].filter(Boolean).join(' ');
  for (const p of o.parameters ?? []) {
    if (p.name === '*') Object.assign(p, { name: 'path', description: 'Path of the file; its slashes stay slashes.' });
    p.description ??= PARAMETERS[p.name] ?? '';
  }
  if (key.includes('*') && !o.parameters?.some((p) => p.name === 'path'))
    (o.parameters ??= []).push({
      name: 'path',
      in: 'path',
      required: true,
      schema: { type: 'string' },
      description: 'Path of the file; its slashes stay slashes.',
    });
  if (row.sendsBytes) o.requestBody = { required: false, content: structuredClone(BYTES) };
  if (row.request !== undefined) for (const c of Object.values(o.requestBody?.content ?? {})) c.example = row.request;
  const r = o.responses;
  const good = Object.keys(r).find((status) => status.startsWith('2')) ?? '200';
  r[good] ??= {};
  r[good].description = 'It is so.';
  if (row.bytes)
    r[good].content = structuredClone(
      key === 'GET /metrics' ? { 'text/plain': { schema: { type: 'string' } } } : BYTES,
    ) as never;
  else if (row.answer !== undefined)
    for (const c of Object.values((r[good].content ??= { 'application/json': {} }))) c.example = row.answer;
  if (key.includes('/api/')) {
    for (const status of [
      ...(needsToken(access) ? [401, 403] : []),
      ...(o.parameters?.length || o.requestBody ? [400] : []),
      429,
    ])
      r[status] ??= { content: { 'application/json': { schema: structuredClone(ApiError) } } };
  }
  for (const [status, codes] of Object.entries(CODES)) {
    const answer = r[status];
    if (!answer || Number(status) < 400) continue;
    answer.description = codes.map((c) => `${c}: ${ERRORS[c].advice}`).join(' ');
    for (const c of Object.values(answer.content ?? {}))
      c.example = { code: codes[0], message: EXAMPLES[codes[0]!] ?? ERRORS[codes[0]!].advice };
  }
}

const PARAMETERS: Readonly<Record<string, string>> = {
  id: 'Of the job (12 characters), of the token (10), or of the node (16).',
  task: 'Rank at the start of the job, from 0.',
  ticket: 'Of the download.',
  code: 'Join code of the room.',
  name: 'Of the example; on a board, of the volunteer.',
  team: 'Of the volunteer.',
  owner: 'Name of a token: the owner of the jobs that it submitted.',
  to: 'Up to when, ms of the server’s clock.',
  first: 'First rank.',
  last: 'Last rank.',
  columns: 'At most so many.',
  events: '0: without events.',
  srcFirst: 'First rank of the sources.',
  srcLast: 'Last rank of the sources.',
  dstFirst: 'First rank of the destinations.',
  dstLast: 'Last rank of the destinations.',
  bins: 'At most so many bins a side.',
  from: 'Offset in bytes (default 0); of a time line the moment where it begins, ms.',
  end: '1: standard input ends after these bytes.',
  'idempotency-key': 'Names the submission, so that it may be sent again: 1 to 255 visible characters.',
  offset: 'Bytes of standard input that were sent before; what the server has of them is not taken twice.',
  room: 'Join code of a room; absent: volunteers without a room.',
};
const EXAMPLES: Partial<Record<ErrorCode, string>> = {
  UNAUTHORIZED: 'Invalid, revoked or expired token.',
  FORBIDDEN: 'This requires a token with the role submitter; “Ada” has the role viewer.',
  NOT_FOUND: 'There is no job k3v9x0q2m7ab.',
  CONFLICT: 'The job has ended (done).',
  TOO_MANY: 'More than 3000 requests per minute with this token from this address. Try again in 1 minute.',
  BAD_REQUEST: 'body must have required properties size',
  COMPILE_FAILED: 'The program does not compile.',
};

/** getJobsIdTasksTaskStdout */
function operationId(key: string): string {
  const [method, path] = key.split(' ') as [string, string];
  const words = path
    .replace(/^\/api/, '')
    .split(/[^A-Za-z0-9*]+/)
    .filter(Boolean);
  return method.toLowerCase() + words.map((w) => (w === '*' ? 'Path' : w[0]!.toUpperCase() + w.slice(1))).join('');
}

/** A schema in the dialect in which the plugin writes it. */
function asWritten(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(asWritten);
  return Object.fromEntries(
    Object.entries(value).map(([k, v]) =>
      k === 'const'
        ? ['enum', [v]]
        : k === 'patternProperties'
          ? ['additionalProperties', asWritten(Object.values(v as object)[0])]
          : [k, asWritten(v)],
    ),
  );
}

/** The same for equal schemas, whatever the order of their keys. */
const keyOf = (schema: unknown): string =>
  JSON.stringify(asWritten(schema), (_key, v: unknown) =>
    typeof v === 'object' && v !== null && !Array.isArray(v)
      ? Object.fromEntries(Object.entries(v).sort(([a], [b]) => (a < b ? -1 : 1)))
      : v,
  );

/** Schemas that have a name are referred to by it, wherever they stand but in their own definition. */
function byName(value: unknown, names: ReadonlyMap<string, string>, self?: string): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((v) => byName(v, names));
  const key = keyOf(value);
  const name = key === self ? undefined : names.get(key);
  if (name !== undefined) return { $ref: `#/components/schemas/${name}` };
  return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, k === 'example' ? v : byName(v, names)]));
}
