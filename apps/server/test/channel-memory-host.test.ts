/**
 * channel-memory-host.ts: what it does when the log cannot be written (H3), and when an append alone is not kept (H1).
 */
import { openEmbeddedStorage } from '@mayfly/storage';
import type { LogStream, MessageLog } from '@mayfly/storage/ports';
import {
  Kind,
  MayflyError,
  WORLD,
  WorldMode,
  emptyHeader,
  encodeFrame,
  incarnation,
  jobId,
  readFrames,
  taskId,
  type ProtocolName,
} from '@mayfly/wire';
import pino from 'pino';
import { describe, expect, it } from 'vitest';
import { Disk } from '../src/disk.ts';
import { ChannelMemoryHost } from '../src/hosts/channel-memory-host.ts';
import type { LogAnswers } from '@mayfly/protocols';
import { protocols } from '@mayfly/protocols';
import type { DataLink } from '../src/hosts/data-link.ts';
import { Metrics } from '../src/metrics.ts';
import { Secrets } from '../src/secrets.ts';
import { freshDir, later, until } from './harness.ts';

const job = jobId('abcdefghijkl');
const text = new TextEncoder();

/** The real log, but the disk is full for a while. */
function fillable(log: MessageLog, full: () => boolean): MessageLog {
  const wrap = (s: LogStream): LogStream =>
    new Proxy(s, {
      get(target, key) {
        const value = Reflect.get(target, key, target) as unknown;
        if (key === 'append')
          return (...parts: Uint8Array[]) => {
            if (full()) throw new MayflyError('DISK_FULL', 'no space');
            return target.append(...parts);
          };
        return typeof value === 'function' ? (value as (...a: never[]) => unknown).bind(target) : value;
      },
    });
  return {
    durability: log.durability,
    open: async (n) => wrap(await log.open(n)),
    list: (p) => log.list(p),
    remove: (n) => log.remove(n),
    close: () => log.close(),
  };
}

const message = (n: number): Uint8Array =>
  encodeFrame(
    { ...emptyHeader(Kind.DATA), flags: 1, src: taskId(0), dst: taskId(1), channel: n, size: 3 },
    text.encode('abc'),
  );

const output = (n: number): Uint8Array =>
  encodeFrame(
    { ...emptyHeader(Kind.DATA), flags: 1, src: taskId(0), dst: WORLD, channel: n, mode: WorldMode.STDOUT, size: 3 },
    text.encode('abc'),
  );

/** A Channel Memory of two tasks on the real log, as `wrap` makes it. */
async function serve(wrap: (log: MessageLog) => MessageLog, protocol: ProtocolName = 'pessimistic', fresh = true) {
  const dataDir = await freshDir();
  const storage = await openEmbeddedStorage({ dataDir });
  later(() => storage.close());
  const secrets = await Secrets.open(storage.registry, 'token-of-the-test');
  const disk = new Disk(dataDir, 0, pino({ level: 'silent' }));
  await disk.open();
  later(async () => disk.close());
  const failures: string[] = [];
  const epochs: number[] = [];
  const shown: number[] = [];
  const nothing = (): void => undefined;
  const answers: LogAnswers = {
    fenced: nothing,
    refused: nothing,
    covered: nothing,
    began: nothing,
    stage: nothing,
    recovered: () => undefined,
    coreLost: nothing,
    wentBack: (_cm, epoch) => void epochs.push(epoch),
    failed: (_cm, e) => void failures.push(e.code),
  };
  const host = new ChannelMemoryHost(
    { job, index: 0, count: 1, size: 2, protocol, durability: 'behind' },
    {
      log: wrap(storage.log),
      disk,
      world: { deliver: (_task, _incarnation, channel) => void shown.push(channel), sync: async () => undefined },
      answers,
      files: { answerable: () => 0, answer: () => undefined },
      secrets,
      settings: { backlogBytes: 1e6, backlogMaxBytes: 1e7, lazyTicks: 1 },
      metrics: new Metrics(),
      logger: pino({ level: 'silent' }),
      actingKnown: Promise.resolve(),
      stdin: undefined,
      fresh,
    },
  );
  later(() => host.close('test'));
  if (fresh) await host.ready;
  const ticks = setInterval(() => host.tick(Date.now()), 20);
  later(async () => clearInterval(ticks));

  const capability = (task: number): string =>
    secrets.capability({ job, task: taskId(task), incarnation: incarnation(0) });
  const connect = (
    task: number,
    resume: boolean,
    received: number,
  ): { link: DataLink; kinds: number[]; closed: string[]; reads: boolean[] } => {
    const kinds: number[] = [];
    const reads: boolean[] = [];
    const closed: string[] = [];
    const link: DataLink = {
      address: 'test',
      network: 'test',
      buffered: 0,
      send: (b) => void kinds.push(...readFrames(b).map((f) => f.header.kind)),
      close: (code, reason) => void closed.push(`${code} ${reason}`),
      terminate: nothing,
      pause: () => void reads.push(false),
      resume: () => void reads.push(true),
      onMessage: nothing,
      onClose: nothing,
      onDrain: nothing,
    };
    const attach = {
      capability: capability(task),
      nonce: 'nonce-123' + task,
      position: protocols.pessimistic.recovery.start,
      received,
      resume,
    };
    host.connect(
      link,
      encodeFrame(
        { ...emptyHeader(Kind.ATTACH), src: taskId(task), incarnation: incarnation(0) },
        text.encode(JSON.stringify(attach)),
      ),
    );
    return { link, kinds, closed, reads };
  };
  return { host, failures, epochs, shown, connect };
}

