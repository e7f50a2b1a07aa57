/**
 * `mayfly volunteer`: what a headless one takes, and the page in a real browser: its start, its end, and a crash in
 * between.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NodeView } from '@mayfly/wire';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findBrowser } from '../src/browser/find.ts';
import { allowSandbox } from '../src/browser/launch.ts';
import { run, said, start, type Running } from './built.ts';

const browser = [process.env.MAYFLY_BROWSER, '/usr/bin/chromium', '/usr/bin/google-chrome'].find(
  (p) => p !== undefined && existsSync(p),
);
const root = process.getuid?.() === 0;
const TOKEN = 'a-token-for-tests';

let dir: string;
/** Where browsers put their profiles. */
let profiles: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'mayfly-volunteer-'));
  profiles = join(dir, 'profiles');
  await mkdir(profiles);
  await writeFile(
    join(dir, 'hello.ts'),
    "import { COMM_WORLD as comm } from 'mayfly';\nconsole.log('rank', comm.rank);\n",
  );
});
afterAll(() => rm(dir, { recursive: true, force: true, maxRetries: 5 }));

describe('the search for a browser', () => {
  const fake = async (name: string, says: string): Promise<string> => {
    const path = join(dir, name);
    await writeFile(path, `#!/bin/sh\n${says}\n`);
    await chmod(path, 0o755);
    return path;
  };

  it.skipIf(process.platform === 'win32')(
    'takes what it knows by name and version, and says why it does not take another',
    async () => {
      const fox = await fake('fox', "echo 'Mozilla Firefox 140.3.0esr'");
      expect(findBrowser(fox)).toEqual({ path: fox, kind: 'firefox', name: 'Firefox 140' });
      expect(findBrowser('', { MAYFLY_BROWSER: fox })).toMatchObject({ path: fox });
      const edge = await fake('microsoft-edge', "echo 'Microsoft Edge 139.0.1'");
      expect(findBrowser('', { PATH: dir })).toEqual({ path: edge, kind: 'chromium', name: 'Edge 139' });
      expect(findBrowser('fox', { PATH: dir })).toMatchObject({ path: fox });
      // By its family, whatever the program is called here.
      expect(() => findBrowser('firefox', { PATH: dir })).toThrow('the file does not exist');
      const esr = await fake('firefox-esr', "echo 'Mozilla Firefox 140.3.0esr'");
      expect([findBrowser('firefox', { PATH: dir }), findBrowser('chromium', { PATH: dir })]).toMatchObject([
        { path: esr },
        { path: edge },
      ]);
      expect(() => findBrowser(join(dir, 'none'))).toThrow('the file does not exist');
      const old = await fake('old', "echo 'Mozilla Firefox 115.1'");
      expect(() => findBrowser(old)).toThrow('it is Firefox 115; 128 is the oldest that works');
      const broken = await fake('broken', 'exit 3');
      expect(() => findBrowser(broken)).toThrow('it does not start');
      const other = await fake('other', "echo 'w3m 0.5'");
      expect(() => findBrowser('', { MAYFLY_BROWSER: other })).toThrow('MAYFLY_BROWSER names');
      expect(() => findBrowser('', { PATH: profiles })).toThrow('no browser was found');
    },
  );

  it('takes Chromium without its sandbox for nobody who has not asked for that', async () => {
    const chromium = { path: 'chromium', kind: 'chromium', name: 'Chromium 156' } as const;
    expect(() => allowSandbox(chromium, true, 0)).toThrow(/no sandbox when root runs it.*--no-browser-sandbox/s);
    expect(() => allowSandbox(chromium, false, 0)).not.toThrow();
    expect(() => allowSandbox(chromium, true, 1000)).not.toThrow();
    expect(() => allowSandbox({ ...chromium, kind: 'firefox' }, true, 0)).not.toThrow();
    if (!root || !browser) return;
    const r = await run(['volunteer', `--browser=${browser}`, 'http://127.0.0.1:9'], {
      cwd: dir,
      env: { TMPDIR: profiles },
    });
    expect(r).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('no sandbox when root runs it') as string,
    });
    expect(readdirSync(profiles)).toEqual([]);
  });
});

