/** The commands of a day with a server elsewhere: login, submit, wait, jobs, nodes, rooms; on the built `mayfly`. */
import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CLI as cli, run, said, start, startService, type Ended, type Service } from './built.ts';

let dir: string;
let service: Service;
const mayfly = (...args: string[]): Promise<Ended> => run(args, { cwd: dir, env: service.env });
const submit = async (...args: string[]): Promise<string> => {
  const r = await mayfly('submit', '-n', '1', ...args);
  expect(r).toMatchObject({ code: 0, stderr: '' });
  return r.stdout.trim();
};

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'mayfly-remote-'));
  await writeFile(
    join(dir, 'echo.ts'),
    "import { args, exit, files, stdin } from 'mayfly';\nconsole.log(args.join(' ') + (stdin.readLine() ?? '-'));\n" +
      "files.write('out.txt', 'a result');\nexit(Number(args[0] ?? 0));\n",
  );
  await writeFile(join(dir, 'endless.ts'), "import { COMM_WORLD as comm } from 'mayfly';\nfor (;;) comm.barrier();\n");
  await writeFile(join(dir, 'input.txt'), 'from a file\n');
  service = await startService(dir);
});
afterAll(async () => {
  await service?.stop();
  await rm(dir, { recursive: true, force: true });
});

describe('mayfly quota', () => {
  it('sets limits of one owner and shows them beside what is used; clear goes back to those of all', async () => {
    const set = await mayfly('quota', 'set', 'Ada', '--slots', '4', '--storage', '250');
    expect(set).toMatchObject({ code: 0, stderr: '' });
    expect(set.stdout).toMatch(/\nAda +0 \/ 4 +0 \/ – +0 \/ 250 MB +own\n$/);
    // What is not named stays.
    expect((await mayfly('quota', 'set', 'Ada', '--jobs', '2', '--slots', 'default')).stdout).toMatch(
      /\nAda +0 \/ – +0 \/ 2 +0 \/ 250 MB +own\n$/,
    );
    expect((await mayfly('quota', 'clear', 'Ada')).code).toBe(0);
    expect((await mayfly('quota')).stdout).not.toContain('Ada');
    expect((await mayfly('quota', 'set', 'Ada')).stderr).toContain('name a limit: --slots, --jobs or --storage');
    expect((await mayfly('quota', 'set', 'Ada', '--slots', 'few')).stderr).toContain("'none' or 'default'");
  });
});

