/**
 * Draws of bad messages for malformed.test.ts: frames of data sockets, messages of image sockets, control messages.
 * Pure; every draw is a function of the seed that the test prints.
 */
import fc from 'fast-check';
import {
  IMAGE_FORMAT,
  Kind,
  WORLD,
  WorldMode,
  emptyHeader,
  encodeFileRequest,
  encodeFrame,
  taskId,
  type FileOp,
  type Incarnation,
} from '@mayfly/wire';
import { protocols } from '@mayfly/protocols';
import { anyJson, awkward, damaged, kinds, u32, u53 } from './damage.ts';

const text = new TextEncoder();

export interface Holder {
  capability: string;
  job: string;
  task: number;
  incarnation: number;
  nonce: string;
}
export const attachBody = (h: Pick<Holder, 'capability' | 'nonce'>, more: object = {}): object => ({
  capability: h.capability,
  nonce: h.nonce,
  position: protocols.pessimistic.recovery.start,
  received: 0,
  resume: false,
  ...more,
});
export const attach = (h: Holder, more: object = {}): Uint8Array =>
  encodeFrame(
    { ...emptyHeader(Kind.ATTACH), src: taskId(h.task), incarnation: h.incarnation as Incarnation },
    text.encode(JSON.stringify(attachBody(h, more))),
  );
/** A frame that no version of this server takes: whatever came before, the connection ends here. */
export const LAST_WORD = ((): Uint8Array => {
  const f = encodeFrame(emptyHeader(Kind.DATA));
  f[1] = 99;
  return f;
})();

/** Any frame at all whose header is in order: kinds of both directions, every number at its edges. */
const frame = (size: number): fc.Arbitrary<Uint8Array> =>
  fc
    .record({
      kind: fc.oneof(fc.constantFrom(...kinds), fc.nat(255)),
      flags: fc.nat(255),
      mode: fc.nat(255),
      src: fc.oneof(fc.nat(size), u32),
      dst: fc.oneof(fc.nat(size), u32),
      incarnation: fc.oneof(fc.nat(3), u32),
      epoch: fc.oneof(fc.constant(0), u32),
      channel: fc.oneof(fc.nat(3), u53),
      arrival: fc.oneof(fc.nat(3), u53),
      context: u32,
      tag: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
      word: u32,
      body: fc.oneof(
        fc.uint8Array({ maxLength: 64 }),
        anyJson.map((j) => text.encode(JSON.stringify(j))),
      ),
      determinants: fc.oneof(fc.constant(new Uint8Array(0)), fc.uint8Array({ minLength: 32, maxLength: 32 })),
      whole: fc.boolean(),
      offset: u32,
      size: u32,
    })
    .map(({ body, determinants, whole, offset, size: claimed, ...h }) =>
      encodeFrame(
        { ...emptyHeader(0), ...h, offset: whole ? 0 : offset, size: whole ? body.length : claimed } as never,
        body,
        determinants,
      ),
    );

/** First messages of a data link: none of them is an ATTACH with a capability. */
export const firstMessage = (h: Holder): fc.Arbitrary<Uint8Array | string> =>
  fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    fc.string({ maxLength: 50 }),
    frame(8),
    // A capability that was another's, is cut, or was changed by one character.
    fc
      .record({ at: fc.nat(h.capability.length - 1), to: fc.constantFrom(...'0123456789abcdefz.') })
      .map(({ at, to }) => {
        const forged =
          h.capability.slice(0, at) + (h.capability[at] === to ? `${to}0` : to) + h.capability.slice(at + 1);
        return attach({ ...h, capability: forged });
      }),
    anyJson.map((j) => encodeFrame(emptyHeader(Kind.ATTACH), text.encode(JSON.stringify(j)))),
    fc
      .record({ key: fc.constantFrom('capability', 'replay', 'received', 'resume', 'nonce'), value: awkward })
      .map(({ key, value }) => attach({ ...h, capability: 'x' }, { [key]: value })),
    damaged(attach({ ...h, capability: `${h.capability.slice(0, -1)}!` })),
  );

/**
 * What an attached task says next: its own numbers wrong, another's name, kinds of the other direction, damaged bytes.
 */
