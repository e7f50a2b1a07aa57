/** Routes of the lesson. None needs a token: a lesson is fixed and bounded (lesson.ts of the server). */
import { Type } from 'typebox';
import { LessonView, NewLesson, RoomCode } from '@mayfly/wire';
import { ok } from '../examples.ts';
import type { Route } from '../route.ts';
import { Ok, refusals } from '../schemas.ts';

const LessonParams = Type.Object({ code: RoomCode });

export const LESSONS = {
  'POST /api/lesson': {
    access: 'anyone',
    takesSpace: true,
    schema: {
      summary:
        'Begin a lesson: a fixed small job whose ranks the visitor’s own page runs, with the code as their ' +
        'room. Needs no token, but the join code of a server that has one',
      description:
        'For the page /lesson: a fixed program, bounded in number, time and what its ranks may send, in a room of ' +
        'its own that the visitor’s page serves. `room` is the join code, where the server has one.',
      tags: ['lesson'],
      body: Type.Optional(Type.Union([NewLesson, Type.Null()])),
      response: { 201: Type.Object({ code: RoomCode }), ...refusals(400, 401, 403, 429, 507) },
    },
    request: { room: 'QX7PKM' },
    answer: { code: 'QX7PKM' },
  },
  'GET /api/lesson/:code': {
    access: 'anyone',
    schema: {
      summary: 'How the lesson stands: ranks, their logs, faults, output',
      description: 'State of each rank with the length of its log, faults and what rank 0 has printed.',
      tags: ['lesson'],
      params: LessonParams,
      response: { 200: LessonView, ...refusals(404) },
    },
    answer: {
      state: 'running',
      steps: 2,
      ranks: [{ rank: 0, state: 'running', incarnation: 0, logged: 4, read: 4 }],
      faults: [],
      output: 'lap 1\n',
    },
  },
  'POST /api/lesson/:code/step': {
    access: 'anyone',
    schema: {
      summary: 'Send the token round once',
      description: 'The ranks pass the token round their ring once, which makes one message for each of them.',
      tags: ['lesson'],
      params: LessonParams,
      response: { 200: Ok, ...refusals(403, 404, 409, 507) },
    },
    answer: ok,
  },
  'DELETE /api/lesson/:code': {
    access: 'anyone',
    schema: {
      summary: 'Leave the lesson: its job is ended and forgotten',
      description: 'Ends the job of the lesson, forgets it, and closes its room.',
      tags: ['lesson'],
      params: LessonParams,
      response: { 200: Ok, ...refusals(403) },
    },
    answer: ok,
  },
} satisfies Readonly<Record<string, Route>>;