describe('mayfly submit and wait', () => {
  it('leave the job to the server, and come back for its exit code and files', async () => {
    const id = await submit('--stdin', 'input.txt', 'echo.ts', '3', '-n');
    expect(id).toMatch(/^[0-9a-z]{12}$/);
    const r = await mayfly('wait', id, '-o', 'got');
    expect(r).toMatchObject({ code: 3, stdout: `${id} done, exit code 3\n` });
    expect(await readFile(join(dir, 'got/out.txt'), 'utf8')).toBe('a result');
    expect((await mayfly('jobs', 'output', id)).stdout).toBe('3 -nfrom a file\n');
    expect((await mayfly('quota')).stdout).toMatch(/\nowner .* [1-9]\d* kB \/ –/);
  });

  it('show the progress that a C program states', async () => {
    const text = [
      '#include <mpi.h>',
      '#include <stdio.h>',
      'int main(int argc, char **argv) { char line[8];',
      '  MPIX_Progress(0, 8); MPI_Init(&argc, &argv); MPIX_Progress(3, 8);',
      '  while (fgets(line, sizeof line, stdin)) ;',
      '  MPI_Finalize(); return 0; }',
    ];
    await writeFile(join(dir, 'states.c'), `${text.join('\n')}\n`);
    const waiting = start(['mpiexec', '-n', '1', 'states.c'], { cwd: dir, env: service.env });
    const list = async (): Promise<string> => (await mayfly('jobs', 'list', '--state', 'running')).stdout;
    await expect.poll(list, { interval: 1000 }).toMatch(/states.*37 %/);
    const id = /^(\w{12}) +states/m.exec(await list())![1]!;
    expect((await mayfly('jobs', 'show', id)).stdout).toMatch(/^progress: 37 %\n[^]*^1 rank, /m);
    waiting.child.stdin!.end();
    expect(await waiting.ended).toMatchObject({ code: 0 });
    expect((await mayfly('jobs', 'show', id)).stdout).not.toContain('progress');
  });

  it('take standard input from a redirected file, and nothing from a pipe', async () => {
    const r = await mayfly('mpiexec', '--detach', '-n', '1', '--oversubscribe', '-genv', 'A', '1', 'echo.ts', '0');
    expect(r.stderr).toBe('mayfly: ignored, because volunteers provide the slots: --oversubscribe\n');
    const piped = r.stdout.trim();
    const redirected = start(['-c', `"$0" "$1" submit -n 1 echo.ts 0 < input.txt`, process.execPath, cli], {
      cwd: dir,
      command: 'sh',
      input: '',
      env: service.env,
    });
    const other = (await redirected.ended).stdout.trim();
    expect(await mayfly('wait', piped, other)).toMatchObject({
      code: 0,
      stdout: `${piped} done, exit code 0\n${other} done, exit code 0\n`,
    });
    expect((await mayfly('jobs', 'output', piped)).stdout).toBe('0-\n');
    expect((await mayfly('jobs', 'output', other)).stdout).toBe('0from a file\n');
  });

  it('wait for a server that is killed and started again', async () => {
    const serve = (port: string) =>
      start(['server', '-p', port, '-d', 'restarted', '--token', 'a-token-for-tests', '--log', 'warn'], {
        cwd: dir,
        input: '',
      });
    const first = serve('0');
    const url = await said(first, /listening on (\S+)/);
    const env = { MAYFLY_SERVER: url, MAYFLY_TOKEN: 'a-token-for-tests' };
    const id = (await run(['submit', '-n', '1', 'echo.ts'], { cwd: dir, env })).stdout.trim();
    const watch = start(['jobs', 'list', '--watch'], { cwd: dir, input: '', env });
    await said(watch, /(waiting)/);
    const waiting = start(['wait', id], { cwd: dir, input: '', env });
    await said({ ...waiting, stdout: waiting.stderr }, /job \w+ waiting: (needs 1 slot)/);
    first.child.kill('SIGKILL');
    await first.ended;
    await said(watch, /(cannot reach.*trying again)/);
    const second = serve(new URL(url).port);
    await said(second, /listening on (\S+)/);
    await said(watch, /trying again\n[^]*(waiting)/);
    expect((await run(['jobs', 'cancel', id], { cwd: dir, env })).code).toBe(0);
    expect(await waiting.ended).toMatchObject({ code: 1, stdout: `${id} cancelled\n` });
    for (const p of [watch, second]) {
      p.child.kill('SIGTERM');
      await p.ended;
    }
  });

  it('say what does not go with them, each with the help that has more', async () => {
    expect(await mayfly('mpiexec', '--detach', '-l', '-n', '1', 'echo.ts')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--label'),
    });
    expect(await mayfly('mpiexec', '--detach', '-outfile-pattern', 'out.%r', '-n', '1', 'echo.ts')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--outfile-pattern is for a job that mpiexec waits for'),
    });
    expect(await mayfly('submit', '-n', '1', '-x', 'NOT_SET', 'echo.ts')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('(mayfly submit --help lists the options)'),
    });
    expect(await mayfly('submit', '-n', '1', '--notify', 'http://127.0.0.1:9/', 'echo.ts')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('notify names 127.0.0.1, which is not a public address'),
    });
    expect(await run(['mpiexec', '-n', '1', '--notify', 'http://example.org/', 'echo.ts'], { cwd: dir })).toMatchObject(
      {
        code: 2,
        stderr: expect.stringContaining('--notify needs a server'),
      },
    );
    expect(await run(['submit', '-n', '1', 'echo.ts'], { cwd: dir })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('mayfly login'),
    });
    expect(await mayfly('wait', 'abcdefghijkl')).toMatchObject({ code: 1, stderr: expect.stringMatching(/NOT_FOUND/) });
  });
});

