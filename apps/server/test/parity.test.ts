/** Jobs whose images have parity: what is refused at submission. Recoveries: packages/node/test/parity.test.ts. */
import { expect, it } from 'vitest';
import { api, sharedServer } from './harness.ts';

const c = { language: 'c', sources: { 'main.c': 'int main(void) { return 0; }' } };

it.each([
  [
    { protocol: 'hc3i', clusters: 2 },
    /^The protocol "hc3i" does not accept the option "parity": .*choose "pessimistic", "vcl" or "pcl"\.$/,
  ],
  [{ protocol: 'none' }, /^The protocol "none" does not accept the option "parity": .*Leave the option out, or choose/],
])('refuses parity with %j', async (options, message) => {
  const server = await sharedServer();
  const answer = await api(server, 'POST', '/api/jobs', {
    program: c,
    size: 2,
    options: { ...options, parity: { checksums: 1 } },
  });
  expect(answer.status).toBe(400);
  expect(answer.body.code).toBe('BAD_REQUEST');
  expect(answer.body.message).toMatch(message);
});

it.each([{ protocol: 'vcl' }, { protocol: 'pcl' }, { team: 2 }, {}])('takes parity with %j', async (how) => {
  const server = await sharedServer();
  const options = { ...how, parity: { checksums: 1, wholeEvery: 3 } };
  const answer = await api(server, 'POST', '/api/jobs', { program: c, size: 2, options });
  expect(answer.status).toBe(201);
});

it.each([{ checksums: 0 }, { checksums: 5 }, { checksums: 1, wholeEvery: 0 }, {}])('refuses %j', async (parity) => {
  const server = await sharedServer();
  const answer = await api(server, 'POST', '/api/jobs', { program: c, size: 2, options: { parity } });
  expect(answer.status).toBe(400);
  expect(answer.body.message).toContain('parity');
});
