/** Which answers leave compressed, for whom, and which never. */
import { gunzipSync } from 'node:zlib';
import { routes } from '@mayfly/rest';
import { expect, it } from 'vitest';
import { takesGzip } from '../src/serve/compress.ts';
import { api, auth, program, sharedServer } from './harness.ts';

const get = async (url: string, encoding: string | undefined, method: 'GET' | 'HEAD' = 'GET') =>
  (await sharedServer()).inject({
    method,
    url,
    headers: { ...auth, ...(encoding === undefined ? {} : { 'accept-encoding': encoding }) },
  }) as unknown as Promise<{ statusCode: number; headers: Record<string, unknown>; rawPayload: Buffer; body: string }>;

it('a long answer leaves compressed for whom that takes, and is the same', async () => {
  const plain = await get('/openapi.json', undefined);
  for (const time of ['first', 'again']) {
    const packed = await get('/openapi.json', 'br, gzip;q=0.8');
    expect(packed.headers, time).toMatchObject({
      'content-encoding': 'gzip',
      vary: 'accept-encoding',
      'content-length': String(packed.rawPayload.length),
    });
    expect(String(packed.headers['content-type'])).toMatch(/^application\/json/);
    expect(gunzipSync(packed.rawPayload).toString()).toBe(plain.body);
    expect(packed.rawPayload.length * 4).toBeLessThan(plain.rawPayload.length);
  }
  // A cache has to know that others get another answer.
  expect(plain.headers).toMatchObject({ vary: 'accept-encoding' });
  expect(plain.headers['content-encoding']).toBeUndefined();
  expect((await get('/api/examples', 'gzip')).headers['content-encoding']).toBe('gzip');
});

it('HEAD, refusals, short answers, answers with secrets, and files leave as they are', async () => {
  const server = await sharedServer();
  const { id } = (await api(server, 'POST', '/api/jobs', program('export {};', 1, { name: 'x'.repeat(80) }))).body as {
    id: string;
  };
  for (let i = 0; i < 12; i++) await api(server, 'POST', '/api/rooms', { name: `${'room '.repeat(8)}${i}` });
  const rooms = await get('/api/rooms', 'gzip');
  expect(rooms.rawPayload.length).toBeGreaterThan(1024);
  const others = [
    rooms,
    await get('/openapi.json', 'gzip', 'HEAD'),
    await get('/api/examples/nothing', 'gzip'),
    await get(`/api/jobs/${id}/matrix`, 'gzip'),
    await get(`/api/jobs/${id}/archive`, 'gzip'),
    await get('/metrics', 'gzip'),
  ];
  for (const a of others) expect(a.headers['content-encoding']).toBeUndefined();
  await api(server, 'POST', `/api/jobs/${id}/cancel`);
});

it('no route that tells a secret is compressed', () => {
  const rows = Object.keys(routes).filter((name) => routes[name]!.compressed);
  expect(rows).toEqual([
    'GET /api/examples',
    'GET /api/examples/:name',
    'GET /openapi.json',
    'GET /api/jobs/:id/profile',
    'GET /api/jobs/:id/matrix',
    'GET /api/jobs/:id/charts',
  ]);
});

it.each([
  ['gzip', true],
  ['GZIP', true],
  ['deflate, gzip;q=0.5, br', true],
  ['*', true],
  ['gzip;q=0', false],
  ['*;q=0', false],
  ['gzip;q=0, *', false],
  ['x-gzipped', false],
  ['', false],
  [undefined, false],
])('accept-encoding: %s', (accepted, takes) => {
  expect(takesGzip(accepted)).toBe(takes);
});
