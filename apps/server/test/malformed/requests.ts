/**
 * Draws of bad REST requests for malformed.test.ts, with the modules and archives that they submit. Pure; every draw
 * is a function of the seed that the test prints.
 */
import fc from 'fast-check';
import { zipSync } from 'fflate';
import { anyJson, damaged } from './damage.ts';

const text = new TextEncoder();

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
      '/data/images/000000000000/0/',
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
