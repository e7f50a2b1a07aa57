/** Signing in through a real issuer, which is another site: from the gate and back, a token for a terminal, the end. */
import { createServer } from 'node:net';
import { expect, test } from '@playwright/test';
import { startIssuer, type Issuer } from '@mayfly/server/test-issuer';
import { showLogOnFailure } from '../src/failure.ts';
import { ServerProcess } from '../src/server.ts';

let server: ServerProcess;
let issuer: Issuer;

const freePort = (): Promise<number> =>
  new Promise((done) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => done(port));
    });
  });

test.beforeAll(async () => {
  const port = await freePort();
  server = await ServerProcess.start(
    ['--oidc-issuer', `http://localhost:${port}`, '--oidc-client-id', 'mayfly', '--oidc-allow-domain', 'example.org'],
    { MAYFLY_OIDC_CLIENT_SECRET: 'secret' },
  );
  issuer = await startIssuer([`${server.url}/login/callback`], port, 'localhost');
  issuer.people.set('ada', { email: 'ada@example.org', email_verified: true });
  issuer.people.set('eve', { email: 'eve@example.com', email_verified: true });
});
test.afterAll(async () => {
  await server?.stop();
  await issuer?.close();
});
showLogOnFailure(() => server);

test('a person signs in, has live lists and a token for a terminal, and signs out; another is refused', async ({
  page,
}) => {
  const signIn = async (name: string): Promise<void> => {
    await page.getByRole('link', { name: 'Sign in with localhost' }).click();
    await page.locator('input[name=login]').fill(name);
    await page.locator('input[name=password]').fill('x');
    await page.locator('button[type=submit]').first().click();
    await page.getByRole('button', { name: 'Continue' }).click();
  };
  await page.goto(`${server.url}/dashboard/quotas`);
  await signIn('ada');
  await expect(page.getByRole('cell', { name: 'ada@example.org' })).toBeVisible();
  expect(page.url()).toBe(`${server.url}/dashboard/quotas`);
  expect(await page.evaluate(() => document.cookie)).toBe('');

  await page.getByRole('link', { name: 'ada@example.org' }).click();
  await page.getByRole('button', { name: 'Create a token' }).click();
  const token = (await page.getByTestId('new-token').textContent())!.trim();
  const me = await fetch(`${server.url}/api/me`, { headers: { authorization: `Bearer ${token}` } });
  expect(await me.json()).toMatchObject({ name: 'ada@example.org', role: 'submitter', login: 'terminal' });

  // The session outlives a reload, and the socket of the live lists has it, too.
  await page.goto(`${server.url}/dashboard`);
  await expect(page.getByText('No nodes connected')).toBeVisible();
  await page.getByRole('link', { name: 'ada@example.org' }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await expect(page.getByRole('link', { name: 'Sign in with localhost' })).toBeVisible();
  await page.reload();
  await expect(page.getByRole('link', { name: 'Sign in with localhost' })).toBeVisible();

  await page.context().clearCookies(); // at the issuer she is still signed in
  await signIn('eve');
  await expect(page.getByRole('alert')).toContainText('may not use this server');
});