/** The browser itself, not one of its processes for pages. */
const mainProcess = (profile: string): number | undefined =>
  readdirSync('/proc')
    .filter((p) => /^\d+$/.test(p))
    .map(Number)
    .find((pid) => {
      try {
        const args = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
        return args.includes(`--user-data-dir=${profile}`) && !args.some((a) => a.startsWith('--type='));
      } catch {
        return false; // gone meanwhile
      }
    });

describe.skipIf(!browser || process.platform !== 'linux')('on a server', () => {
  const running: Running[] = [];
  const begin = (args: string[], env: Record<string, string> = {}): Running => {
    const p = start(args, { cwd: dir, input: '', env });
    running.push(p);
    return p;
  };
  afterAll(async () => {
    for (const p of running.reverse()) {
      p.child.kill('SIGTERM');
      await p.ended;
    }
  });

  it(
    'a TypeScript job says what it waits for at a headless volunteer, and runs in a browser, which comes back ' +
      'from a crash and leaves with a goodbye',
    async () => {
      const server = begin([
        'server',
        '--port',
        '0',
        '--data-dir',
        join(dir, 'data'),
        '--token',
        TOKEN,
        '--log',
        'warn',
      ]);
      const url = await said(server, /listening on (\S+)/);
      const nodes = async (): Promise<NodeView[]> =>
        (await (
          await fetch(`${url}/api/nodes`, { headers: { authorization: `Bearer ${TOKEN}` } })
        ).json()) as NodeView[];
      await said(
        begin(['volunteer', url, '--slots', '3', '--name', 'plain']),
        /offers 3 slots for C and C\+\+ programs/,
      );

      const job = begin(['mpiexec', '-n', '2', 'hello.ts'], { MAYFLY_SERVER: url, MAYFLY_TOKEN: TOKEN });
      let waits = '';
      job.child.stderr!.on('data', (d: Buffer) => (waits += d.toString()));
      await expect
        .poll(() => waits)
        .toContain(
          'needs 2 slots for TypeScript; none available; 3 more slots are free, but on volunteers that do not ' +
            'run TypeScript: open the volunteer page in a browser, or start "mayfly volunteer" with ' +
            '--allow-typescript',
        );

      const tab = begin(
        [
          'volunteer',
          `--browser=${browser!}`,
          ...(root ? ['--no-browser-sandbox'] : []),
          '--slots',
          '2',
          '--name',
          'in a tab',
          url,
        ],
        { TMPDIR: profiles },
      );
      expect(
        await said(
          tab,
          /"in a tab" offers (\d) slots to http:\/\/127\.0\.0\.1:\d+ in (?:Chrome|Chromium|Edge) \d+; press Ctrl-C/,
        ),
      ).toBe('2');
      const ended = await job.ended;
      expect([ended.code, ended.stdout.split('\n').sort()], ended.stderr).toEqual([0, ['', 'rank 0', 'rank 1']]);
      expect(await nodes()).toContainEqual(
        expect.objectContaining({ name: 'in a tab', slots: 2, runs: ['wasm', 'typescript'], state: 'here' }),
      );

      const [profile] = readdirSync(profiles).filter((d) => d.startsWith('mayfly-browser-'));
      const before = mainProcess(join(profiles, profile!))!;
      process.kill(before, 'SIGKILL');
      await said(tab, /(has stopped: [^\n]+\. Its ranks continue elsewhere; it restarts in 1 s)/);
      await said(tab, /restarts in 1 s[^]*(Idle)/);
      const [next, ...more] = readdirSync(profiles).filter((d) => d.startsWith('mayfly-browser-'));
      expect([next === profile, more]).toEqual([false, []]);

      tab.child.kill('SIGINT');
      expect(await tab.ended).toMatchObject({
        code: 0,
        stderr: '',
        stdout: expect.stringContaining('Leaving') as string,
      });
      expect(readdirSync(profiles).filter((d) => d.startsWith('mayfly-browser-'))).toEqual([]);
      expect(mainProcess(join(profiles, next!))).toBeUndefined();
      // It said goodbye: the server does not wait for it.
      expect((await nodes()).filter((n) => n.name === 'in a tab' && n.state === 'here')).toEqual([]);
    },
  );
});
