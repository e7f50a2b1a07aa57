/**
 * Draws of bad input for malformed.test.ts: frames, control messages, image messages, REST requests, modules and
 * archives. Pure; every draw is a function of the seed that the test prints.
 */
import fc from 'fast-check';
import { zipSync } from 'fflate';
import {
  IMAGE_FORMAT,
  Kind,
  WORLD,
  WorldMode,
  emptyHeader,
  encodeFileRequest,
  encodeFrame,
  taskId,
  zeroLine,
  type FileOp,
  type Incarnation,
} from '@mayfly/wire';

const text = new TextEncoder();
const u32 = fc.integer({ min: 0, max: 0xffff_ffff });
const u53 = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
const kinds = Object.values(Kind);
const awkward = fc.constantFrom<unknown>(
  null,
  true,
  '',
  'x',
  -1,
  0,
  1.5,
  1e308,
  -1e308,
  2 ** 53,
  4294967296,
  [],
  {},
  [[]],
  [null],
  { length: 1 },
  { toString: 1 },
  '\u0000',
  '../..',
  '𝔘'.repeat(50),
);
export const anyJson: fc.Arbitrary<unknown> = fc.oneof(awkward, fc.jsonValue({ maxDepth: 4 }));

/** Flips, inserts, cuts and doubles bytes. */
const edits = fc.array(
  fc.record({ at: fc.nat(), to: fc.nat(255), how: fc.constantFrom('set', 'cut', 'insert', 'double', 'ones') }),
  { minLength: 1, maxLength: 4 },
);
function edited(bytes: Uint8Array, list: readonly { at: number; to: number; how: string }[]): Uint8Array {
  let b = bytes.slice();
  for (const { at, to, how } of list) {
    if (b.length === 0) return new Uint8Array([to]);
    const i = at % b.length;
    if (how === 'set') b[i] = to;
    else if (how === 'ones') b.fill(255, i, i + 4);
    else if (how === 'cut') b = b.slice(0, i);
    else if (how === 'insert') b = new Uint8Array([...b.subarray(0, i), to, ...b.subarray(i)]);
    else b = new Uint8Array([...b, ...b.subarray(i)]);
  }
  return b;
}
/** Well-formed bytes, damaged. */
const damaged = (whole: Uint8Array): fc.Arbitrary<Uint8Array> => edits.map((list) => edited(whole, list));

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
  replay: { prologue: zeroLine(), image: zeroLine(), held: [] },
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
    replay: { prologue: zeroLine(), image: zeroLine(), held: [] },
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

export interface Request {
  method: string;
  path: string;
  type?: string;
  body?: string | Uint8Array;
}

const submission = {
  name: 'n',
  program: { language: 'typescript', entry: 'main.ts', sources: { 'main.ts': '' } },
  size: 1,
  args: ['a'],
  files: { 'a.txt': '' },
  stdin: '',
  options: { graceMs: 1000 },
};
const badPaths = [
  '../x',
  '/etc/passwd',
  'a//b',
  '.hidden',
  'a/../../b',
  'a\u0000b',
  'C:\\x',
  ' ',
  'x'.repeat(300),
  '__proto__',
];
/** Near a good submission, and wrong in one place at least. */
export const badSubmission: fc.Arbitrary<string> = fc.oneof(
  anyJson.map((j) => JSON.stringify(j)),
  fc
    .record({
      key: fc.constantFrom(...Object.keys(submission)),
      value: fc.constantFrom<unknown>(null, -1, 1e308, 1.5, [[]], { x: 1 }, [null], { length: 3 }),
    })
    .map(({ key, value }) => JSON.stringify({ ...submission, [key]: value })),
  fc.constantFrom(...badPaths).map((p) => JSON.stringify({ ...submission, files: { [p]: '' }, size: 0 })),
  fc
    .constantFrom(...badPaths)
    .map((p) =>
      JSON.stringify({ ...submission, program: { ...submission.program, sources: { 'main.ts': '', [p]: '' } } }),
    ),
  fc
    .constantFrom(...badPaths)
    .map((p) => JSON.stringify({ ...submission, program: { ...submission.program, entry: p } })),
  fc
    .constantFrom(
      '-o/etc/x',
      '-Wl,--export-all',
      '@x',
      '-I/etc',
      '-fplugin=x',
      '-include ../../x',
      '--sysroot=/',
      '-load',
    )
    .map((flag) => JSON.stringify({ size: 1, program: { language: 'c', sources: { 'm.c': '' }, flags: [flag] } })),
  fc.nat(5000).map((n) => '['.repeat(n + 100) + ']'.repeat(n + 100)),
  fc.nat(5000).map((n) => `{"size":1,"files":{"x":${'{"a":'.repeat(n + 100)}1${'}'.repeat(n + 100)}}}`),
  fc.constantFrom(
    '{',
    '',
    '{"__proto__":{"x":1}}',
    '{"constructor":{"prototype":1}}',
    '{"size":1e999}',
    'null',
    '\uFEFF{}',
    '{"size":1,}',
  ),
  fc.string({ maxLength: 60 }),
);

/**
 * Requests for every route that the server describes of itself, with nonsense in each place. Never a good mutation of
 * `spared`.
 */