export const laterMessage = (h: Holder, size: number): fc.Arbitrary<Uint8Array> => {
  const own = (more: object, body = new Uint8Array(8), det = new Uint8Array(0)): Uint8Array =>
    encodeFrame(
      {
        ...emptyHeader(Kind.DATA),
        flags: 1,
        src: h.task,
        dst: (h.task + 1) % size,
        incarnation: h.incarnation,
        channel: 1,
        size: body.length,
        ...more,
      } as never,
      body,
      det,
    );
  return fc.oneof(
    { weight: 12, arbitrary: frame(size) },
    {
      weight: 12,
      arbitrary: fc
        .record({
          kind: fc.constantFrom(...kinds),
          channel: fc.oneof(fc.nat(4), u53),
          arrival: fc.oneof(fc.nat(4), u53),
          dst: fc.nat(size + 1),
          word: u32,
          flags: fc.nat(7),
          offset: fc.nat(70_000),
          size: fc.oneof(fc.nat(64), u32),
        })
        .map((m) => own(m)),
    },
    // Seldom: nonsense to the world ends the whole job, and with it the chance to try anything else.
    {
      weight: 1,
      arbitrary: fc
        .record({ mode: fc.nat(8), body: fc.uint8Array({ maxLength: 40 }), channel: fc.nat(3) })
        .map(({ body, ...m }) => own({ dst: WORLD, ...m }, body)),
    },
    // Requests to the file service that can be read, and ask for what is not allowed or not there: they are answered.
    {
      weight: 6,
      arbitrary: fc
        .record({
          op: fc.nat(12),
          name: fc.constantFrom('a', '../a', '/etc/passwd', '', 'a/'.repeat(80), '𝔘', 'a/.b'),
          session: fc.oneof(fc.nat(2), u53),
          value: fc.oneof(fc.nat(40), u53),
          segments: fc.array(fc.tuple(...[0, 1, 2, 3].map(() => fc.oneof(fc.nat(9), u53))), { maxLength: 2 }),
          data: fc.uint8Array({ maxLength: 9 }),
          channel: fc.nat(3),
        })
        .map(({ op, channel, data, segments, ...r }) => {
          const { body, data: at } = encodeFileRequest(op as FileOp, {
            ...r,
            segments: segments.flat(),
            bytes: data.length,
          });
          at.set(data);
          return own({ dst: WORLD, mode: WorldMode.REQUEST, channel }, body.slice());
        }),
    },
    {
      weight: 12,
      arbitrary: fc
        .uint8Array({ minLength: 4, maxLength: 12 })
        .map((d) => own({}, new Uint8Array(8), new Uint8Array(new Float64Array(d).buffer))),
    },
    { weight: 12, arbitrary: damaged(own({})) },
  );
};

/** Text and binary messages to the image socket. `capability` may be good: then the manifest is bad. */
export const imageMessage = (h: Holder): fc.Arbitrary<Uint8Array | string> => {
  const manifest = {
    format: IMAGE_FORMAT,
    image: `${h.job}-${h.task}-${h.incarnation}-1`,
    job: h.job,
    task: h.task,
    incarnation: h.incarnation,
    program: 'a'.repeat(64),
    serial: 1,
    position: protocols.pessimistic.recovery.start,
    sections: [{ name: 'data', bytes: 10 }],
    pages: ['b'.repeat(64)],
    bytes: 10,
  };
  const keys = Object.keys(manifest);
  const offer = (capability: string, m: object): string => JSON.stringify({ type: 'offer', capability, manifest: m });
  return fc.oneof(
    anyJson.map((j) => JSON.stringify(j)),
    fc.string({ maxLength: 40 }),
    fc.uint8Array({ maxLength: 60 }),
    fc
      .record({ key: fc.constantFrom(...keys), value: awkward })
      .map(({ key, value }) => offer(h.capability, { ...manifest, [key]: value })),
    fc
      .record({
        serial: u53,
        bytes: u53,
        image: fc.constantFrom(manifest.image, 'x', `${h.job}-0-0-2`),
        pages: fc.array(fc.constantFrom('', 'c'.repeat(64), manifest.pages[0]!), { maxLength: 5 }),
      })
      .map((m) => offer(h.capability, { ...manifest, ...m })),
    fc.constant(offer(`${h.capability}0`, manifest)),
    fc.constantFrom(manifest.image, 'nothing').map((image) => JSON.stringify({ type: 'end', image })),
    // A page of the offer, or one that nobody asked for: wrong hash, wrong length, unknown index and codec, no deflate
    // stream.
    fc
      .record({
        index: fc.oneof(fc.nat(2), u32),
        raw: fc.oneof(fc.nat(20), u32),
        codec: fc.nat(3),
        data: fc.uint8Array({ maxLength: 40 }),
      })
      .map(({ index, raw, codec, data }) => {
        const out = new Uint8Array(16 + data.length);
        const v = new DataView(out.buffer);
        v.setUint32(0, index, true);
        v.setUint32(4, raw, true);
        out[8] = codec;
        out.set(data, 16);
        return out;
      }),
  );
};

/** A message to /node or /dashboard that fits no schema. */
export const controlMessage: fc.Arbitrary<{ event: string; body: unknown }> = fc.record({
  event: fc.constantFrom('hello', 'hello', 'hello', 'heartbeat', 'report', 'goodbye', 'slots', 'nothing'),
  body: fc.oneof(
    anyJson,
    fc.record({
      version: fc.constantFrom<unknown>(1, 99, '1', null),
      name: fc.constantFrom<unknown>('', 'x'.repeat(81), 5),
      engine: fc.constant('e'),
      slots: fc.constantFrom<unknown>(-1, 1e9, 1.5, 'many'),
      holds: fc.constantFrom<unknown>([], [{}], 'x'),
      images: fc.constant([]),
    }),
    fc.record({ tasks: fc.array(anyJson, { minLength: 1, maxLength: 3 }) }),
    fc.record({ job: awkward, task: awkward, incarnation: awkward, event: awkward }),
  ),
});
