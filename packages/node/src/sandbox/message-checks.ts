/**
 * Messages from the process of a job are checked like messages from a network: a program that has taken the process
 * over may send anything. A message that passes has the form that the daemon expects and no more than one node's size.
 * Whether it is true, the server decides, as for every node.
 */
import {
  ErrorBody,
  HashSchema,
  ImageIdSchema,
  IncarnationSchema,
  LocalChannel,
  MAX_TEAM,
  Manifest,
  PAGE_BYTES,
  RankActivity,
  TaskIdSchema,
  CountSchema,
  CallTime,
  PlaceTime,
} from '@mayfly/wire';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { lowerFromChild, type FromChild } from './channel.ts';

const Amount = Type.Number({ minimum: 0, maximum: 1e15 });
const Ms = Type.Number({ minimum: 0, maximum: 1e12 });
const one = <const T extends string>(...names: T[]) => Type.Union(names.map((n) => Type.Literal(n)));

const Status = Type.Object({
  task: TaskIdSchema,
  incarnation: IncarnationSchema,
  started: Type.Boolean(),
  recovered: Type.Boolean(),
  canImage: Type.Boolean(),
  parked: Type.Boolean(),
  activity: RankActivity,
  counters: Type.Object({ messagesIn: Amount, bytesIn: Amount, messagesOut: Amount, bytesOut: Amount }),
  spent: Type.Array(Ms, { maxItems: 8 }),
  calls: Type.Array(CallTime, { maxItems: 16 }),
  places: Type.Array(PlaceTime, { maxItems: 24 }),
  local: Type.Optional(Type.Array(LocalChannel, { maxItems: MAX_TEAM })),
  memory: Type.Integer({ minimum: 0, maximum: 2 ** 40 }),
});

const rank = { task: TaskIdSchema, incarnation: IncarnationSchema };
const COMM = {
  pong: Compile(Type.Object({ n: CountSchema })),
  status: Compile(
    Type.Object({ tasks: Type.Array(Status, { maxItems: 1024 }), connected: Type.Boolean(), lostWakeUps: CountSchema }),
  ),
  report: Compile(
    Type.Object({ ...rank, event: one('started', 'recovered', 'crashed', 'refused'), error: Type.Optional(ErrorBody) }),
  ),
  ended: Compile(Type.Object({ ...rank, how: one('finished', 'failed', 'revoked', 'refused', 'crashed') })),
  keep: Compile(
    Type.Object({
      manifest: Manifest,
      fresh: Type.Object({
        pages: Type.Array(Type.Tuple([HashSchema, Type.Integer({ minimum: 0, maximum: PAGE_BYTES })]), {
          maxItems: 65536,
        }),
      }),
    }),
  ),
  complete: Compile(
    Type.Object({ task: TaskIdSchema, image: ImageIdSchema, bytes: CountSchema, last: Type.Boolean() }),
  ),
  page: Compile(Type.Object({ hash: HashSchema })),
  note: Compile(Type.Object({ text: Type.String({ maxLength: 65536 }) })),
};

const OWN = {
  ready: Compile(Type.Object({})),
  connect: Compile(Type.Object({ id: CountSchema, to: Type.String({ maxLength: 300 }) })),
  rss: Compile(Type.Object({ bytes: Type.Integer({ minimum: 0, maximum: 2 ** 50 }) })),
  probed: Compile(
    Type.Object({
      attempts: Type.Record(Type.String({ maxLength: 64 }), Type.Union([Type.String({ maxLength: 200 }), Type.Null()])),
    }),
  ),
};

type Json = Record<string, unknown>;
const isObject = (v: unknown): v is Json => typeof v === 'object' && v !== null && !Array.isArray(v);

/** @returns undefined for an invalid message */
export function checked(head: unknown, body: Uint8Array<ArrayBuffer>): FromChild | undefined {
  if (!isObject(head) || typeof head['type'] !== 'string') return undefined;
  const { type } = head;
  if (type !== 'comm')
    return Object.hasOwn(OWN, type) && OWN[type as keyof typeof OWN].Check(head) ? (head as FromChild) : undefined;
  const m = head['message'];
  if (!isObject(m) || typeof m['type'] !== 'string' || !Object.hasOwn(COMM, m['type'])) return undefined;
  if (!COMM[m['type'] as keyof typeof COMM].Check(m)) return undefined;
  const message = lowerFromChild(head, body) as Extract<FromChild, { type: 'comm' }>;
  const kept = message.message;
  if (kept.type === 'keep') {
    const known = new Set(kept.manifest.pages);
    let bytes = 0;
    for (const [hash, length] of kept.fresh.pages) {
      if (!known.has(hash)) return undefined;
      bytes += length;
    }
    if (bytes !== body.length) return undefined;
  } else if (body.length > 0) return undefined;
  return message;
}
