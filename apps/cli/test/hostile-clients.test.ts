/**
 * A share of `npm run attack -- --clients`: ways that take seconds and little memory, of each plane, among them those
 * that were worst when they were found. The server and its volunteer are the built command line, as operators run it.
 */
import { ClientArena, WAYS } from '@mayfly/playwright/hostile-clients';
import { afterAll, expect, it } from 'vitest';

/** Those of `npm test` (testing/share.mjs). */
const SOME = ['upgrade-nowhere', 'hello-again-and-again', 'pages-of-another-job', 'read-at-stride-0', 'tokens'];
const MORE = [
  'upgrade-elsewhere',
  'data-bytes-before-attach',
  'bodies-without-a-token',
  'smuggled-requests',
  'other-names-and-pages',
  'ranks-of-others',
  'texts-for-terminals',
  'lesson-read-at-stride-0',
  'unfinished-output',
  'foreign-capabilities',
  'mutated-frames',
  'links-without-end',
  'guesses-of-pages',
  'offers-of-others',
  'typed-input',
  'archive-tickets',
  'webhook-to-its-own-machine',
  'brackets',
  'packed-bodies',
  'roles',
  // Each at a server of its own.
  'forwarded-addresses',
  'lesson-into-a-private-server',
];

const arena = new ClientArena();
afterAll(() => arena.close());

const getsNowhere = async (name: string): Promise<void> => {
  const { broken } = await arena.run(WAYS.find((w) => w.name === name)!);
  expect(broken, arena.log.slice(-2000)).toEqual([]);
};
// The arena watches a server through /proc.
const LINUX = process.platform === 'linux';
it.runIf(LINUX).each(SOME)('a hostile client gets nowhere while an honest job runs: %s', getsNowhere);
it.runIf(LINUX).each(MORE)('so do others: %s', getsNowhere);
