/**
 * Pages of images belong to the task that sent them. A page that two tasks have is stored once, and neither of them can
 * notice that: not by what the server asks for, and not by what it serves.
 */
import { createHash, encodePage, packPage } from '@mayfly/checkpoint';
import { protocols } from '@mayfly/protocols';
import {
  CONTROL_VERSION,
  IMAGE_FORMAT,
  PAGE_BYTES,
  imageIdOf,
  type Assignment,
  type ErrorBody,
  type Manifest,
} from '@mayfly/wire';
import type { MayflyServer } from '@mayfly/server';
import { patient } from '@mayfly/testing';
import { io } from 'socket.io-client';
import { beforeAll, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { api, later, program, sharedServer, until } from './harness.ts';

let server: MayflyServer;
let hash: (bytes: Uint8Array) => string;
beforeAll(async () => {
  server = await sharedServer({ dispatcher: { silentMs: 600_000, heartbeatMs: 200 } });
  hash = await createHash();
});

/** A page of its own: no other test has it. */
const pageOf = (text: string): Uint8Array<ArrayBuffer> => {
  const page = new Uint8Array(PAGE_BYTES).fill(0x20);
  page.set(Buffer.from(text));
  return page;
};

/** A node that takes ranks and never runs them. */
async function assignments(jobs: number): Promise<Assignment[]> {
  /** By job: those of tests before this one come as well. */
  const all = new Map<string, Assignment>();
  const socket = io(`${server.localUrl}/node`, { transports: ['websocket'], forceNew: true, timeout: patient(60_000) });
  socket.on('assign', (a: Assignment) => all.set(a.job, a));
  socket.on('connect', () =>
    socket.emit('hello', { version: CONTROL_VERSION, name: 'n', engine: 'none', slots: 8, holds: [], images: [] }, () =>
      beats.push(setInterval(() => socket.emit('heartbeat', { tasks: [] }), 300)),
    ),
  );
  const beats: NodeJS.Timeout[] = [];
  later(async () => {
    beats.forEach(clearInterval);
    socket.disconnect();
  });
  const ids: string[] = [];
  for (let i = 0; i < jobs; i++)
    ids.push(((await api(server, 'POST', '/api/jobs', program('export {};', 1))).body as { id: string }).id);
  await until('ranks are assigned', () => ids.every((id) => all.has(id)));
  return ids.map((id) => all.get(id)!);
}

const manifestOf = (a: Assignment, pages: readonly Uint8Array<ArrayBuffer>[], serial = 1): Manifest => ({
  format: IMAGE_FORMAT,
  image: imageIdOf(a.job, a.task, a.incarnation, serial),
  job: a.job,
  task: a.task,
  incarnation: a.incarnation,
  program: a.program.hash,
  serial,
  position: protocols.pessimistic.recovery.start,
  sections: [{ name: 'memory', bytes: pages.length * PAGE_BYTES }],
  pages: pages.map(hash),
  bytes: pages.length * PAGE_BYTES,
});

interface Reply {
  type: 'need' | 'stored' | 'complete' | 'refused';
  pages?: number[];
  error?: ErrorBody;
}

/** Offers an image, sends the pages that the server asks for, and ends. @returns the indices that it asked for */
async function upload(
  a: Assignment,
  pages: readonly Uint8Array<ArrayBuffer>[],
  serial = 1,
  breakAfter?: number,
): Promise<number[]> {
  const url = `${server.localUrl.replace('http', 'ws')}/data/image?cap=${a.capability}`;
  const ws = new WebSocket(url);
  const replies: Reply[] = [];
  ws.on('message', (d: Buffer) => replies.push(JSON.parse(d.toString()) as Reply));
  await new Promise((resolve, reject) => ws.once('open', resolve).once('error', reject));
  const manifest = manifestOf(a, pages, serial);
  ws.send(JSON.stringify({ type: 'offer', capability: a.capability, manifest }));
  await until('the server answers the offer', () => replies.length > 0);
  const [first] = replies;
  if (first!.type !== 'need') throw new Error(JSON.stringify(first));
  const sent = first!.pages!.slice(0, breakAfter);
  for (const index of sent) ws.send(packPage(await encodePage(index, pages[index]!)));
  if (breakAfter !== undefined) {
    const coming = async (): Promise<number | undefined> =>
      (await api(server, 'GET', `/api/jobs/${a.job}`)).body.tasks[0].uploading?.sentBytes as number | undefined;
    await until('the pages are there', async () => (await coming()) === sent.length * PAGE_BYTES);
    ws.terminate();
    await until('the server notices', async () => (await coming()) === undefined);
    return first!.pages!;
  }
  ws.send(JSON.stringify({ type: 'end', image: manifest.image }));
  await until('it is complete', () => replies.some((r) => r.type === 'complete' || r.type === 'refused'));
  ws.terminate();
  expect(replies.map((r) => r.type)).toEqual(['need', 'stored', 'complete']);
  return first!.pages!;
}

const get = (path: string): Promise<{ statusCode: number; rawPayload: Buffer; body: string }> =>
  server.inject({ url: path }) as never;

it('what another job has is asked for all the same, and only own images are served', async () => {
  const [victim, spy] = (await assignments(2)) as [Assignment, Assignment];
  const [secret, wrong] = [pageOf('the code is 4711'), pageOf('the code is 4710')];
  expect(await upload(victim, [secret])).toEqual([0]);

  // The server has the first of these pages and not the second: the answer is the same.
  expect(await upload(spy, [secret, wrong], 1, 0)).toEqual([0, 1]);
  const name = hash(secret);
  for (const path of [
    `/data/pages/${victim.job}/${name}?cap=${spy.capability}`,
    `/data/pages/${spy.job}/${name}?cap=${spy.capability}`,
    ...[victim.job, spy.job].map(
      (job) => `/data/images/${job}/0/${manifestOf(victim, [secret]).image}/pages?from=0&count=1&cap=${spy.capability}`,
    ),
    `/data/files/${spy.job}/${name}?cap=${spy.capability}`,
  ]) {
    const answer = await get(path);
    expect([403, 404], path).toContain(answer.statusCode);
    expect(answer.body).not.toContain('4711');
  }
  const own = `/data/images/${victim.job}/0/${manifestOf(victim, [secret]).image}/pages`;
  const served = await get(`${own}?from=0&count=1&cap=${victim.capability}`);
  expect(Buffer.compare(served.rawPayload, secret)).toBe(0);
});

it('later images of a task send changed pages only, also after a broken connection', async () => {
  const [a] = (await assignments(1)) as [Assignment];
  const pages = Array.from({ length: 40 }, (_, i) => pageOf(`page ${i}`));
  // Broken after ten pages: these need not come again.
  expect(await upload(a, pages, 1, 10)).toHaveLength(40);
  expect(await upload(a, pages, 1)).toEqual(Array.from({ length: 30 }, (_, i) => i + 10));
  pages[7] = pageOf('changed');
  expect(await upload(a, pages, 2)).toEqual([7]);
  expect(await upload(a, pages, 3)).toEqual([]);
});

it('a rank has one image socket: a newer one takes its place', async () => {
  const [a] = (await assignments(1)) as [Assignment];
  const url = `${server.localUrl.replace('http', 'ws')}/data/image?cap=${a.capability}`;
  const sockets: WebSocket[] = [];
  const codes: number[] = [];
  for (let i = 0; i < 5; i++) {
    const ws = new WebSocket(url);
    sockets.push(ws);
    ws.on('close', (code) => codes.push(code));
    await new Promise((resolve) => ws.once('open', resolve));
  }
  await until('the older ones are closed', () => codes.length === 4);
  expect(codes).toEqual([4429, 4429, 4429, 4429]);
  sockets.at(-1)!.terminate();
});
