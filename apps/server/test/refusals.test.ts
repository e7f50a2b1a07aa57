/** What a job may not ask for under its protocol: the server refuses it with the manifest's reason. */
import { refusalText, type Feature } from '@mayfly/protocols';
import { expect, it } from 'vitest';
import { api, sharedServer, startServer } from './harness.ts';

const program = { language: 'c', sources: { 'main.c': 'int main(void) { return 0; }' } };

it.each<['app' | 'none', Feature, object]>([
  ['app', 'checkpoints', { checkpointMs: 30_000 }],
  ['none', 'checkpoints', { checkpointMs: 0 }],
  ['app', 'moves', { stuckAfterMs: 60_000 }],
  ['none', 'moves', { stuckFactor: 20 }],
])('%s, %s: %j', async (protocol, feature, options) => {
  const server = await sharedServer();
  const answer = await api(server, 'POST', '/api/jobs', { program, size: 1, options: { protocol, ...options } });
  expect(answer).toMatchObject({ status: 400, body: { code: 'BAD_REQUEST', message: refusalText(protocol, feature) } });
});

it('no checkpoint can be asked for of a job whose protocol takes none', async () => {
  const server = await sharedServer();
  for (const protocol of ['app', 'none'] as const) {
    const { body } = await api(server, 'POST', '/api/jobs', { program, size: 1, options: { protocol } });
    for (const path of ['checkpoint', 'tasks/0/checkpoint']) {
      const answer = await api(server, 'POST', `/api/jobs/${body.id}/${path}`);
      expect(answer).toMatchObject({
        status: 409,
        body: { message: `Under the protocol "${protocol}" no checkpoint is taken: no rank restarts from one.` },
      });
    }
  }
});

it('more memory than the server allows is refused, with both limits; a job that asks for none has the usual', async () => {
  const refused = await api(await sharedServer(), 'POST', '/api/jobs', {
    program,
    size: 1,
    options: { memoryBytes: 2 ** 31 },
  });
  expect(refused).toMatchObject({ status: 400, body: { code: 'BAD_REQUEST' } });
  expect(refused.body.message).toMatch(/asks for 2048 MB .* allows 1024 MB\. .*--max-rank-memory/);
  const roomy = await startServer({ limits: { rankMemoryBytes: 2 ** 31 } });
  expect((await api(roomy, 'GET', '/api/info')).body).toMatchObject({
    maxMemoryBytes: 2 ** 31,
    defaults: { memoryBytes: 2 ** 30 },
  });
  for (const [options, bytes] of [
    [{ memoryBytes: 2 ** 31 }, 2 ** 31],
    [{}, 2 ** 30],
  ] as const) {
    const { body } = await api(roomy, 'POST', '/api/jobs', { program, size: 1, options });
    const report = await api(roomy, 'GET', `/api/jobs/${body.id}/report`);
    expect(report.body.job.options.memoryBytes).toBe(bytes);
  }
});

it.each([
  [
    { timeLimitMs: 61_000 },
    'The job asks for 61 s to run; this server allows 60 s. Ask for less ("timeLimitMs", --time-limit).',
  ],
  [
    { outputLimitBytes: 2 ** 21 },
    'The job asks for 2 MB of output; this server allows 1 MB. Ask for less ("outputLimitBytes").',
  ],
])('%j, more than the server allows, is refused with both limits; as much is given', async (options, message) => {
  const limits = { timeMs: 60_000, outputBytes: 2 ** 20 };
  const server = await startServer({ limits });
  const ask = (of: object) => api(server, 'POST', '/api/jobs', { program, size: 1, options: of });
  expect(await ask(options)).toMatchObject({ status: 400, body: { code: 'BAD_REQUEST', message } });
  expect((await ask({ timeLimitMs: limits.timeMs, outputLimitBytes: limits.outputBytes })).status).toBe(201);
});
