/**
 * Storage that cannot be written for a while, for real: a small file system of its own that is filled, becomes
 * read-only, or a process that may open no more files. The server is a process of its own, nodes and ranks are real.
 * Mounting takes root on Linux; elsewhere these tests are skipped.
 */
import { execFileSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startHeadlessNode, type HeadlessNode } from '@mayfly/node/headless';
import type { JobView, ServerView } from '@mayfly/wire';
import { describe, expect, it, type TestContext } from 'vitest';
import { freshDir, later, TOKEN, until } from './harness.ts';
import { startProcess, type ServerProcess } from './server-process.ts';

const PATIENCE = { graceMs: 300, silentMs: 120_000, restartGraceMs: 120_000 };
const LAPS = 120;
const SIZE = 3;

/** Waits for a line at one lap; from then on it writes, and sends, all the time. */
const RING = `
import { COMM_WORLD as comm, args, stdin } from 'mayfly';
const { rank, size } = comm;
const token = new Float64Array(512);
for (let lap = 0; lap < ${LAPS}; lap++) {
  if (rank === 0 && lap === Number(args[0])) stdin.readLine();
  if (rank === 0) comm.send(token, 1);
  comm.recv(token, (rank + size - 1) % size);
  token[0]! += rank + 1;
  for (let i = 0, x = 0; i < 1_000_000; i++) x += Math.sqrt(i);
  if (rank !== 0) comm.send(token, (rank + 1) % size);
  console.log('lap', lap, token[0]);
}
`;
function expected(rank: number): string {
  let token = 0;
  let out = '';
  for (let lap = 0; lap < LAPS; lap++)
    for (let i = 0; i < SIZE; i++) {
      const r = (i + 1) % SIZE;
      token += r + 1;
      if (r === rank) out += `lap ${lap} ${token}\n`;
    }
  return out;
}

/**
 * A file system of its own; undefined: it cannot be had here. It goes with the test, after all that uses it, and also
 * when the test fails.
 */
function mounted(context: TestContext, ...mount: string[]): string | undefined {
  const dir = mkdtempSync(join(tmpdir(), 'mayfly-disk-'));
  try {
    execFileSync('mount', [...mount, dir], { stdio: 'pipe' });
  } catch {
    rmSync(dir, { recursive: true });
    console.warn('skipped: file systems cannot be mounted here (this takes root on Linux)');
    return undefined;
  }
  context.onTestFinished(() => {
    // Lazily, should somebody still hold a file of it.
    execFileSync('umount', ['-l', dir]);
    rmSync(dir, { recursive: true });
  });
  return dir;
}

/** Another program takes all the space that is left. @returns the file that has it */
function fill(dir: string): string {
  const path = join(dir, 'somebody-elses-file');
  const fd = openSync(path, 'w');
  for (let chunk = 1 << 20; chunk >= 1;)
    try {
      writeSync(fd, new Uint8Array(chunk));
    } catch {
      chunk >>= 1;
    }
  closeSync(fd);
  return path;
}

class Place {
  server!: ServerProcess;
  readonly dataDir: string;
  constructor(readonly disk: string) {
    this.dataDir = join(disk, 'data');
  }
  async start(port = 0): Promise<void> {
    this.server = await startProcess({ dataDir: this.dataDir, port, dispatcher: PATIENCE });
  }
  async nodes(n: number): Promise<HeadlessNode[]> {
    return Promise.all(
      Array.from({ length: n }, async () => {
        const node = await startHeadlessNode({
          server: this.server.url,
          slots: 2,
          name: 'a node',
          allowTypeScript: true,
        });
        later(() => node.close());
        return node;
      }),
    );
  }
  // Answers are looked at by matchers.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  async api(method: string, path: string, body?: unknown): Promise<{ status: number; body: any }> {
    const raw = body instanceof Uint8Array;
    const answer = await fetch(this.server.url + path, {
      method,
      headers: {
        authorization: `Bearer ${TOKEN}`,
        ...(body === undefined ? {} : { 'content-type': raw ? 'application/octet-stream' : 'application/json' }),
      },
      ...(body === undefined ? {} : { body: raw ? (body as never) : JSON.stringify(body) }),
    });
    const text = await answer.text();
    try {
      return { status: answer.status, body: JSON.parse(text) };
    } catch {
      return { status: answer.status, body: text };
    }
  }
  submit(at = 10): Promise<{ status: number; body: { id: string; code?: string; message?: string } }> {
    return this.api('POST', '/api/jobs', {
      program: { language: 'typescript', entry: 'main.ts', sources: { 'main.ts': RING } },
      size: SIZE,
      args: [String(at)],
      options: { interactive: true },
    });
  }
  async view(id: string): Promise<JobView> {
    return (await this.api('GET', `/api/jobs/${id}`)).body as JobView;
  }
  async disk_(): Promise<ServerView['disk']> {
    return ((await this.api('GET', '/api/server')).body as ServerView).disk;
  }
  line(id: string): Promise<{ status: number; body: { code?: string } }> {
    return this.api('POST', `/api/jobs/${id}/stdin`, new TextEncoder().encode('go\n'));
  }
  until(id: string, what: string, is: (v: JobView) => boolean): Promise<unknown> {
    let last: JobView | undefined;
    return until(what, async () => is((last = await this.view(id)))).catch((e: Error) => {
      const tasks = last?.tasks.map((t) => [t.state, t.activity?.call]);
      const seen = JSON.stringify({ state: last?.state, reason: last?.reason, error: last?.error, tasks });
      throw new Error(`${e.message}: ${seen}\n${this.server.output()}`);
    });
  }
  /** Runs up to its line. */
  async running(at?: number): Promise<string> {
    const { id } = (await this.submit(at)).body;
    await this.until(id, 'a job that waits for its line', (v) => v.tasks[0]?.activity?.call === 'stdin');
    return id;
  }
  async right(id: string): Promise<void> {
    await this.until(id, 'the end of the job', (v) => ['done', 'failed', 'cancelled'].includes(v.state));
    expect(await this.view(id)).toMatchObject({ state: 'done', exitCode: 0 });
    for (let rank = 0; rank < SIZE; rank++)
      expect((await this.api('GET', `/api/jobs/${id}/tasks/${rank}/stdout`)).body).toBe(expected(rank));
  }
}