it('a full disk closes the links, and the job goes on from its log when there is space', async () => {
  let full = false;
  const { host, failures, connect } = await serve((log) => fillable(log, () => full));
  const a = connect(0, false, 0);
  const b = connect(1, false, 0);
  await until('attached', () => a.kinds.includes(Kind.ATTACHED) && b.kinds.includes(Kind.ATTACHED));
  a.link.onMessage(message(1));
  await until('delivered', () => b.kinds.includes(Kind.ARRIVAL));
  expect(host.traffic.get(taskId(1))).toMatchObject({ messagesIn: 1, bytesIn: 3 });
  full = true;
  a.link.onMessage(message(2));
  expect([a.closed, b.closed]).toEqual([['4500 DISK_FULL'], ['4500 DISK_FULL']]);
  full = false;
  await host.serving();
  expect(host.core!.logged(taskId(0), taskId(1))).toBe(1);
  expect(failures).toEqual([]);
  const again = connect(0, true, 0);
  await until('attached again', () => again.kinds.includes(Kind.ATTACHED));
});

it('W3: no link is read while output that came over it waits for its turn', async () => {
  const { host, shown, connect } = await serve((log) => log, 'none');
  const a = connect(0, false, 0);
  const b = connect(1, false, 0);
  await until('attached', () => a.kinds.includes(Kind.ATTACHED) && b.kinds.includes(Kind.ATTACHED));
  const all = Array.from({ length: 1000 }, (_, i) => output(i + 1));
  a.link.onMessage(new Uint8Array(Buffer.concat(all)));
  expect([shown.length, a.reads]).toEqual([256, [false]]);
  // Storage stops, and can be written again: that alone does not make it read.
  host.hold(true);
  host.hold(false);
  expect([a.reads.at(-1), b.reads.at(-1)]).toEqual([false, true]);
  await until('it is read again', () => a.reads.at(-1) === true);
  expect(shown).toEqual(all.map((_, i) => i + 1));
});

it('a log whose appends die with the process is synced before a message is passed on, whatever the job asked for', async () => {
  let open = (): void => undefined;
  const gate = new Promise<void>((go) => (open = go));
  let gated = false;
  const { connect } = await serve((log) => ({
    durability: 'sync-only',
    open: async (name) => {
      const stream = await log.open(name);
      return new Proxy(stream, {
        get(target, key) {
          const value = Reflect.get(target, key, target) as unknown;
          if (key === 'sync' && gated) return () => gate.then(() => target.sync());
          return typeof value === 'function' ? (value as (...a: never[]) => unknown).bind(target) : value;
        },
      });
    },
    list: (p) => log.list(p),
    remove: (n) => log.remove(n),
    close: () => log.close(),
  }));
  const a = connect(0, false, 0);
  const b = connect(1, false, 0);
  await until('attached', () => a.kinds.includes(Kind.ATTACHED) && b.kinds.includes(Kind.ATTACHED));
  gated = true;
  a.link.onMessage(message(1));
  // As a log in the kernel does, it would have passed the message on within this call.
  expect(b.kinds).not.toContain(Kind.ARRIVAL);
  open();
  await until('delivered', () => b.kinds.includes(Kind.ARRIVAL));
});

describe('coordinated checkpointing', () => {
  it('after a restart of the server there is no core before a line is drawn, and each line has its own', async () => {
    const { host, epochs, failures } = await serve((log) => log, 'vcl', false);
    // Whatever it could do without a line, it has done.
    for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
    expect(host.core).toBeUndefined();
    // The second is drawn while the streams for the first are being opened.
    host.served.goBack({ epoch: 1, to: undefined });
    await Promise.resolve();
    host.served.goBack({ epoch: 2, to: undefined });
    await host.ready;
    expect(host.core?.line?.epoch).toBe(2);
    expect(epochs.at(-1)).toBe(2);
    expect(failures).toEqual([]);
  });

  it('a host that waits for a line can be closed', async () => {
    const { host } = await serve((log) => log, 'vcl', false);
    await host.close('the job has ended');
    await host.ready;
    expect(host.core).toBeUndefined();
  });
});
