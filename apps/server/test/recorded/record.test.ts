/**
 * Makes a record for recorded.test.ts: `MAYFLY_RECORD=format-<n> npx vitest run
 * apps/server/test/recorded/record.test.ts`. Once per format, when the format changes, by the version that is released
 * with it; then add its name to recorded.test.ts. Without the variable there is nothing to do.
 *
 * What it keeps is a backup (docs/server.md) of the directory of a server that was killed by SIGKILL while both ranks
 * waited in the middle.
 */
import { openEmbeddedStorage } from '@mayfly/storage';
import { startHeadlessNode } from '@mayfly/node/headless';
import type { JobView } from '@mayfly/wire';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { freshDir, program, TOKEN, until } from '../harness.ts';
import { startProcess } from '../server-process.ts';
import { HOLDS, PROGRAM } from './program.ts';

const name = process.env.MAYFLY_RECORD;

it.runIf(name !== undefined)('records a job in the middle', async () => {
  expect(name).toMatch(/^format-\d+$/);
  const dataDir = join(await freshDir(), 'data');
  const server = await startProcess({ dataDir, dispatcher: { graceMs: 600_000, silentMs: 600_000 } });
  const nodes = [
    await startHeadlessNode({ server: server.url, allowTypeScript: true, slots: 1, name: 'a' }),
    await startHeadlessNode({ server: server.url, allowTypeScript: true, slots: 1, name: 'b' }),
  ];
  const call = async <T>(path: string, body?: object): Promise<T> => {
    const r = await fetch(`${server.url}/api/${path}`, {
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    });
    return (r.headers.get('content-type')?.includes('json') ? r.json() : r.text()) as Promise<T>;
  };
  const { id } = await call<{ id: string }>(
    'jobs',
    program(PROGRAM, 2, { name: 'recorded', options: { interactive: true, checkpointMs: 1 } }),
  );
  for (const [n, hold] of HOLDS.entries()) {
    const last = `step ${hold - (hold % 5) - 1} `;
    await until('both are there', async () =>
      (await Promise.all([0, 1].map((t) => call<string>(`jobs/${id}/tasks/${t}/stdout`)))).every((s) =>
        s.includes(last),
      ),
    );
    await until('both wait', async () =>
      (await call<JobView>(`jobs/${id}`)).tasks.every((t) => t.activity?.state === 'waiting'),
    );
    await until('newer images are complete', async () => {
      const images = await call<{ task: number; serial: number }[]>(`jobs/${id}/images`);
      return [0, 1].every((t) => images.some((i) => i.task === t && i.serial > n));
    });
    if (n < HOLDS.length - 1)
      await fetch(`${server.url}/api/jobs/${id}/stdin`, {
        method: 'POST',
        headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/octet-stream' },
        body: 'go on\n',
      });
  }
  await server.kill();
  for (const n of nodes) n.kill();
  const storage = await openEmbeddedStorage({ dataDir });
  const target = fileURLToPath(new URL(name!, import.meta.url));
  await storage.backup(target, { version: 'recorded', at: Date.now() });
  await storage.close();
  // Secrets of the recorded server: restoring draws a new key, and the test brings its own token.
  const registry = join(target, 'registry.json');
  const records = JSON.parse(await readFile(registry, 'utf8')) as [string, unknown][];
  await writeFile(
    registry,
    JSON.stringify(
      records.filter(([key]) => !/^(secret|node)\//.test(key)),
      undefined,
      1,
    ),
  );
});