describe('mayfly jobs', () => {
  it('cancel says of each job whether it was cancelled, or had ended before', async () => {
    const endless = await submit('endless.ts');
    const over = await submit('echo.ts');
    expect((await mayfly('wait', over, '-q')).code).toBe(0);
    expect(await mayfly('wait', endless, '--timeout', '0.2')).toMatchObject({
      code: 124,
      stderr: expect.stringContaining(`job ${endless} has not ended after 0.2 s`),
    });
    expect(await mayfly('jobs', 'cancel', endless, over)).toEqual({
      code: 1,
      stdout: `job ${endless} was cancelled\n`,
      stderr: `mayfly: job ${over} was not cancelled: it had already ended (done, exit code 0)\n`,
    });
    expect(await mayfly('jobs', 'cancel', endless)).toMatchObject({
      code: 0,
      stdout: `job ${endless} had already been cancelled\n`,
    });
    expect(await mayfly('wait', endless)).toMatchObject({ code: 1, stderr: expect.stringContaining('CANCELLED') });
  });

  it('list takes states and a limit, and with --watch shows the list when it has changed', async () => {
    const id = await submit('echo.ts');
    await mayfly('wait', id);
    const ids = async (...args: string[]): Promise<string[]> =>
      (JSON.parse((await mayfly('jobs', 'list', '--json', ...args)).stdout) as { id: string; state: string }[]).map(
        (j) => j.id,
      );
    expect(await ids('--limit', '1')).toEqual([id]);
    expect(await ids('--state', 'done', 'failed')).toContain(id);
    expect(await ids('--state', 'cancelled')).not.toContain(id);
    expect(await mayfly('jobs', 'list', '--state', 'gone')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('(mayfly jobs list --help lists the options)'),
    });
    const watch = start(['jobs', 'list', '--watch', '--limit', '1'], { cwd: dir, input: '', env: service.env });
    await said(watch, new RegExp(`(${id})`));
    const next = await submit('echo.ts');
    await said(watch, new RegExp(`(${next})[^]*done`));
    watch.child.kill('SIGTERM');
    await watch.ended;
  });
});

describe('mayfly login', () => {
  it('keeps server and token for the commands after it, and only for this user', async () => {
    const home = { XDG_CONFIG_HOME: join(dir, 'home') };
    const login = (args: string[], input = ''): Promise<Ended> =>
      run(['login', ...args], { cwd: dir, env: home, input });
    expect(await login([service.url], 'wrong\n')).toMatchObject({ code: 77 });
    expect(await run(['nodes'], { cwd: dir, env: home })).toMatchObject({ code: 2 });
    const path = join(home.XDG_CONFIG_HOME, 'mayfly/config.json');
    expect(await login([`${service.url}/dashboard?token=${service.env.MAYFLY_TOKEN}`])).toMatchObject({
      code: 0,
      stdout: `logged in to ${service.url} as owner (owner); kept in ${path}\n`,
    });
    expect(JSON.parse(await readFile(path, 'utf8'))).toEqual({ server: service.url, token: service.env.MAYFLY_TOKEN });
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    const nodes = await run(['nodes'], { cwd: dir, env: home });
    expect(nodes.stdout).toMatch(/^ID +NAME +STATE +BUSY +SLOTS.*\n\S+ +bench +here +0 +2/);
    expect(await run(['rooms'], { cwd: dir, env: home })).toMatchObject({ code: 0, stdout: 'no rooms\n' });
    // The same server, written in another way.
    expect((await run(['rooms', '--server', `${service.url}/`], { cwd: dir, env: home })).code).toBe(0);
    expect((await run(['logout'], { cwd: dir, env: home })).code).toBe(0);
    expect(await run(['nodes'], { cwd: dir, env: home })).toMatchObject({ code: 2 });
    await writeFile(path, '{"token": 5}');
    expect(await run(['nodes'], { cwd: dir, env: home })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('is not valid'),
    });
  });
});

