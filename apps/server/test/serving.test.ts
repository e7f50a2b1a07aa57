/** HTTPS, static files with their headers, retention, options. */
import { createServer, defaultRetention } from '@mayfly/server';
import { X509Certificate } from 'node:crypto';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { io } from 'socket.io-client';
import { checkDataDirectory } from '../src/check/check.ts';
import { expired } from '../src/retention.ts';
import { subjectNames } from '../src/tls.ts';
import { jobId } from '@mayfly/wire';
import { api, freshDir, program, startServer, until } from './harness.ts';
import { Volunteer } from './volunteer.ts';

async function roots(): Promise<{ webRoot: string; frameRoot: string }> {
  const dir = await freshDir();
  await mkdir(join(dir, 'web/assets'), { recursive: true });
  await mkdir(join(dir, 'frame'), { recursive: true });
  await writeFile(join(dir, 'web/index.html'), '<!doctype html><title>app</title>');
  await writeFile(join(dir, 'web/assets/app-1a2b.js'), '1');
  await writeFile(join(dir, 'frame/index.html'), '<!doctype html><title>frame</title>');
  await writeFile(join(dir, 'frame/frame.js'), '2');
  return { webRoot: join(dir, 'web'), frameRoot: join(dir, 'frame') };
}

describe('static files', () => {
  it('isolates the pages, falls back to the app for its own addresses only', async () => {
    const server = await startServer(await roots());
    for (const url of ['/', '/volunteer', '/dashboard/jobs/abc', '/volunteer?start&slots=2']) {
      const r = await server.inject({ url });
      expect([r.statusCode, r.body]).toEqual([200, '<!doctype html><title>app</title>']);
      expect(r.headers).toMatchObject({
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-embedder-policy': 'require-corp',
        'cache-control': 'no-cache',
      });
      expect(r.headers['content-security-policy']).toContain("frame-src 'self'");
    }
    expect((await server.inject({ url: '/assets/app-1a2b.js' })).headers['cache-control']).toContain('immutable');
    for (const url of ['/assets/gone.js', '/favicon.ico', '/api/x', '/data/x']) {
      const r = await server.inject({ url });
      expect([r.statusCode, (r.json() as { code: string }).code], url).toEqual([404, 'NOT_FOUND']);
    }
    for (const url of [
      '/../../etc/passwd',
      '/%2e%2e/%2e%2e/etc/passwd',
      '/assets/..%2f..%2f..%2fetc%2fpasswd',
      '/frame/..%2f..%2fetc%2fpasswd',
    ])
      expect((await server.inject({ url })).body, url).not.toContain('root:');
  });

  it('serves the frame with the headers that the sandbox stands on, naming the origin that the browser sees', async () => {
    const server = await startServer({ ...(await roots()), allowHosts: ['mayfly.example'] });
    for (const url of ['/frame/', '/frame/frame.js']) {
      const r = await server.inject({ url, headers: { host: 'mayfly.example:7070' } });
      expect(r.statusCode).toBe(200);
      expect(r.headers).toMatchObject({
        'cross-origin-embedder-policy': 'require-corp',
        'cross-origin-resource-policy': 'cross-origin',
      });
      expect(r.headers['content-security-policy']).toContain(
        'connect-src http://mayfly.example:7070/data/ ws://mayfly.example:7070/data/',
      );
    }
    const evil = await server
      .inject({ url: '/frame/', headers: { host: "x; script-src * 'unsafe-inline'" } })
      .catch(() => undefined);
    expect(String(evil?.headers['content-security-policy'] ?? '')).not.toContain('script-src *');
  });

  it('says that the pages are not built, and serves the rest', async () => {
    const server = await startServer({ webRoot: await freshDir() });
    expect((await server.inject({ url: '/healthz' })).statusCode).toBe(200);
  });
});

