/** Routes of nodes, and of the rooms that they are in. */
import { Type } from 'typebox';
import {
  BoardView,
  CheckpointAdvice,
  NodeDetail,
  type NodeId,
  NodesTimeline,
  NodeView,
  RoomCode,
  RoomView,
  ServerAddress,
} from '@mayfly/wire';
import { ID, AT, slotTime, room, ada, board, ok } from '../examples.ts';
import type { Route } from '../route.ts';
import { Ok, refusals } from '../schemas.ts';

/** Any text: what is no id of a node is an unknown node, not a mistake in a field. */
const NodeParams = Type.Object({ id: Type.Unsafe<NodeId>(Type.String()) });
const From = Type.Object({ from: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })) });
const NewRoom = Type.Object(
  { name: Type.String({ minLength: 1, maxLength: 80 }), server: Type.Optional(ServerAddress) },
  { additionalProperties: false },
);
const RoomParams = Type.Object({ code: RoomCode });

export const NODES = {
  'GET /api/checkpoint-advice': {
    access: 'viewer',
    schema: {
      summary: 'A checkpoint interval from what was measured in a room (or among volunteers without one)',
      description:
        '√(2·C·M) of Young and Daly, from the cost C of an image and the mean time M to a loss, both measured ' +
        'in the room. `measured` is false while too little is known.',
      tags: ['rooms'],
      querystring: Type.Object({ room: Type.Optional(RoomCode) }),
      response: { 200: CheckpointAdvice, ...refusals(401) },
    },
    answer: { checkpointMs: 21_000, measured: true, costMs: 40, mtbfMs: 5_500_000, faults: 6, rankMs: 33_000_000 },
  },
  'GET /api/nodes': {
    access: 'viewer',
    schema: {
      summary: 'Volunteers',
      description:
        'Volunteers that are here or were until lately: engine, slots, room, round trip of a heartbeat, ' +
        'measured speed, and how often ranks were lost there.',
      tags: ['server'],
      response: { 200: Type.Array(NodeView), ...refusals(401) },
    },
    answer: [
      {
        id: 'n0d3n0d3n0d3n0d3',
        name: 'desk-4',
        engine: 'Chromium 140',
        slots: 3,
        busy: 1,
        cores: 4,
        rttMs: 2.5,
        faults: 0,
        record: true,
        runs: ['wasm', 'typescript'],
        state: 'here',
        since: AT,
        lastSeen: AT + 1000,
      },
    ],
  },
  'GET /api/nodes/timeline': {
    access: 'viewer',
    schema: {
      summary:
        'What the time of the slots of every node went to in the last ten minutes, in columns of five ' +
        'seconds; from: no columns before this time (ms of the server’s clock)',
      description:
        'How many slots of each node did what, in the mean over each column: `slots` is raw deflate in base64 ' +
        'of u16 (little endian) by node, column and kind, in hundredths of a slot. A column comes when it is ' +
        'over; who asks again with `from` gets what is new. Nodes that left are in it for ten minutes. Nodes of ' +
        'lessons are not in it.',
      tags: ['server'],
      querystring: From,
      response: { 200: NodesTimeline, ...refusals(400, 401) },
    },
    answer: slotTime,
  },
  'GET /api/nodes/:id': {
    access: 'viewer',
    schema: {
      summary: 'One volunteer: its ranks, and those that were lost there',
      description:
        'The node, the ranks that have its slots now, and the incarnations that were lost there, newest first, ' +
        'as far as their jobs are remembered. NOT_FOUND ten minutes after it left.',
      tags: ['server'],
      params: NodeParams,
      response: { 200: NodeDetail, ...refusals(400, 401, 404) },
    },
    answer: {
      now: AT + 60_000,
      node: {
        id: 'n0d3n0d3n0d3n0d3',
        name: 'desk-4',
        engine: 'Chromium 140',
        slots: 3,
        busy: 1,
        cores: 4,
        rttMs: 2.5,
        faults: 1,
        state: 'here',
        since: AT,
        lastSeen: AT + 59_000,
      },
      ranks: [{ job: ID, name: 'pi', task: 0, incarnation: 1, state: 'running' }],
      memory: 16_777_216,
      losses: [
        { at: AT + 30_000, job: ID, name: 'pi', task: 0, incarnation: 0, cause: 'crashed', recoveredAfterMs: 900 },
      ],
      lossesLeftOut: 0,
    },
  },
  'GET /api/nodes/:id/timeline': {
    access: 'viewer',
    schema: {
      summary:
        'What the time of the slots of one node went to in the last ten minutes, and how much memory its ranks had',
      description:
        'As GET /api/nodes/timeline, of one node; and the bytes of the linear memories of its C and C++ ranks, ' +
        'by column.',
      tags: ['server'],
      params: NodeParams,
      querystring: From,
      response: { 200: NodesTimeline, ...refusals(400, 401, 404) },
    },
    answer: { ...slotTime, memory: Array<number>(12).fill(16_777_216) },
  },
  'GET /api/rooms': {
    access: 'viewer',
    schema: {
      summary: 'Rooms, newest first',
      description: 'Rooms that are open, each with its join code and how many nodes, slots and jobs it has.',
      tags: ['rooms'],
      response: { 200: Type.Array(RoomView), ...refusals(401) },
    },
    answer: [room],
  },
  'POST /api/rooms': {
    access: 'owner',
    schema: {
      summary: 'Open a room; the answer has its join code',
      description: 'The answer has the join code. Volunteers who join with it run only the room’s jobs.',
      tags: ['rooms'],
      body: NewRoom,
      response: { 201: RoomView, ...refusals(400, 401, 429, 507) },
    },
    request: { name: 'Class 7b' },
    answer: { ...room, nodes: 0, slots: 0, free: 0, jobs: 0 },
  },
  'DELETE /api/rooms/:code': {
    access: 'owner',
    schema: {
      summary: 'Close a room: it takes no new volunteers and no new jobs',
      description: 'Its code stops working. Refused with CONFLICT while a job of the room waits or runs.',
      tags: ['rooms'],
      params: RoomParams,
      response: { 200: Ok, ...refusals(401, 404, 409, 507) },
    },
    answer: ok,
  },
  'GET /api/rooms/:code/board': {
    access: 'anyone',
    schema: {
      summary:
        'Contributions of named volunteers in a room (- for volunteers without a room); name and team ' +
        'select whose place to return. Needs no token',
      description:
        'Time of ranks that volunteers with a name have given in the room, the most first, teams summed. `-` ' +
        'in place of the code: volunteers without a room. With `name` and `team`: where that one stands.',
      tags: ['rooms'],
      params: Type.Object({ code: Type.String({ minLength: 1, maxLength: 64 }) }),
      querystring: Type.Object({
        name: Type.Optional(Type.String({ maxLength: 200 })),
        team: Type.Optional(Type.String({ maxLength: 200 })),
      }),
      response: { 200: BoardView, ...refusals(401, 429) },
    },
    answer: {
      since: AT,
      names: 1,
      entries: [ada],
      you: ada,
      teams: [{ team: 'physics', names: 1, ...board }],
      anonymous: { usefulMs: 0, replayedMs: 0, finished: 0, jobs: 0 },
    },
  },
} satisfies Readonly<Record<string, Route>>;
