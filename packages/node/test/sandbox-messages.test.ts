/** What the process of a job says is not believed: lengths, forms, kinds. */
import { describe, expect, it } from 'vitest';
import { BODY_BYTES, encode, fits, HEAD_BYTES, Inbox, lowerToChild, type FromChild } from '../src/sandbox/channel.ts';
import { checked } from '../src/sandbox/message-checks.ts';

const hash = (c: string): string => c.repeat(64);
const MANIFEST = {
  format: 2,
  image: 'abcdefghijkl-0-0-1',
  job: 'abcdefghijkl',
  task: 0,
  incarnation: 0,
  program: hash('f'),
  serial: 1,
  position: { protocol: 'pessimistic', version: 1, at: null },
  sections: [{ name: 'memory', bytes: 3 }],
  pages: [hash('a')],
  bytes: 3,
};

function taken(chunks: Uint8Array[]): {
  messages: { head: unknown; body: Uint8Array<ArrayBuffer> }[];
  broken: string[];
} {
  const messages: { head: unknown; body: Uint8Array<ArrayBuffer> }[] = [];
  const broken: string[] = [];
  const inbox = new Inbox(
    (head, body) => messages.push({ head, body }),
    (why) => broken.push(why),
  );
  for (const chunk of chunks) inbox.push(chunk);
  return { messages, broken };
}

const header = (head: number, body: number): Buffer => {
  const b = Buffer.alloc(8);
  b.writeUInt32LE(head, 0);
  b.writeUInt32LE(body, 4);
  return b;
};

describe('the pipe to the process of a job', () => {
  it('takes messages apart, wherever the chunks are cut', () => {
    const page = new Uint8Array([1, 2, 3, 4, 5]);
    const whole = Buffer.concat([
      ...encode({ type: 'comm', message: { type: 'ping', n: 7 } }),
      ...encode({ type: 'comm', message: { type: 'page', hash: hash('a'), bytes: page } }),
      ...encode({ type: 'comm', message: { type: 'page', hash: hash('b'), bytes: undefined } }),
      ...encode({ type: 'unreachable', id: 3, why: 'ä' }),
    ]);
    for (const size of [1, 2, 3, 7, 8, 9, 64, whole.length]) {
      const chunks = Array.from({ length: Math.ceil(whole.length / size) }, (_, i) =>
        whole.subarray(i * size, (i + 1) * size),
      );
      const { messages, broken } = taken(chunks);
      expect(broken).toEqual([]);
      expect(messages.map((m) => lowerToChild(m.head, m.body))).toEqual([
        { type: 'comm', message: { type: 'ping', n: 7 } },
        { type: 'comm', message: { type: 'page', hash: hash('a'), bytes: page } },
        { type: 'comm', message: { type: 'page', hash: hash('b') } },
        { type: 'unreachable', id: 3, why: 'ä' },
      ]);
    }
  });

  it('gives up at a length beyond the limits, before anything of it is kept', () => {
    for (const h of [header(HEAD_BYTES + 1, 0), header(2, BODY_BYTES + 1), header(0xffff_ffff, 0xffff_ffff)]) {
      const { messages, broken } = taken([h, ...encode({ type: 'ready' })]);
      expect(messages).toEqual([]);
      expect(broken).toHaveLength(1);
      expect(broken[0]).toMatch(/sent a message of \d+ and \d+ bytes/);
    }
    expect(taken([header(3, 0), Buffer.from('{{{'), ...encode({ type: 'ready' })])).toEqual({
      messages: [],
      broken: ['sent what is not JSON'],
    });
  });
});

describe('an image', () => {
  it('of more new pages than a message may have stays with the server, and ends no process', () => {
    const keep = (length: number) =>
      ({ type: 'keep', manifest: MANIFEST as never, fresh: { pages: [], bytes: new Uint8Array(length) } }) as const;
    expect([keep(BODY_BYTES), keep(BODY_BYTES + 1)].map(fits)).toEqual([true, false]);
  });
});