describe('HTTPS', () => {
  it('makes a certificate for this machine once, keeps it, and serves pages, REST and sockets with it', async () => {
    const dataDir = await freshDir();
    const first = await createServer({
      dataDir,
      port: 0,
      token: 'test-token-1234',
      log: 'silent',
      tls: 'selfsigned',
      tlsNames: ['class.example', '192.0.2.7'],
    });
    expect(first.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
    const pem = await readFile(join(dataDir, 'tls/cert.pem'), 'utf8');
    expect((await stat(join(dataDir, 'tls/key.pem'))).mode & 0o077).toBe(0);
    const cert = new X509Certificate(pem);
    for (const name of ['localhost', 'class.example']) expect(cert.checkHost(name)).toBeDefined();
    for (const ip of ['127.0.0.1', '192.0.2.7']) expect(cert.checkIP(ip)).toBeDefined();
    expect(subjectNames([])).toContain(hostname());
    expect(first.fingerprint).toBe(cert.fingerprint256);
    const body = await new Promise<string>((resolve, reject) => {
      request(`${first.url}/api/info`, { ca: pem }, (res) => {
        let text = '';
        res.on('data', (d) => (text += String(d)));
        res.on('end', () => resolve(text));
      })
        .on('error', reject)
        .end();
    });
    expect(JSON.parse(body)).toMatchObject({ name: 'mayfly' });
    const ran = new Volunteer(first.url, 1, async (r) => {
      r.print('secure');
      r.exit(0);
    });
    await until('welcomed over TLS', () => ran.welcome !== undefined && 'node' in ran.welcome);
    const job = await first.inject({
      method: 'POST',
      url: '/api/jobs',
      headers: { authorization: 'Bearer test-token-1234' },
      payload: program('export {};', 1),
    });
    const { id } = job.json() as { id: string };
    await until(
      'done',
      async () =>
        (
          (
            await first.inject({ url: `/api/jobs/${id}`, headers: { authorization: 'Bearer test-token-1234' } })
          ).json() as { state: string }
        ).state === 'done',
    );
    ran.kill();
    await first.close();
    const second = await startServer({ dataDir, tls: 'selfsigned', tlsNames: ['class.example'] });
    expect(second.fingerprint).toBe(first.fingerprint);
  });

  it('makes a new certificate when the secret half of the key is damaged, which its public half does not show', async () => {
    const dataDir = await freshDir();
    const options = { dataDir, tls: 'selfsigned' as const };
    const first = await startServer(options);
    await first.close();
    const file = join(dataDir, 'tls/key.pem');
    const pem = await readFile(file, 'utf8');
    const der = Buffer.from(pem.split('\n').slice(1, -2).join(''), 'base64');
    // The secret number of a P-256 key in PKCS#8 begins behind 36 bytes.
    der[40]! ^= 1;
    const lines = der.toString('base64').match(/.{1,64}/g)!;
    await writeFile(file, ['-----BEGIN PRIVATE KEY-----', ...lines, '-----END PRIVATE KEY-----', ''].join('\n'));
    const { problems } = await checkDataDirectory(dataDir);
    expect(problems).toMatchObject([{ file: 'tls/key.pem', what: expect.stringContaining('does not belong') }]);
    const second = await startServer(options);
    expect(second.fingerprint).not.toBe(first.fingerprint);
  });

  it('names a certificate file that cannot be read, a port that is taken, options that make no sense', async () => {
    const dataDir = await freshDir();
    await expect(
      createServer({ dataDir, port: 0, log: 'silent', tls: { cert: '/nowhere/cert.pem', key: '/nowhere/key.pem' } }),
    ).rejects.toThrow(/TLS certificate '\/nowhere\/cert.pem'/);
    const server = await startServer();
    await expect(createServer({ dataDir, port: server.port, log: 'silent' })).rejects.toThrow(
      `port ${server.port} is in use`,
    );
    await expect(createServer({ dataDir, channelMemories: 0, log: 'silent' })).rejects.toThrow(/channelMemories/);
    await expect(createServer({ dataDir, token: 'short', log: 'silent' })).rejects.toThrow(/token/);
    // None of these left the directory locked.
    await (await createServer({ dataDir, port: 0, log: 'silent' })).close();
  });

  it('a second server on the same data directory is refused', async () => {
    const dataDir = await freshDir();
    await startServer({ dataDir });
    await expect(createServer({ dataDir, port: 0, log: 'silent' })).rejects.toMatchObject({ code: 'CONFLICT' });
  });
});

describe('retention', () => {
  it('forgets by age and by number, oldest first', () => {
    const ended = ['a', 'b', 'c', 'd'].map((n, i) => ({ job: jobId(n.repeat(12)), endedAt: i * 10 }));
    expect(expired(ended, { ageMs: 1000, endedJobs: 2 }, 40)).toEqual([ended[0]!.job, ended[1]!.job]);
    expect(expired(ended, { ageMs: 25, endedJobs: 10 }, 40)).toEqual([ended[0]!.job, ended[1]!.job]);
    expect(expired(ended, { ageMs: 1000, endedJobs: 10 }, 40)).toEqual([]);
    expect(defaultRetention.ageMs).toBe(7 * 24 * 3600 * 1000);
  });

  it('removes ended jobs with all their files, and no others', async () => {
    const dataDir = await freshDir();
    const server = await startServer({ dataDir, retention: { ageMs: 0, everyMs: 100 } });
    const submit = async (): Promise<string> =>
      ((await api(server, 'POST', '/api/jobs', program('export {};', 1))).body as { id: string }).id;
    const [gone, stays] = [await submit(), await submit()];
    await api(server, 'POST', `/api/jobs/${gone}/cancel`);
    await until('forgotten', async () => (await api(server, 'GET', `/api/jobs/${gone}`)).status === 404);
    await until('files gone', async () =>
      stat(join(dataDir, 'jobs', gone)).then(
        () => false,
        () => true,
      ),
    );
    expect((await api(server, 'GET', `/api/jobs/${stays}`)).body).toMatchObject({ state: 'waiting' });
  });
});

describe('shutdown', () => {
  it('closes with open sockets, and twice does no harm', async () => {
    const server = await startServer();
    const socket = io(`${server.localUrl}/node`, { transports: ['websocket'], forceNew: true, reconnection: false });
    await new Promise((resolve) => socket.on('connect', resolve as () => void));
    await Promise.all([server.close(), server.close()]);
    socket.close();
  });
});
