/**
 * The volunteer path in an installed Firefox (Debian's ESR): a click, a C program, and a tab that is closed in the
 * middle of a job. Skipped where there is no Firefox; `npm test -- firefox` installs Debian's where it may.
 */
import { expect, test } from '@playwright/test';
import { Client, readExample, source } from '../src/client.ts';
import { showLogOnFailure } from '../src/failure.ts';
import { Firefox, firefoxPath } from '../src/nodes/firefox.ts';
import { ServerProcess } from '../src/server.ts';

let server: ServerProcess | undefined;
let firefox: Firefox | undefined;

test.skip(firefoxPath === undefined, 'no Firefox here: npm test -- firefox installs it, MAYFLY_FIREFOX names one');
test.beforeAll(async () => {
  if (firefoxPath === undefined) return;
  [server, firefox] = await Promise.all([ServerProcess.start(), Firefox.start(firefoxPath)]);
});
test.afterAll(async () => {
  await firefox?.close();
  await server?.stop();
});
showLogOnFailure(() => server);

const STATE = '[data-testid=volunteer-state]';
const ORB = '.orb';

/** A sum that goes round the ring 50 times; both ranks are in the middle of it when the line is read. */
const HELD = `import { COMM_WORLD as comm, stdin } from 'mayfly';
const sum = new Float64Array(1);
for (let lap = 0; lap < 50; lap++) {
  if (comm.rank === 0) { comm.send(sum, 1, lap); comm.recv(sum, 1, lap); }
  else { comm.recv(sum, 0, lap); sum[0] += Math.sqrt(lap); comm.send(sum, 0, lap); }
  if (lap === 25 && comm.rank === 0) { console.log('half', sum[0]); stdin.readLine(); }
}
console.log('sum', sum[0]);
`;
const roots = (laps: number): number => Array.from({ length: laps }, (_, i) => Math.sqrt(i)).reduce((a, b) => a + b, 0);

test(
  'Firefox volunteers by a click, computes C and TypeScript, loses its tab in the middle, and the answers are ' +
    'right',
  async ({}, info) => {
    const client = new Client(server!);
    const first = await firefox!.open(`${server!.url}/volunteer?slots=2&name=fox-1`);
    await first.text(STATE, /^Off$/);
    await first.click(ORB);
    await first.text(STATE, /^Idle$/);

    const c = await client.submit(await readExample('c-ring'), 2, ['--laps', '200', '--numbers', '16']);
    const done = await client.ended(c.id);
    expect(done.error).toBeUndefined();
    expect((await client.answer(done)).stdout.join('')).toContain('PASS');

    const held = await client.submit(source('held', HELD), 2, [], { interactive: true });
    await client.until(held.id, 'at its half', (j) => j.tasks[0]!.activity?.call === 'stdin');
    await first.text(STATE, /^Working on “held”$/);
    await first.text('.ranks-here', /waits for standard input/);
    await info.attach('firefox', { body: await first.screenshot(), contentType: 'image/png' });
    await first.close();
    await client.until(held.id, 'without its ranks', (j) => j.faults.length >= 2);

    const second = await firefox!.open(`${server!.url}/volunteer?start&slots=2&name=fox-2`);
    await client.until(held.id, 'recovered', (j) => j.faults.every((f) => f.recoveredAfterMs !== undefined));
    await client.input(held.id);
    const end = await client.ended(held.id);
    expect(end.error).toBeUndefined();
    const { stdout } = await client.answer(end);
    expect(stdout[0]).toBe(`half ${roots(26)}\nsum ${roots(50)}\n`);
    await second.text(STATE, /^Idle$/);
    await second.click(ORB);
    await second.text(STATE, /^Off$/);

    // What it lacks is said, and that the server is away.
    await second.text(
      '.promise details',
      /What this browser cannot report.*whether this machine is charging.*how much memory.*busy or hot.*at the keyboard/i,
    );
    await second.evaluate('navigator.serviceWorker.ready.then(() => true)');
    await server!.kill9();
    const late = await firefox!.open(`${server!.url}/volunteer`);
    await late.text('h1', /^No connection to the server$/);
    await info.attach('firefox, no connection', { body: await late.screenshot(), contentType: 'image/png' });
    await server!.begin();
    await late.text(STATE, /^Off$/);
    expect(await late.evaluate('[crossOriginIsolated, navigator.serviceWorker.controller !== null]')).toEqual([
      true,
      true,
    ]);
    expect(firefox!.complaints).toEqual([]);
  },
);
