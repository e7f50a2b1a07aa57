/**
 * What comes from the other side is nonsense until it is checked: damaged frames, and messages that are almost those of
 * the schemas.
 */
import fc from 'fast-check';
import { Compile } from 'typebox/compile';
import { describe, expect, test } from 'vitest';
import {
  Attach,
  CHUNK_BYTES,
  ErrorBody,
  ExitReport,
  Goodbye,
  HEADER_BYTES,
  Heartbeat,
  Hello,
  ImageEnd,
  ImageOffer,
  JobSubmission,
  Kind,
  MAX_FRAME_BYTES,
  MalformedDeterminants,
  MalformedFrame,
  Manifest,
  TaskReport,
  decodeDeterminants,
  emptyHeader,
  encodeDeterminants,
  encodeFrame,
  frameBytes,
  readFrames,
  taskId,
} from '../src/index.ts';

const hash = 'a'.repeat(64);
const job = 'abcdefghij12';
const manifest = {
  format: 2,
  image: `${job}-0-0-1`,
  job,
  task: 0,
  incarnation: 0,
  program: hash,
  serial: 1,
  position: { protocol: 'pessimistic', version: 1, at: null },
  sections: [{ name: 'data', bytes: 4 }],
  pages: [hash, ''],
  bytes: 4,
};
/** One good message of every family that a stranger may send. */
const GOOD = {
  Hello: [
    Hello,
    {
      version: 1,
      name: 'n',
      engine: 'e',
      slots: 1,
      holds: [{ job, task: 0, incarnation: 0 }],
      images: [{ job, task: 0, image: 'x-1' }],
    },
  ],
  Heartbeat: [
    Heartbeat,
    {
      tasks: [{ job, task: 0, incarnation: 0, started: true, activity: { state: 'computing', arrivals: 1, sends: 1 } }],
    },
  ],
  TaskReport: [
    TaskReport,
    { job, task: 0, incarnation: 0, event: 'started', error: { code: 'INTERNAL', message: 'm' } },
  ],
  Goodbye: [Goodbye, { reason: 'r' }],
  Attach: [
    Attach,
    {
      capability: 'c',
      nonce: 'nonce-123',
      position: { protocol: 'none', version: 1, at: null },
      received: 0,
      resume: false,
    },
  ],
  ImageOffer: [ImageOffer, { type: 'offer', capability: 'c', manifest }],
  ImageEnd: [ImageEnd, { type: 'end', image: 'x-1' }],
  Manifest: [Manifest, manifest],
  ExitReport: [ExitReport, { code: 0, abort: { code: 'ABORTED', message: 'm' } }],
  JobSubmission: [
    JobSubmission,
    {
      program: { language: 'typescript', entry: 'a.ts', sources: { 'a.ts': '' } },
      size: 2,
      args: ['x'],
      files: { 'in.txt': '' },
      options: { graceMs: 500 },
    },
  ],
  ErrorBody: [ErrorBody, { code: 'INTERNAL', message: 'm' }],
} as const;

type Path = readonly (string | number)[];
/** Every leaf of a message: the places where one wrong value makes it wrong. */
function leaves(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  return Object.entries(value).flatMap(([k, v]) => leaves(v, [...path, Array.isArray(value) ? Number(k) : k]));
}
function changed(value: unknown, path: Path, to: unknown): unknown {
  if (path.length === 0) return to;
  const copy = (Array.isArray(value) ? [...(value as unknown[])] : { ...(value as object) }) as Record<
    string | number,
    unknown
  >;
  copy[path[0]!] = changed(copy[path[0]!], path.slice(1), to);
  return copy;
}
/** A value that no field takes which has `now`: another type, or a number that is no count. */
const never = (now: unknown): unknown[] => [
  null,
  [],
  {},
  [[now]],
  ...(typeof now === 'number'
    ? [-1, 1.5, 2 ** 53, NaN, Infinity, String(now)]
    : typeof now === 'string'
      ? [0, true, 'x'.repeat(5_000_000)]
      : [0, 1, String(now)]),
];