export function requests(routes: readonly { method: string; path: string }[], spared: string): fc.Arbitrary<Request> {
  const id = fc.constantFrom(
    '000000000000',
    'nosuchjob123',
    'NOT-AN-ID',
    '..%2f..%2fetc',
    '%00',
    '%2e%2e',
    'x'.repeat(200),
    '%zz',
    '%F0%9F%98%80',
  );
  const types = fc.constantFrom(
    'application/json',
    'application/octet-stream',
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/json; charset=utf-7',
    'nonsense',
    '',
  );
  return fc
    .record({
      route: fc.constantFrom(...routes),
      method: fc.constantFrom('', '', '', '', 'PUT', 'PATCH', 'OPTIONS'),
      id,
      spared: fc.boolean(),
      task: fc.constantFrom('0', '99', '-1', '1e9', 'x', '00', '9'.repeat(30)),
      rest: fc.constantFrom('x', '../x', '..%2f..%2fregistry.json', '%2e%2e/%2e%2e/x', 'a%00b', 'a/'.repeat(200)),
      query: fc.constantFrom(
        '',
        '',
        '?from=-1',
        '?from=x',
        '?from=99999999999999999999',
        '?offset=1&offset=2',
        '?end=2',
        '?cap=x',
        '?%zz',
        '?__proto__=1',
      ),
      type: types,
      body: badSubmission,
    })
    .map((d) => {
      const method = d.method || d.route.method;
      const job = d.spared && method === 'GET' ? spared : d.id;
      const path = d.route.path
        .replace('{id}', job)
        .replace('{job}', job)
        .replace('{task}', d.task)
        .replace('{name}', d.id)
        .replace(/\{[^}]*\}|\*/g, d.rest);
      return {
        method,
        path: path + d.query,
        ...(method === 'GET' || method === 'OPTIONS' ? {} : { type: d.type, body: d.body }),
      };
    });
}

/** Addresses that try to leave their folder, and other oddities; whatever the route. */
export const oddPaths: fc.Arbitrary<Request> = fc
  .record({
    root: fc.constantFrom(
      '/',
      '/api/',
      '/data/',
      '/frame/',
      '/assets/',
      '/api/jobs/',
      '/data/program/',
      '/data/pages/000000000000/',
      '/data/files/000000000000/',
      '/socket.io/',
      '//',
      '/api//',
    ),
    tail: fc.oneof(
      fc.constantFrom(
        '..%2f..%2f..%2fetc%2fpasswd',
        '../../../../etc/passwd',
        '%2e%2e/%2e%2e/etc/passwd',
        '%zz',
        '%00',
        '%c0%ae%c0%ae/',
        'registry/data.mdb',
        '.git/config',
        '?cap=' + 'x'.repeat(2000),
        'a'.repeat(5000),
      ),
      fc.webPath(),
    ),
    method: fc.constantFrom('GET', 'POST', 'DELETE', 'PUT', 'PROPFIND'),
  })
  .map(({ root, tail, method }) => ({
    method,
    path: root + tail,
    ...(method === 'GET' ? {} : { type: 'application/json', body: '{}' }),
  }));

const base64 = (b: Uint8Array): string => Buffer.from(b).toString('base64');
const submit = (program: object): Request => ({
  method: 'POST',
  path: '/api/jobs',
  type: 'application/json',
  body: JSON.stringify({ program, size: 1 }),
});
/** A module with a section of each usual kind, to be damaged. */
const MODULE = new Uint8Array([
  0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 5, 3, 1, 0, 1, 7, 19, 2, 6, 109, 101, 109, 111, 114, 121,
  2, 0, 6, 95, 115, 116, 97, 114, 116, 0, 0, 10, 4, 1, 2, 0, 11,
]);
const bytesOf = (s: string): Uint8Array => text.encode(s);
const ARCHIVE = zipSync({
  'mayfly.json': bytesOf('{"language":"typescript","entry":"main.ts"}'),
  'main.ts': bytesOf('const x: number = "no";'),
});

export const badModule: fc.Arbitrary<Request> = fc
  .oneof(fc.uint8Array({ maxLength: 100 }), damaged(MODULE))
  .map((m) => submit({ language: 'wasm', module: base64(m) }));
export const badArchive: fc.Arbitrary<Request> = fc
  .oneof(
    damaged(ARCHIVE),
    fc.uint8Array({ maxLength: 600 }),
    // Leads out of the folder, and has nothing that may stay in it.
    fc
      .constantFrom('../main.ts', '/main.ts', '..\\main.ts', 'a/../../main.ts', '.x')
      .map((p) => zipSync({ [p]: bytesOf('1') })),
    fc
      .constantFrom(
        'null',
        '[]',
        '{',
        '{"language":"c","sources":["../../x.c"]}',
        '{"language":"typescript","entry":"../x.ts"}',
        '{"language":"c","include":["/etc"]}',
      )
      .map((m) => zipSync({ 'mayfly.json': bytesOf(m) })),
  )
  .map((a) => submit({ language: 'archive', archive: base64(a) }));
/** 128 MB of zeros in 130 KB. */
export const bomb = (): Request =>
  submit({ language: 'archive', archive: base64(zipSync({ 'mayfly.json': new Uint8Array(128 << 20) }, { level: 9 })) });