describe('a message of the process of a job', () => {
  const NONE = new Uint8Array(0);
  const rank = { task: 0, incarnation: 0 };
  const status = {
    ...rank,
    started: true,
    recovered: false,
    canImage: false,
    parked: false,
    activity: { state: 'computing', arrivals: 0, sends: 0 },
    counters: { messagesIn: 0, bytesIn: 0, messagesOut: 0, bytesOut: 0 },
    spent: [1, 2],
    calls: [['MPI_Recv', 1, 1]],
    places: [],
    memory: 65536,
  };
  const comm = (message: unknown): unknown => ({ type: 'comm', message });

  it('passes when it is one', () => {
    for (const m of [
      { type: 'pong', n: 1 },
      { type: 'status', tasks: [status], connected: true, lostWakeUps: 0 },
      { type: 'report', ...rank, event: 'crashed', error: { code: 'INTERNAL', message: 'x' } },
      { type: 'ended', ...rank, how: 'finished' },
      { type: 'complete', task: 0, image: MANIFEST.image, bytes: 3, last: false },
      { type: 'page', hash: hash('a') },
      { type: 'note', text: 'x' },
    ])
      expect(checked(comm(m), NONE)).toEqual(comm(m));
    for (const m of [{ type: 'ready' }, { type: 'connect', id: 1, to: 'localhost:80' }, { type: 'rss', bytes: 1 }])
      expect(checked(m, NONE)).toEqual(m);
  });

  it('brings the pages of an image behind it, each a page of that image, no byte more or less', () => {
    const keep = (pages: unknown, manifest: unknown = MANIFEST): unknown =>
      comm({ type: 'keep', manifest, fresh: { pages } });
    const found = checked(keep([[hash('a'), 3]]), new Uint8Array([1, 2, 3])) as
      Extract<FromChild, { type: 'comm' }> | undefined;
    expect(found?.message).toMatchObject({ type: 'keep', fresh: { bytes: new Uint8Array([1, 2, 3]) } });
    expect(checked(keep([[hash('a'), 3]]), new Uint8Array(4))).toBeUndefined();
    expect(checked(keep([[hash('a'), 4]]), new Uint8Array(3))).toBeUndefined();
    expect(checked(keep([[hash('b'), 3]]), new Uint8Array(3))).toBeUndefined();
    expect(checked(keep([[hash('a'), 65537]]), new Uint8Array(65537))).toBeUndefined();
    expect(checked(keep([[hash('a'), 3]], { ...MANIFEST, pages: ['../x'] }), new Uint8Array(3))).toBeUndefined();
  });

  it('is refused when it is anything else', () => {
    for (const m of [
      null,
      7,
      'ready',
      [],
      {},
      { type: 'constructor' },
      { type: '__proto__' },
      { type: 'connect', id: -1, to: 'x' },
      { type: 'connect', id: 1, to: 'x'.repeat(1000) },
      { type: 'rss', bytes: 1e300 },
      comm(null),
      comm([]),
      comm({ type: 'assign' }),
      comm({ type: 'toString' }),
      comm({ type: 'pong', n: 'x' }),
      comm({ type: 'status', tasks: [{ ...status, spent: [-1] }], connected: true, lostWakeUps: 0 }),
      comm({ type: 'status', tasks: [{ ...status, activity: undefined }], connected: true, lostWakeUps: 0 }),
      comm({ type: 'status', tasks: Array(1025).fill(status), connected: true, lostWakeUps: 0 }),
      comm({ type: 'report', ...rank, event: 'finished' }),
      comm({ type: 'ended', task: 0.5, incarnation: 0, how: 'finished' }),
      comm({ type: 'page', hash: '../../etc/passwd' }),
      comm({ type: 'note', text: 'x'.repeat(70_000) }),
    ])
      expect([m, checked(m, NONE)]).toEqual([m, undefined]);
    expect(checked(comm({ type: 'pong', n: 1 }), new Uint8Array(1))).toBeUndefined();
  });
});
