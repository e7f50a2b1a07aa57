/**
 * Output once, whatever happens in between: world-host.ts O1–O3, task-output.ts W1–W3;
 * spawn-patience.ts P1, P2.
 */
import {
  FileOp,
  SpawnRefusal,
  WorldMode,
  encodeFileRequest,
  fileValue,
  incarnation,
  jobId,
  taskId,
} from '@mayfly/wire';
import { appendFile, mkdir, readFile, readdir, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { FolderJobOutput } from '@mayfly/storage';
import { WorldHost } from '../src/hosts/world-host.ts';
import type { WorldListener } from '../src/hosts/world-listener.ts';
import { freshDir } from './harness.ts';

const job = jobId('abcdefghijkl');
const task = taskId(3);
const text = new TextEncoder();

function listener(): WorldListener & { failures: string[]; exits: number[]; seen: string[] } {
  const l = {
    failures: [] as string[],
    exits: [] as number[],
    seen: [] as string[],
    output: (_j: unknown, t: number, stream: string, offset: number, bytes: Uint8Array): void =>
      void l.seen.push(`${t} ${stream} ${offset} ${bytes.length}`),
    file: () => undefined,
    exit: (_j: unknown, _t: unknown, sentBy: number): void => void l.exits.push(sentBy),
    total: () => undefined,
    failed: (_j: unknown, e: { code: string }) => void l.failures.push(e.code),
    answers: () => undefined,
    member: () => false,
    refusal: () => 1,
    spawned: () => Promise.resolve(),
    durableAnswers: () => 0,
    stopped: () => false,
  };
  return l;
}

const fileMessage = (path: string, offset: number, bytes: Uint8Array): Uint8Array => {
  const name = text.encode(path);
  const out = new Uint8Array(10 + name.length + bytes.length);
  const v = new DataView(out.buffer);
  v.setUint16(0, name.length, true);
  out.set(name, 2);
  v.setUint32(2 + name.length, offset, true);
  out.set(bytes, 10 + name.length);
  return out;
};

const cutMessage = (path: string, length: number): Uint8Array => {
  const body = fileMessage(path, 0, new Uint8Array(0));
  new DataView(body.buffer).setUint32(2 + path.length, length >>> 0, true);
  new DataView(body.buffer).setUint32(6 + path.length, Math.floor(length / 4294967296), true);
  return body;
};

type Message = { mode: number; body: Uint8Array };

const worldHost = (dataDir: string, listener: WorldListener): WorldHost =>
  new WorldHost(new FolderJobOutput(join(dataDir, 'jobs')), listener);
const fileOf = async (host: WorldHost, path: string): Promise<Buffer> =>
  buffer((await host.outputs.file(job, path))!(0, Infinity));

describe('WorldHost', () => {
  it('O1: files that are written, cut and removed are the same after any repetition', async () => {
    const path = fc.constantFrom('a', 'd/b');
    const message = fc.oneof(
      fc.record({
        mode: fc.constant(WorldMode.FILE),
        body: fc.tuple(path, fc.nat(20), fc.uint8Array({ maxLength: 10 })).map(([p, at, b]) => fileMessage(p, at, b)),
      }),
      fc.record({
        mode: fc.constant(WorldMode.CUT),
        body: fc
          .tuple(path, fc.oneof(fc.nat(20), fc.constant(Number.MAX_SAFE_INTEGER)))
          .map(([p, n]) => cutMessage(p, n)),
      }),
    );
    const run = async (
      messages: readonly Message[],
      crashes: readonly (readonly [upTo: number, from: number])[],
    ): Promise<Record<string, string>> => {
      const dataDir = await freshDir();
      let delivered = 0;
      for (const [upTo, from] of [...crashes, [messages.length, delivered] as const]) {
        const host = worldHost(dataDir, listener());
        await host.open(job, 60);
        const end = Math.max(delivered, Math.min(upTo, messages.length));
        for (let n = Math.min(from, delivered); n < end; n++)
          host.deliver(job, task, incarnation(0), n + 1, messages[n]!.mode, messages[n]!.body);
        delivered = end;
        await host.close(job);
      }
      const host = worldHost(dataDir, listener());
      await host.open(job, 60);
      const found: Record<string, string> = {};
      let total = 0;
      for (const f of await host.outputs.files(job)) {
        const bytes = await fileOf(host, f.path);
        expect(bytes.length).toBe(f.bytes);
        total += f.bytes;
        found[f.path] = bytes.toString('hex');
      }
      expect(host.total(job)).toBe(total);
      await host.close(job);
      return found;
    };
    await fc.assert(
      fc.asyncProperty(
        fc.array(message, { minLength: 1, maxLength: 15 }),
        fc.array(fc.tuple(fc.nat(14), fc.nat(14)), { maxLength: 3 }),
        async (messages, crashes) => {
          expect(await run(messages, crashes)).toEqual(await run(messages, []));
        },
      ),
      {
        numRuns: 30,
        // A length for a file that is not there yet, and comes again when it is.
        examples: [
          [
            [
              { mode: WorldMode.CUT, body: cutMessage('a', 1) },
              { mode: WorldMode.FILE, body: fileMessage('a', 0, new Uint8Array(0)) },
            ],
            [[2, 0]],
          ],
        ],
      },
    );
  });

  it(
    'O1, O5: requests of two tasks take effect once, in one order, and are answered alike, whenever the server ' +
      'dies',
    async () => {
      const other = taskId(4);
      const request = (op: FileOp, r: Parameters<typeof encodeFileRequest>[1], data = new Uint8Array(0)): Message => {
        const { body, data: at } = encodeFileRequest(op, { ...r, bytes: data.length });
        at.set(data);
        return { mode: WorldMode.REQUEST, body };
      };
      const open = request(FileOp.OPEN, { name: 'd/shared', value: 2 });
      const message = fc.oneof(
        fc
          .tuple(fc.nat(30), fc.uint8Array({ minLength: 1, maxLength: 9 }))
          .map(([at, b]) => request(FileOp.WRITE, { session: 1, segments: [at, b.length, 1, 0] }, b)),
        fc.nat(30).map((at) => request(FileOp.READ, { session: 1, segments: [at, 5, 1, 0] })),
        fc.nat(5).map((n) => request(FileOp.ADVANCE, { session: 1, value: n })),
        fc.nat(30).map((n) => request(FileOp.RESIZE, { session: 1, value: n })),
        fc.nat(20).map((at) => ({ mode: WorldMode.FILE, body: fileMessage('d/shared', at, Uint8Array.of(at, 255)) })),
      );
      const run = async (
        messages: readonly (readonly [boolean, Message])[],
        crashes: readonly (readonly [upTo: number, back: number])[],
      ): Promise<unknown> => {
        const dataDir = await freshDir();
        const sent = new Map<number, Message[]>([
          [task, [open]],
          [other, [open]],
        ]);
        const answers = new Map<string, string>();
        let next = 0;
        for (const [upTo, back] of [...crashes, [messages.length, 0] as const]) {
          const host = worldHost(dataDir, listener());
          await host.open(job, 50);
          // What the logs still hold comes again, task by task.
          for (const [t, list] of sent)
            for (let n = Math.max(1, list.length - back); n <= list.length; n++)
              host.deliver(job, taskId(t), incarnation(0), n, list[n - 1]!.mode, list[n - 1]!.body);
          for (; next < Math.max(next, Math.min(upTo, messages.length)); next++) {
            const [second, m] = messages[next]!;
            const list = sent.get(second ? other : task)!;
            list.push(m);
            host.deliver(job, second ? other : task, incarnation(0), list.length, m.mode, m.body);
          }
          for (const t of [task, other])
            for (let r = 1; r <= host.requests(job, t); r++) {
              const a = host.answer(job, t, r)!;
              answers.set(
                `${t} ${r}`,
                `${a.error} ` +
                  `${sent.get(t)!.filter((m) => m.mode === WorldMode.REQUEST)[r - 1]!.body[0] === FileOp.READ ? '' : Buffer.from(a.body).toString('hex')}`,
              );
            }
          // Killed: what has not been made durable is in the kernel all the same.
        }
        const host = worldHost(dataDir, listener());
        await host.open(job, 50);
        const bytes = await fileOf(host, 'd/shared');
        await host.close(job);
        return { bytes: bytes.toString('hex'), answers: [...answers].sort() };
      };
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.tuple(fc.boolean(), message), { maxLength: 20 }),
          fc.array(fc.tuple(fc.nat(20), fc.nat(8)), { minLength: 1, maxLength: 3 }),
          async (messages, crashes) => {
            expect(await run(messages, [[0, 0], ...crashes])).toEqual(await run(messages, [[0, 0]]));
          },
        ),
        { numRuns: 20 },
      );
    },
  );

  it('W3, O1: any prefix, repetition and restart leaves the bytes of one undisturbed run', async () => {
    const message = fc.record({
      mode: fc.constantFrom(WorldMode.STDOUT, WorldMode.STDERR),
      body: fc.uint8Array({ maxLength: 40 }),
    });
    // After each crash the Channel Memory repeats from some message that its log still holds.
    await fc.assert(
      fc.asyncProperty(
        fc.array(message, { minLength: 1, maxLength: 30 }),
        fc.array(fc.tuple(fc.nat(29), fc.nat(29), fc.nat(50)), { maxLength: 5 }),
        async (messages, crashes) => {
          const dataDir = await freshDir();
          let delivered = 0;
          for (const [upTo, from, torn] of [...crashes, [messages.length, 0, 0] as const]) {
            const host = worldHost(dataDir, listener());
            await host.open(job, 1e9);
            const start = Math.min(from, delivered);
            const end = Math.max(delivered, Math.min(upTo, messages.length));
            for (let n = start; n < end; n++)
              host.deliver(job, task, incarnation(0), n + 1, messages[n]!.mode, messages[n]!.body);
            delivered = end;
            await host.close(job);
            // A crash in the middle of a write of the index, or of bytes without their record.
            const index = join(dataDir, 'jobs', job, 'out', `${task}.index`);
            if (torn > 0 && end < messages.length) await appendFile(index, Buffer.alloc(torn % 16, 7));
          }
          for (const [mode, stream] of [
            [WorldMode.STDOUT, 'stdout'],
            [WorldMode.STDERR, 'stderr'],
          ] as const) {
            const expected = Buffer.concat(messages.filter((m) => m.mode === mode).map((m) => m.body));
            const host = worldHost(dataDir, listener());
            await host.open(job, 1e9);
            expect(Buffer.from(await host.outputs.read(job, task, stream, 0, 1e6)).equals(expected)).toBe(true);
            await host.close(job);
          }
        },
      ),
      { numRuns: 40 },
    );
  });

  it('W1: a power loss that ate the end of index and streams is mended by the messages that come again', async () => {
    const dataDir = await freshDir();
    const messages: Message[] = Array.from({ length: 20 }, (_, i) => ({
      mode: WorldMode.STDOUT,
      body: text.encode(`line ${i}\n`),
    }));
    const write = async (from: number): Promise<void> => {
      const host = worldHost(dataDir, listener());
      await host.open(job, 1e9);
      messages.slice(from).forEach((m, i) => host.deliver(job, task, incarnation(0), from + i + 1, m.mode, m.body));
      await host.close(job);
    };
    await write(0);
    const out = join(dataDir, 'jobs', job, 'out');
    await truncate(join(out, '3.index'), 16 * 12 + 5);
    await truncate(join(out, '3.stdout'), 40);
    await write(5);
    expect(await readFile(join(out, '3.stdout'), 'utf8')).toBe(
      messages.map((m) => Buffer.from(m.body).toString()).join(''),
    );
  });

  it.each(['garbage', 'a folder', 'nothing'])(
    'the index of result files is written again from the journal, whatever became of it: %s',
    async (what) => {
      const dataDir = await freshDir();
      const index = join(dataDir, 'jobs', job, 'out', 'files.index');
      const first = worldHost(dataDir, listener());
      await first.open(job, 1000);
      first.deliver(job, task, incarnation(0), 1, WorldMode.FILE, fileMessage('a', 0, Uint8Array.of(1)));
      await first.sync(job);
      await first.close(job);
      const before = await readFile(index);
      await rm(index);
      if (what === 'garbage') await writeFile(index, 'garbage\n\0');
      if (what === 'a folder') await mkdir(index);
      const second = worldHost(dataDir, listener());
      await second.open(job, 1000);
      expect(await readFile(index)).toEqual(before);
      second.deliver(job, task, incarnation(0), 2, WorldMode.FILE, fileMessage('b', 0, Uint8Array.of(2)));
      await second.close(job);
      expect((await worldHost(dataDir, listener()).outputs.files(job)).map((f) => f.path)).toEqual(['a', 'b']);
    },
  );

  it('files are closed when no sync of them is under way any more', async () => {
    const host = worldHost(await freshDir(), listener());
    await host.open(job, 1e9);
    for (let n = 1; n <= 20; n++) host.deliver(job, task, incarnation(0), n, WorldMode.STDOUT, new Uint8Array(1000));
    const syncs: Promise<void>[] = [];
    let closed = false;
    // Twice: the job ended, and somebody deleted it.
    const closing = Promise.all([host.close(job), host.close(job)]).then(() => (closed = true));
    while (!closed) {
      syncs.push(host.sync(job));
      await new Promise(setImmediate);
    }
    await closing;
    expect((await Promise.allSettled(syncs)).filter((s) => s.status === 'rejected')).toEqual([]);
  });

  it(
    'P1, P2: a spawn that finds the slots of others taken hears of it when one has ended, and asks again until ' +
      'its patience is over',
    async () => {
      const l = listener();
      let why: number = SpawnRefusal.LEAVING;
      l.refusal = () => why;
      const host = worldHost(await freshDir(), l);
      await host.open(job, 1e9, { tasks: 2, leavingMs: 86_400_000 });
      let n = 0;
      const ask = (op: FileOp, data: string): void => {
        const { body, data: at } = encodeFileRequest(op, {
          name: op === FileOp.OPEN ? 'f' : '',
          value: 2,
          bytes: data.length,
        });
        at.set(text.encode(data));
        host.deliver(job, task, incarnation(0), ++n, WorldMode.REQUEST, body);
      };
      const spawn = '[{"args":[],"count":1}]';
      const answered = (r: number): Promise<unknown> => expect.poll(() => host.answerable(job, task)).toBe(r);
      const said = (r: number): number[] => ((a) => [a.error, fileValue(a.body, 0)])(host.answer(job, task, r)!);
      ask(FileOp.OPEN, '');
      ask(FileOp.SPAWN, spawn);
      // What comes behind it waits too: answers go in order.
      ask(FileOp.OPEN, '');
      await answered(1);
      host.slotFree(job);
      await answered(3);
      expect(said(2)).toEqual([53, SpawnRefusal.LEAVING]);
      why = 0;
      ask(FileOp.SPAWN, spawn);
      await answered(4);
      expect(said(4)).toEqual([0, 2]);
      await host.close(job);
      // Nobody leaves, and the patience of this one is short.
      await host.open(job, 1e9, { tasks: 2, leavingMs: 1 });
      why = SpawnRefusal.LEAVING;
      do {
        ask(FileOp.SPAWN, spawn);
        await answered(n);
      } while (said(n)[1] === SpawnRefusal.LEAVING);
      expect(said(n)).toEqual([53, SpawnRefusal.SLOTS]);
      await host.closeAll();
    },
  );

  it('tells of fresh bytes only, and of a gap', async () => {
    const dataDir = await freshDir();
    const l = listener();
    const host = worldHost(dataDir, l);
    await host.open(job, 1e9);
    host.deliver(job, task, incarnation(0), 1, WorldMode.STDOUT, text.encode('a'));
    host.deliver(job, task, incarnation(0), 1, WorldMode.STDOUT, text.encode('a'));
    host.deliver(job, task, incarnation(0), 2, WorldMode.STDOUT, text.encode('bc'));
    expect(l.seen).toEqual(['3 stdout 0 1', '3 stdout 1 2']);
    expect(() => host.deliver(job, task, incarnation(0), 9, WorldMode.STDOUT, text.encode('x'))).toThrow(
      /before message 3/,
    );
    await host.closeAll();
  });

  it('O2, O3: files stay inside, and the sum of output within the limit', async () => {
    const dataDir = await freshDir();
    for (const path of ['../x', '/x', 'a//b', 'a/./b', '.x', 'a/..', 'con|x', 'a\\b', '', 'x'.repeat(300)]) {
      const l = listener();
      const host = worldHost(dataDir, l);
      await host.open(job, 1e9);
      host.deliver(job, taskId(0), incarnation(0), 1, WorldMode.FILE, fileMessage(path, 0, new Uint8Array(3)));
      expect(l.failures, path).toEqual(['PROGRAM_ERROR']);
      await host.remove(job);
    }
    expect((await readdir(dataDir)).sort()).toEqual(['jobs']);
    const l = listener();
    const host = worldHost(dataDir, l);
    await host.open(job, 100);
    host.deliver(job, task, incarnation(0), 1, WorldMode.FILE, fileMessage('a/b.bin', 50, new Uint8Array(10)));
    host.deliver(job, task, incarnation(0), 2, WorldMode.FILE, fileMessage('a/b.bin', 0, new Uint8Array(10).fill(1)));
    expect([host.total(job), l.failures]).toEqual([60, []]);
    expect(await host.outputs.files(job)).toEqual([{ path: 'a/b.bin', bytes: 60, task }]);
    host.deliver(job, task, incarnation(0), 3, WorldMode.FILE, fileMessage('a', 0, new Uint8Array(1)));
    expect(l.failures).toEqual(['PROGRAM_ERROR']);
    await host.close(job);
    const again = listener();
    const host2 = worldHost(dataDir, again);
    await host2.open(job, 100);
    expect(host2.total(job)).toBe(60);
    // Message 3 has its place from before; it may not come again as something else.
    expect(() => host2.deliver(job, task, incarnation(0), 3, WorldMode.STDOUT, new Uint8Array(41))).toThrow(
      /different content/,
    );
    host2.deliver(job, task, incarnation(0), 4, WorldMode.STDOUT, new Uint8Array(41));
    expect(again.failures).toEqual(['OUTPUT_LIMIT']);
    expect(host2.total(job)).toBe(60);
    await host2.closeAll();
  });

  it('takes an exit report that cannot be read for an error of the program', async () => {
    const l = listener();
    const host = worldHost(await freshDir(), l);
    await host.open(job, 100);
    host.deliver(job, task, incarnation(2), 1, WorldMode.EXIT, text.encode('{"code":300}'));
    host.deliver(job, task, incarnation(2), 1, WorldMode.EXIT, text.encode('{"code":300}'));
    expect(l.exits).toEqual([2, 2]); // may come again, and says which incarnation sent it
    await host.closeAll();
  });
});
