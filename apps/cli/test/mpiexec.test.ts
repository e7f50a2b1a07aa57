/** The built `mayfly` behaves as mpiexec does, with a server and nodes of its own. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '@mayfly/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run, start, startService, type Service } from './built.ts';

let dir: string;
let service: Service;
let ended: number | null | undefined;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'mayfly-mpiexec-'));
  await mkdir(join(dir, 'lib'));
  await writeFile(
    join(dir, 'lib/sum.ts'),
    "import { COMM_WORLD as comm, SUM } from 'mayfly';\nexport const sum = (n: number): number => " +
      'comm.allreduce(n, SUM);\n',
  );
  await writeFile(
    join(dir, 'sum.ts'),
    `import { COMM_WORLD as comm, args, env, exit, files, stdin } from 'mayfly';
import { sum } from './lib/sum.ts';
const own = comm.rank === 0 ? Number(stdin.readLine() ?? '0') : comm.rank;
const total = sum(own);
console.log('rank ' + comm.rank + ' of ' + comm.size + ': ' + total + ' ' + args.join(',') + (env.HABIT ?? ''));
if (comm.rank === 1) console.error('to standard error');
if (comm.rank === 0) files.write('result/total.txt', total + ' ' + files.readText('extra.txt').trim());
exit(Number(args[0] ?? 0));
`,
  );
  await writeFile(join(dir, 'extra.txt'), 'from a file\n');
  await writeFile(
    join(dir, 'broken.ts'),
    "import { COMM_WORLD as comm } from 'mayfly';\nconst n: number = comm.rnak;\nconsole.log(n);\n",
  );
  await writeFile(
    join(dir, 'endless.ts'),
    "import { COMM_WORLD as comm } from 'mayfly';\nconsole.log('begun');\ncomm.barrier();\nfor (let i = 0; ; " +
      'i++) if (i % 1000 === 0) comm.barrier();\n',
  );
  await writeFile(
    join(dir, 'throws.ts'),
    "import { COMM_WORLD as comm } from 'mayfly';\ncomm.barrier();\nif (comm.rank === 1) throw new Error('as " +
      "planned');\ncomm.barrier();\n",
  );
  service = await startService(dir);
});
afterAll(async () => {
  if (ended === undefined) await service?.stop();
  await rm(dir, { recursive: true, force: true });
});

describe('mayfly mpiexec', () => {
  it(
    'with a server and nodes of its own feeds rank 0, shows every rank, writes result files, ends with the ' +
      'exit code of the job',
    async () => {
      const r = await run(
        [
          'mpiexec',
          '-np',
          '3',
          '-l',
          '-genv',
          'HABIT',
          '!',
          '--bind-to',
          'core',
          '-f',
          'hosts',
          '--timestamp-output',
          '--output-filename',
          'kept',
          '--file',
          'extra.txt',
          'sum.ts',
          '7',
          '--np',
        ],
        { cwd: dir, input: '39\n' },
      );
      expect(r.stderr).toContain('ignored, because volunteers provide the slots: --bind-to core, -f hosts (');
      expect(r.stderr).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z \[1\] to standard error$/m);
      const timed = r.stdout.split('\n').filter(Boolean);
      expect(timed.map((line) => line.replace(/^\d{4}-\d\d-\d\dT[\d:.]+Z /, '')).sort()).toEqual(
        [0, 1, 2].map((k) => `[${k}] rank ${k} of 3: 42 7,--np!`),
      );
      expect(await readFile(join(dir, 'kept/1/rank.2/stdout'), 'utf8')).toBe('rank 2 of 3: 42 7,--np!\n');
      expect(await readFile(join(dir, 'kept/1/rank.1/stderr'), 'utf8')).toBe('to standard error\n');
      expect(await readFile(join(dir, 'result/total.txt'), 'utf8')).toBe('42 from a file');
      expect(r.code).toBe(7);
    },
  );

  it('without -n runs one rank; -s none: without standard input', async () => {
    const words = ['mpiexec', '-s', 'none', '--name', 'one rank', '--file', 'extra.txt', 'sum.ts'];
    const r = await run(words, { cwd: dir, env: service.env, input: '5\n' });
    expect([r.code, r.stdout]).toEqual([0, 'rank 0 of 1: 0 \n']);
  });

  it('shows what does not compile, with its place, and ends with 2', async () => {
    const r = await run(['mpiexec', '-n', '2', 'broken.ts'], { cwd: dir, env: service.env });
    expect(r.stderr).toMatch(/broken\.ts:2:\d+ .*rnak/);
    expect([r.code, r.stdout]).toEqual([2, '']);
  });

  it('says why a job failed', async () => {
    const r = await run(['mpiexec', '-n', '2', 'throws.ts'], { cwd: dir, env: service.env });
    expect(r.stderr).toMatch(/as planned/);
    expect(r.code).toBeGreaterThan(0);
  });

  it('cancels the job on Ctrl-C and ends with 130', async () => {
    const p = start(['mpiexec', '-n', '2', 'endless.ts'], { cwd: dir, env: service.env, input: '' });
    await until('it has begun', () => p.stdout().includes('begun') || p.child.exitCode !== null);
    p.child.kill('SIGINT');
    const r = await p.ended;
    expect(r.stderr).toMatch(/cancelling/);
    expect(r.code).toBe(130);
  });

  it('tells wrong usage from a missing server', async () => {
    expect(await run(['mpiexec', '--nosuch', '-n', '2', 'sum.ts'], { cwd: dir })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("unknown option '--nosuch'"),
    });
    expect(await run(['mpiexec', '--detach', '--output-filename', 'out', 'sum.ts'], { cwd: dir })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--output-filename is for a job that mpiexec waits for'),
    });
    expect(await run(['mpiexec', '-n', '2', '--env', 'NAME', 'sum.ts'], { cwd: dir })).toMatchObject({
      code: 2,
      stderr: 'mayfly: --env NAME: expected NAME=VALUE\n  (mayfly mpiexec --help lists the options)\n',
    });
    expect(await run(['mpiexec', '-n', '2', 'nowhere.ts'], { cwd: dir })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('nowhere.ts'),
    });
    expect(await run(['jobs', 'list'], { cwd: dir })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--server'),
    });
    expect(await run(['jobs', 'list', '--server', 'http://127.0.0.1:9'], { cwd: dir })).toMatchObject({ code: 69 });
    expect(await run(['--help'], { cwd: dir })).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Exit codes'),
    });
  });
});

describe('mayfly server, volunteer, jobs', () => {
  it('run a job on a volunteer of another process; the token is wanted', async () => {
    const { url, env } = service;
    expect(await run(['jobs', '--server', url], { cwd: dir })).toMatchObject({ code: 77 });
    const r = await run(['mpiexec', '-n', '2', '-q', '--file', 'extra.txt', 'sum.ts'], { cwd: dir, env, input: '1\n' });
    expect(r.stdout.split('\n').filter(Boolean).sort()).toEqual(['rank 0 of 2: 2 ', 'rank 1 of 2: 2 ']);
    expect(r.code).toBe(0);
    const list = await run(['jobs'], { cwd: dir, env });
    const id = /^(\w{12})\s+sum\.ts\s+done/m.exec(list.stdout)?.[1];
    expect(id, list.stdout).toBeDefined();
    expect((await run(['jobs', 'output', id!, '--task', '1'], { cwd: dir, env })).stdout).toBe('rank 1 of 2: 2 \n');
    expect((await run(['jobs', 'output', id!, '--files', 'got'], { cwd: dir, env })).stdout).toBe('result/total.txt\n');
    expect(await readFile(join(dir, 'got/result/total.txt'), 'utf8')).toBe('2 from a file');
    expect((await run(['jobs', 'show', id!], { cwd: dir, env })).stdout).toMatch(
      /RANK[\s\S]*done[\s\S]*result\/total.txt/,
    );
    expect((await run(['jobs', 'rm', id!], { cwd: dir, env })).code).toBe(0);
    const left = (await run(['jobs'], { cwd: dir, env })).stdout;
    expect(left).not.toContain('sum.ts');
    expect(left).toMatch(/throws\.ts\s+failed/);
    expect(left).toMatch(/endless\.ts\s+cancelled/);
    expect((ended = await service.stop())).toBe(0);
  });
});