describe('control messages and bodies', () => {
  test.each(Object.entries(GOOD))(
    '%s: good as it is, refused with any leaf of another type or size, and by any value that is no object',
    (_name, [schema, good]) => {
      const check = Compile(schema);
      expect(check.Check(good)).toBe(true);
      for (const path of leaves(good)) {
        const now = path.reduce<unknown>((v, k) => (v as Record<string | number, unknown>)[k], good);
        for (const to of never(now)) {
          // What a position says is for its protocol to check.
          if (path.at(-1) === 'at') continue;
          // Sources and free text have limits of their own or the body's.
          if (typeof to === 'string' && (path.includes('files') || path.at(-1) === 'capability')) continue;
          expect([path, check.Check(changed(good, path, to))]).toEqual([path, false]);
        }
      }
      fc.assert(
        fc.property(
          fc.oneof(
            fc.constantFrom<unknown>(null, undefined, 0, '', [], () => 0),
            fc.array(fc.jsonValue()),
            fc.string(),
            fc.double(),
          ),
          (v) => {
            expect(check.Check(v)).toBe(false);
          },
        ),
        { numRuns: 200, verbose: 1 },
      );
    },
  );

  test('any JSON is checked without an error, however deep', () => {
    const checks = Object.values(GOOD).map(([schema]) => Compile(schema));
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (v) => {
        for (const c of checks) expect(typeof c.Check(v)).toBe('boolean');
      }),
      { numRuns: 1000 },
    );
    let deep: unknown = 1;
    for (let i = 0; i < 20_000; i++) deep = { a: [deep] };
    for (const c of checks)
      expect(
        typeof c.Check({ ...(GOOD.Hello[1] as object), tasks: deep, position: deep, manifest: deep, program: deep }),
      ).toBe('boolean');
  });
});

describe('damaged frames', () => {
  const valid = fc
    .record({
      kind: fc.constantFrom(...Object.values(Kind)),
      body: fc.uint8Array({ maxLength: 200 }),
      blocks: fc.nat(4),
      channel: fc.nat(100),
    })
    .map(({ kind, body, blocks, channel }) =>
      encodeFrame(
        { ...emptyHeader(kind), src: taskId(1), dst: taskId(2), channel, size: body.length },
        body,
        new Uint8Array(8 * blocks),
      ),
    );

  test(
    'of several in one message, each is whole within the message and within its limits, or the message is ' +
      'MalformedFrame',
    () => {
      fc.assert(
        fc.property(
          fc.array(valid, { minLength: 1, maxLength: 4 }),
          fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 6 }),
          fc.nat(40),
          (parts, changes, cut) => {
            const message = new Uint8Array(Buffer.concat(parts));
            for (const [at, to] of changes) message[at % message.length] = to;
            const damaged = message.subarray(0, Math.max(1, message.length - cut));
            try {
              let end = 0;
              for (const f of readFrames(damaged)) {
                expect(f.body.length).toBe(f.header.bytes);
                expect(f.determinants.length).toBe(f.header.detBytes);
                expect(f.body.byteOffset + f.body.length).toBeLessThanOrEqual(damaged.byteOffset + damaged.length);
                expect(HEADER_BYTES + f.header.bytes + f.header.detBytes).toBeLessThanOrEqual(MAX_FRAME_BYTES);
                expect(frameBytes(f.header) % 8).toBe(0);
                if (f.header.kind === Kind.DATA && f.header.bytes > 0)
                  expect(f.header.offset + f.header.bytes).toBeLessThanOrEqual(f.header.size);
                end += frameBytes(f.header);
              }
              expect(end).toBeGreaterThanOrEqual(damaged.length);
            } catch (e) {
              if (!(e instanceof MalformedFrame)) throw e;
            }
          },
        ),
        { numRuns: 4000 },
      );
    },
  );

  test('a length that would wrap around is refused', () => {
    for (const field of [4, 60])
      for (const n of [0xffff_ffff, 0xffff_fff8, 0x8000_0000, 0x7fff_fff8, MAX_FRAME_BYTES, CHUNK_BYTES + 1]) {
        const f = encodeFrame({ ...emptyHeader(Kind.DATA), size: 8 }, new Uint8Array(8));
        new DataView(f.buffer).setUint32(field, n, true);
        expect(() => readFrames(f)).toThrow(MalformedFrame);
      }
  });

  test(
    'a damaged block of determinants is a block, or MalformedDeterminants; it never claims more entries than ' +
      'it has bytes',
    () => {
      const whole = encodeDeterminants({
        first: 5,
        consumed: 2,
        openPolls: 1,
        entries: [
          { type: 'polls', vain: 1, consumed: 1 },
          { type: 'clock', ms: 3 },
          { type: 'value', value: 'ä' },
        ],
      });
      fc.assert(
        fc.property(
          fc.array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), { minLength: 1, maxLength: 5 }),
          fc.nat(whole.length),
          (changes, cut) => {
            const b = whole.slice(0, whole.length - cut);
            for (const [at, to] of changes) if (at < b.length) b[at] = to;
            try {
              expect(decodeDeterminants(b).entries.length).toBeLessThanOrEqual(b.length);
            } catch (e) {
              if (!(e instanceof MalformedDeterminants)) throw e;
            }
          },
        ),
        { numRuns: 4000 },
      );
    },
  );
});