describe('a full disk', () => {
  it('pauses jobs and refuses what it cannot store; the server may die and start meanwhile; the job ends right', async (context) => {
    const disk = mounted(context, '-t', 'tmpfs', '-o', 'size=16m', 'tmpfs');
    if (disk === undefined) return context.skip();
    const p = new Place(disk);
    await p.start();
    await p.nodes(2);
    const byHand = (await p.submit()).body.id;
    expect((await p.api('POST', `/api/jobs/${byHand}/pause`, {})).status).toBe(200);
    await p.until(byHand, 'the pause by hand', (v) => v.state === 'paused');
    const id = await p.running();

    expect((await p.line(id)).status).toBe(200);
    let filler = fill(disk);
    await p.until(id, 'the pause', (v) => v.state === 'paused');
    const paused = await p.view(id);
    expect(paused.stopped?.code).toBe('DISK_FULL');
    expect(paused.reason).toMatch(
      /^The disk of the server is full: .* of 1\d MB free\. Free space there, or delete old jobs; jobs resume automatically when .* are free\.$/,
    );
    expect(await p.disk_()).toMatchObject({ state: 'stopped', code: 'DISK_FULL', directory: p.dataDir });
    expect(p.server.output()).toMatch(/cannot store anything: The disk of the server is full/);
    // Nobody else has stopped this one.
    expect((await p.view(byHand)).stopped).toBeUndefined();

    for (const [method, path, body] of [
      [
        'POST',
        '/api/jobs',
        { program: { language: 'typescript', entry: 'main.ts', sources: { 'main.ts': 'export {}' } }, size: 1 },
      ],
      ['POST', `/api/jobs/${id}/stdin`, new Uint8Array(10)],
      ['POST', `/api/jobs/${id}/resume`, undefined],
      ['POST', '/api/backup', undefined],
      ['POST', '/api/lesson', undefined],
    ] as const)
      expect({ path, ...(await p.api(method, path, body)) }).toMatchObject({
        path,
        status: 507,
        body: { code: 'DISK_FULL' },
      });
    // A small record may still find room: what was answered is kept, what was refused is not there.
    const refused = async (path: string, body: (n: number) => object): Promise<number> => {
      for (let n = 0; ; n++) {
        const answer = await p.api('POST', path, body(n));
        if (answer.status === 201) continue;
        expect(answer).toMatchObject({ status: 507, body: { code: 'DISK_FULL' } });
        return n;
      }
    };
    const tokens = await refused('/api/tokens', (n) => ({ name: `token ${n}`, role: 'viewer' }));
    const rooms = await refused('/api/rooms', () => ({ name: 'a room '.repeat(8) }));
    const kept = async (): Promise<number[]> => [
      (await p.api('GET', '/api/tokens')).body.length - 1,
      (await p.api('GET', '/api/rooms')).body.length,
    ];
    expect(await kept()).toEqual([tokens, rooms]);
    const folders = readdirSync(join(p.dataDir, 'jobs')).sort();
    expect(folders).toEqual([byHand, id].sort());

    await p.server.kill();
    await p.start(p.server.port);
    await p.until(id, 'the pause after the start', (v) => v.state === 'paused' && v.stopped?.code === 'DISK_FULL');
    expect((await p.submit()).status).toBe(507);
    expect(await kept()).toEqual([tokens, rooms]);

    rmSync(filler);
    await p.right(id);
    const after = await p.view(byHand);
    expect([after.state, after.stopped]).toEqual(['paused', undefined]);
    expect(await p.disk_()).toMatchObject({ state: 'ok' });

    // To delete a job makes room, so that works on a full disk as well.
    filler = fill(disk);
    await until('a full disk', async () => (await p.disk_()).state === 'stopped');
    expect((await p.api('DELETE', `/api/jobs/${id}`)).status).toBe(200);
    expect(existsSync(join(p.dataDir, 'jobs', id))).toBe(false);
    rmSync(filler);
    await until('space', async () => (await p.disk_()).state === 'ok');
    expect((await p.api('POST', `/api/jobs/${byHand}/resume`)).status).toBe(200);
    expect((await p.line(byHand)).status).toBe(200);
    await p.right(byHand);
    expect(await p.server.stop()).toBe(0);
  });
});

