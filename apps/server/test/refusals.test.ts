/** What a job may not ask for under its protocol: the server refuses it with the manifest's reason. */
import { refusalText, type Feature } from '@mayfly/protocols';
import { expect, it } from 'vitest';
import { api, sharedServer } from './harness.ts';

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
