/** FT-MPI's modes (docs/ft-mpi.md): what is refused at submission. Losses: npm run conformance -- --ft-mpi. */
import { refusalText } from '@mayfly/protocols';
import { expect, it } from 'vitest';
import { api, sharedServer } from './harness.ts';

const program = { language: 'c', sources: { 'main.c': 'int main(void) { return 0; }' } };

it.each(['pessimistic', 'vcl', 'none', undefined] as const)(
  'refuses the modes under the protocol %s',
  async (protocol) => {
    const server = await sharedServer();
    const options = { ...(protocol && { protocol }), ft: { communicators: 'rebuild' } };
    const answer = await api(server, 'POST', '/api/jobs', { program, size: 2, options });
    expect([answer.status, answer.body.code]).toEqual([400, 'BAD_REQUEST']);
    expect(answer.body.message).toBe(refusalText(protocol ?? 'pessimistic', 'ft'));
  },
);

it.each([{ communicators: 'rebuilt' }, { messages: 'drop' }, { mode: 'blank' }, { slotMs: -1 }])(
  'refuses %j',
  async (ft) => {
    const server = await sharedServer();
    const answer = await api(server, 'POST', '/api/jobs', { program, size: 2, options: { protocol: 'app', ft } });
    expect(answer.status).toBe(400);
    expect(answer.body.message).toContain('ft');
  },
);

it('refuses a limit for a slot where nobody waits for one', async () => {
  const server = await sharedServer();
  const options = { protocol: 'app', ft: { communicators: 'shrink', slotMs: 5000 } };
  const answer = await api(server, 'POST', '/api/jobs', { program, size: 2, options });
  expect([answer.status, answer.body.code]).toEqual([400, 'BAD_REQUEST']);
  expect(answer.body.message).toMatch(/^Only under FT-MPI's mode "rebuild" .* asks for "shrink"\./);
});
