/**
 * Texts that strangers write, where they leave the server: names in views, errors of nodes, names of downloads, the
 * log. (plain-text.ts; what terminals show is tested with the command line.)
 */
import { Writable } from 'node:stream';
import Fastify from 'fastify';
import { CONTROL_VERSION, type NodeView } from '@mayfly/wire';
import { io } from 'socket.io-client';
import { expect, it } from 'vitest';
import { mappedReport } from '../src/jobs/mapped-report.ts';
import { logTo } from '../src/logger.ts';
import { api, program, sharedServer } from './harness.ts';

/** Erases the screen, in 7 bits and in 8; turns text around; ends the line. */
const HOSTILE = 'a\x1b[2Jb\x9b2Jc\u202ed\u2028e\nf';
const PLAIN = 'a [2Jb 2Jcd e f';

it('nodes, jobs and rooms have plain names, and so have downloads', async () => {
  const server = await sharedServer();
  const socket = io(`${server.localUrl}/node`, { transports: ['websocket'], forceNew: true });
  const hello = (name: string): Promise<unknown> =>
    socket.emitWithAck('hello', {
      version: CONTROL_VERSION,
      name,
      engine: HOSTILE,
      slots: 1,
      holds: [],
      images: [],
    });
  await hello(HOSTILE);
  expect((await api(server, 'GET', '/api/nodes')).body).toMatchObject([{ name: PLAIN, engine: PLAIN }]);
  socket.close();
  const nameless = io(`${server.localUrl}/node`, { transports: ['websocket'], forceNew: true });
  await nameless.emitWithAck('hello', {
    version: CONTROL_VERSION,
    name: '\u202e',
    engine: 'e',
    slots: 0,
    holds: [],
    images: [],
  });
  expect(((await api(server, 'GET', '/api/nodes')).body as NodeView[]).map((n) => n.name)).toContain('unnamed');
  nameless.close();

  const submission = program('export {};\n', 2, { name: `../${HOSTILE}`, about: HOSTILE });
  const { id } = (await api(server, 'POST', '/api/jobs', submission)).body as { id: string };
  expect((await api(server, 'GET', `/api/jobs/${id}`)).body).toMatchObject({ name: `../${PLAIN}`, about: PLAIN });
  await api(server, 'POST', `/api/jobs/${id}/cancel`);
  const { url } = (await api(server, 'POST', `/api/jobs/${id}/archive`)).body as { url: string };
  const archive = await fetch(server.localUrl + url);
  expect(archive.headers.get('content-disposition')).toMatch(/^attachment; filename="[\w+-][\w.+-]*\.tar"$/);
  await archive.arrayBuffer();

  await api(server, 'POST', '/api/rooms', { name: HOSTILE });
  expect((await api(server, 'GET', '/api/rooms')).body).toMatchObject([{ name: PLAIN }]);
});

it('a report of a node keeps its lines, and no commands', () => {
  const told = { code: 1, abort: { code: HOSTILE, message: HOSTILE, stack: `at f\n${HOSTILE}` } };
  expect(mappedReport(undefined as never, 'abcdefghjkmn' as never, undefined, told)).toEqual({
    code: 1,
    abort: { code: PLAIN, message: 'a [2Jb 2Jcd e\nf', stack: 'at f\na [2Jb 2Jcd e\nf' },
  });
});

it('a line of the log is one line of plain JSON, with the same value', () => {
  let log = '';
  const stream = new Writable({ write: (chunk, _e, done) => ((log += String(chunk)), done()) });
  Fastify({ logger: logTo({ level: 'info', stream }) }).log.info({ what: HOSTILE }, HOSTILE);
  expect(log).toMatch(/^[^\p{Cc}\p{Cf}\p{Zl}]*\n$/u);
  expect(JSON.parse(log)).toMatchObject({ what: HOSTILE, msg: HOSTILE });
});
