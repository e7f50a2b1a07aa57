/** Routes of nodes and of the rooms that they are in. */
import { ID, AT, slotTime, room, ada, board, ok } from './examples.ts';
import type { Described } from './route-description.ts';

export const NODES: Readonly<Record<string, Described>> = {
  'GET /api/nodes': {
    description:
      'Volunteers that are here or were until lately: engine, slots, room, round trip of a heartbeat, ' +
      'measured speed, and how often ranks were lost there.',
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
    description:
      'How many slots of each node did what, in the mean over each column: `slots` is raw deflate in base64 ' +
      'of u16 (little endian) by node, column and kind, in hundredths of a slot. A column comes when it is ' +
      'over; who asks again with `from` gets what is new. Nodes that left are in it for ten minutes.',
    answer: slotTime,
  },
  'GET /api/nodes/:id': {
    description:
      'The node, the ranks that have its slots now, and the incarnations that were lost there, newest first, ' +
      'as far as their jobs are remembered. NOT_FOUND ten minutes after it left.',
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
    description:
      'As GET /api/nodes/timeline, of one node; and the bytes of the linear memories of its C and C++ ranks, ' +
      'by column.',
    answer: { ...slotTime, memory: Array<number>(12).fill(16_777_216) },
  },
  'GET /api/rooms': {
    description: 'Rooms that are open, each with its join code and how many nodes, slots and jobs it has.',
    answer: [room],
  },
  'POST /api/rooms': {
    description: 'The answer has the join code. Volunteers who join with it run only the room’s jobs.',
    request: { name: 'Class 7b' },
    answer: { ...room, nodes: 0, slots: 0, free: 0, jobs: 0 },
  },
  'DELETE /api/rooms/:code': {
    description: 'Its code stops working. Refused with CONFLICT while a job of the room waits or runs.',
    answer: ok,
  },
  'GET /api/rooms/:code/board': {
    description:
      'Time of ranks that volunteers with a name have given in the room, the most first, teams summed. `-` ' +
      'in place of the code: volunteers without a room. With `name` and `team`: where that one stands.',
    answer: {
      since: AT,
      names: 1,
      entries: [ada],
      you: ada,
      teams: [{ team: 'physics', names: 1, ...board }],
      anonymous: { usefulMs: 0, replayedMs: 0, finished: 0, jobs: 0 },
    },
  },
};