describe('a process with too many open files', () => {
  it('takes no connection and starts no job, and lives; a job that has to open a file waits, and ends right', async (context) => {
    if (!existsSync('/proc/self/fd')) return context.skip();
    const p = new Place(await freshDir());
    await p.start();
    await p.nodes(2);
    // Files for output are opened at the first line of each rank.
    const id = await p.running(0);
    const limit = (n: number): void => void execFileSync('prlimit', ['--pid', String(p.server.pid), `--nofile=${n}:`]);
    expect((await p.line(id)).status).toBe(200);
    limit(1);
    await p.until(id, 'the pause', (v) => v.state === 'paused');
    expect((await p.view(id)).stopped).toEqual({
      code: 'STORAGE_FAILED',
      message:
        'The server cannot store anything: this process has as many files open as it may; start it with a higher ' +
        'limit (“ulimit -n 65536” in its shell, LimitNOFILE=65536 in its systemd unit) (EMFILE). Jobs ' +
        'resume automatically once it can. The page and the log of the server have the ' +
        'details.',
    });
    expect(await p.submit()).toMatchObject({ status: 507, body: { code: 'STORAGE_FAILED' } });
    expect(await p.disk_()).toMatchObject({ state: 'stopped', code: 'STORAGE_FAILED' });
    // Nobody is let in meanwhile; that must not end the process.
    const url = new URL(p.server.url);
    await Promise.all(
      Array.from(
        { length: 3 },
        () =>
          new Promise<void>((resolve) => {
            const socket = connect(Number(url.port), url.hostname, () =>
              socket.write('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n'),
            );
            const over = (): void => (socket.destroy(), resolve());
            socket.on('error', over).on('close', over).setTimeout(500, over);
          }),
      ),
    );
    limit(4096);
    await p.right(id);
    expect(await p.server.stop()).toBe(0);
  });
});

describe('a file system that becomes read-only', () => {
  it('pauses jobs; a server does not start on it, and says why; on a sound one the job ends right', async (context) => {
    const image = join(await freshDir(), 'image');
    try {
      writeFileSync(image, '');
      truncateSync(image, 24 << 20);
      execFileSync('mkfs.ext4', ['-q', '-F', image], { stdio: 'pipe' });
    } catch {
      return context.skip();
    }
    const disk = mounted(context, '-o', 'loop', image);
    if (disk === undefined) return context.skip();
    const p = new Place(disk);
    await p.start();
    await p.nodes(2);
    const id = await p.running();
    expect((await p.line(id)).status).toBe(200);
    // What ext4 does by itself when its disk fails: everything that is open can be read, and nothing written.
    execFileSync('mount', ['-o', 'remount,abort', disk]);
    await p.until(id, 'the pause', (v) => v.state === 'paused');
    expect(await p.view(id)).toMatchObject({
      stopped: {
        code: 'STORAGE_FAILED',
        message: expect.stringMatching(
          /^The server cannot store anything: the (file system is mounted read-only \(EROFS\)|disk reports an input\/output error \(EIO\))\. Jobs resume/,
        ),
      },
    });
    for (const [method, path, body] of [
      ['POST', '/api/tokens', { name: 'somebody', role: 'viewer' }],
      ['POST', '/api/rooms', { name: 'a room' }],
      ['PUT', `/api/jobs/${id}/share`, undefined],
      ['POST', `/api/jobs/${id}/stdin`, new Uint8Array(10)],
      ['POST', `/api/jobs/${id}/cancel`, undefined],
    ] as const)
      expect({ path, ...(await p.api(method, path, body)) }).toMatchObject({
        path,
        status: 507,
        body: { code: 'STORAGE_FAILED' },
      });
    expect((await p.submit()).status).toBe(507);
    expect((await p.api('GET', '/api/tokens')).body).toHaveLength(1);

    const { port } = p.server;
    await p.server.kill();
    await expect(p.start(port)).rejects.toThrow(/the file system is mounted read-only \(EROFS\)/);
    execFileSync('umount', [disk]);
    execFileSync('mount', ['-o', 'loop', image, disk]);
    await p.start(port);
    await p.right(id);
    expect(await p.server.stop()).toBe(0);
  });
});
