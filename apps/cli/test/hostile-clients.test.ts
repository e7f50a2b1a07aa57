/**
 * A share of `npm run attack -- --clients`: ways that take seconds, one of each plane, among them the ones that were
 * worst when they were found. The server and its volunteer are the built command line, as operators run it.
 */
import { ClientArena, WAYS } from '@mayfly/playwright/hostile-clients';
import { afterAll, expect, it } from 'vitest';

const SHARE = [
  'upgrade-nowhere',
  'hello-again-and-again',
  'pages-of-another-job',
  'read-at-stride-0',
  'false-position',
  'tokens',
];

const arena = new ClientArena();
afterAll(() => arena.close());

// The command watches a server through /proc.
it.runIf(process.platform === 'linux').each(SHARE)(
  'a hostile client gets nowhere while an honest job runs: %s',
  { timeout: 1_200_000 },
  async (name) => {
    const { broken } = await arena.run(WAYS.find((w) => w.name === name)!);
    expect(broken, arena.log.slice(-2000)).toEqual([]);
  },
);