describe('mayfly start and volunteer', () => {
  it('print what a terminal needs to find the server', async () => {
    const server = start(
      ['start', '-p', '0', '-d', join(dir, 'first'), '--token', "it's a token".replaceAll(' ', '+')],
      { cwd: dir, input: '', env: { npm_lifecycle_event: 'start' } },
    );
    // As npm starts it; the folder above has npx then.
    const line = await said(server, /terminal +(export \S+ \S+) +then: npx --no-install mayfly jobs\n/);
    const sh = start(['-c', `${line}; exec "$0" "$1" jobs`, process.execPath, cli], {
      cwd: dir,
      command: 'sh',
      input: '',
    });
    expect(await sh.ended).toMatchObject({ code: 0, stdout: 'no jobs\n' });
    server.child.kill('SIGTERM');
    await server.ended;
  });

  it('say that nobody answers at an address, try on, and say when somebody does', async () => {
    const before = start(['server', '-p', '0', '-d', join(dir, 'later'), '--log', 'warn'], { cwd: dir, input: '' });
    const url = await said(before, /listening on (\S+)/);
    before.child.kill('SIGTERM');
    await before.ended;
    const node = start(['volunteer', url, '--slots', '1'], { cwd: dir, input: '' });
    await said({ ...node, stdout: node.stderr }, /(does not answer; trying until it does)/);
    const port = new URL(url).port;
    const after = start(['server', '-p', port, '-d', join(dir, 'later'), '--log', 'warn'], { cwd: dir, input: '' });
    await said(node, /offers (1) slot/);
    after.child.kill('SIGKILL');
    await after.ended;
    await said({ ...node, stdout: node.stderr }, /(does not answer[^]*does not answer)/);
    const last = start(['server', '-p', port, '-d', join(dir, 'later'), '--log', 'warn'], { cwd: dir, input: '' });
    await said({ ...node, stdout: node.stderr }, /(\d+ answers)/);
    node.child.kill('SIGTERM');
    const gone = `mayfly: ${url} does not answer; trying until it does (Ctrl-C stops)\n`;
    expect((await node.ended).stderr).toBe(`${gone}${gone}mayfly: ${url} answers\n`);
    last.child.kill('SIGTERM');
    await last.ended;
  });
});

describe('mayfly completion', () => {
  it.skipIf(spawnSync('bash', ['--version']).status !== 0)('offers commands and options in bash', async () => {
    const { stdout } = await run(['completion', 'bash'], { cwd: dir });
    const offered = (line: string): string[] => {
      const words = line.split(' ').map((w) => `'${w}'`);
      const script = `${stdout}\nCOMP_WORDS=(${words.join(' ')}); COMP_CWORD=${words.length - 1}; _mayfly; echo "\${COMPREPLY[@]}"`;
      const r = spawnSync('bash', ['-c', script], { encoding: 'utf8' });
      expect(r.stderr).toBe('');
      return r.stdout.trim().split(' ').filter(Boolean);
    };
    expect(offered('mayfly su')).toEqual(['submit']);
    expect(offered('mayfly jobs c')).toEqual(['cancel']);
    expect(offered('mayfly --server x jobs list --st')).toEqual(['--state']);
    expect(offered('mayfly jobs list --state can')).toEqual(['cancelled']);
    expect(offered('mayfly submit --protocol h')).toEqual(['hc3i']);
    expect(offered('mayfly completion z')).toEqual(['zsh']);
    expect(offered('mayfly mpirun --det')).toEqual(['--detach']);
    expect(offered('mayfly mpiexec -n 2 ./a')).toEqual([]);
    expect(await run(['completion', 'tcsh'], { cwd: dir })).toMatchObject({ code: 2 });
  });
});
