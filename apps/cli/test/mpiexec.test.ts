/** The built `mayfly` behaves as mpiexec does, with a server and nodes of its own. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run, start } from './built.ts';

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'mayfly-mpiexec-'));
  await mkdir(join(dir, 'lib'));
  await writeFile(join(dir, 'lib/sum.ts'), "import { COMM_WORLD as comm, SUM } from 'mayfly';\nexport const sum = (n: number): number => comm.allreduce(n, SUM);\n");
  await writeFile(
    join(dir, 'sum.ts'),
    `import { COMM_WORLD as comm, args, exit, files, stdin } from 'mayfly';
import { sum } from './lib/sum.ts';
const own = comm.rank === 0 ? Number(stdin.readLine() ?? '0') : comm.rank;
const total = sum(own);
console.log('rank ' + comm.rank + ' of ' + comm.size + ': ' + total + ' ' + args.join(','));
if (comm.rank === 1) console.error('to standard error');
if (comm.rank === 0) files.write('result/total.txt', total + ' ' + files.readText('extra.txt').trim());
exit(Number(args[0] ?? 0));
`,
  );
  await writeFile(join(dir, 'extra.txt'), 'from a file\n');
  await writeFile(join(dir, 'broken.ts'), "import { COMM_WORLD as comm } from 'mayfly';\nconst n: number = comm.rnak;\nconsole.log(n);\n");
  await writeFile(join(dir, 'endless.ts'), "import { COMM_WORLD as comm } from 'mayfly';\nconsole.log('begun');\ncomm.barrier();\nfor (let i = 0; ; i++) if (i % 1000 === 0) comm.barrier();\n");
  await writeFile(join(dir, 'throws.ts'), "import { COMM_WORLD as comm } from 'mayfly';\ncomm.barrier();\nif (comm.rank === 1) throw new Error('as planned');\ncomm.barrier();\n");
});
afterAll(() => rm(dir, { recursive: true, force: true }));

describe('mayfly mpiexec', () => {
  it('feeds rank 0, shows every rank, writes result files, ends with the exit code of the job', async () => {
    const r = await run(['mpiexec', '-np', '3', '-l', '--file', 'extra.txt', 'sum.ts', '7', '--np'], { cwd: dir, input: '39\n' });
    expect(r.stderr).toContain('[1] to standard error\n');
    expect(r.stdout.split('\n').filter(Boolean).sort()).toEqual([0, 1, 2].map((k) => `[${k}] rank ${k} of 3: 42 7,--np`));
    expect(await readFile(join(dir, 'result/total.txt'), 'utf8')).toBe('42 from a file');
    expect(r.code).toBe(7);
  });

  it('shows what does not compile, with its place, and ends with 2', async () => {
    const r = await run(['mpiexec', '-n', '2', 'broken.ts'], { cwd: dir });
    expect(r.stderr).toMatch(/broken\.ts:2:\d+ .*rnak/);
    expect([r.code, r.stdout]).toEqual([2, '']);
  });

  it('says why a job failed', async () => {
    const r = await run(['mpiexec', '-n', '2', 'throws.ts'], { cwd: dir });
    expect(r.stderr).toMatch(/as planned/);
    expect(r.code).toBeGreaterThan(0);
  });

  it('cancels the job on Ctrl-C and ends with 130', async () => {
    const p = start(['mpiexec', '-n', '2', 'endless.ts'], { cwd: dir, input: '' });
    while (!p.stdout().includes('begun') && p.child.exitCode === null) await new Promise((go) => setTimeout(go, 50));
    p.child.kill('SIGINT');
    const r = await p.ended;
    expect(r.stderr).toMatch(/cancelling/);
    expect(r.code).toBe(130);
  });

  it('tells wrong usage from a missing server', async () => {
    expect(await run(['mpiexec', 'sum.ts'], { cwd: dir })).toMatchObject({ code: 2, stderr: expect.stringContaining('--np') });
    expect(await run(['mpiexec', '-n', '2', 'nowhere.ts'], { cwd: dir })).toMatchObject({ code: 2, stderr: expect.stringContaining('nowhere.ts') });
    expect(await run(['jobs', 'list'], { cwd: dir })).toMatchObject({ code: 2, stderr: expect.stringContaining('--server') });
    expect(await run(['jobs', 'list', '--server', 'http://127.0.0.1:9'], { cwd: dir })).toMatchObject({ code: 69 });
    expect(await run(['--help'], { cwd: dir })).toMatchObject({ code: 0, stdout: expect.stringContaining('Exit codes') });
  });
});

describe('mayfly server, volunteer, jobs', () => {
  it('run a job on a volunteer of another process; the token is wanted', async () => {
    const server = start(['server', '--port', '0', '--data-dir', join(dir, 'data'), '--token', 'a-token-for-tests', '--log', 'warn'], { cwd: dir, input: '' });
    let node: ReturnType<typeof start> | undefined;
    try {
      const url = await first(server, /listening on (\S+)/);
      node = start(['volunteer', url, '--slots', '2', '--name', 'bench'], { cwd: dir, input: '' });
      await first(node, /offers 2 slots/);
      expect(await run(['jobs', '--server', url], { cwd: dir })).toMatchObject({ code: 77 });
      const env = { MAYFLY_SERVER: url, MAYFLY_TOKEN: 'a-token-for-tests' };
      const r = await run(['mpiexec', '-n', '2', '-q', '--file', 'extra.txt', 'sum.ts'], { cwd: dir, env, input: '1\n' });
      expect(r.stdout.split('\n').filter(Boolean).sort()).toEqual(['rank 0 of 2: 2 ', 'rank 1 of 2: 2 ']);
      expect(r.code).toBe(0);
      const list = await run(['jobs'], { cwd: dir, env });
      const id = /^(\w{12})\s+sum\.ts\s+done/m.exec(list.stdout)?.[1];
      expect(id, list.stdout).toBeDefined();
      expect((await run(['jobs', 'output', id!, '--task', '1'], { cwd: dir, env })).stdout).toBe('rank 1 of 2: 2 \n');
      expect((await run(['jobs', 'output', id!, '--files', 'got'], { cwd: dir, env })).stdout).toBe('result/total.txt\n');
      expect(await readFile(join(dir, 'got/result/total.txt'), 'utf8')).toBe('2 from a file');
      expect((await run(['jobs', 'show', id!], { cwd: dir, env })).stdout).toMatch(/RANK[\s\S]*done[\s\S]*result\/total.txt/);
      expect((await run(['jobs', 'rm', id!], { cwd: dir, env })).code).toBe(0);
      expect((await run(['jobs'], { cwd: dir, env })).stdout).toBe('no jobs\n');
    } finally {
      node?.child.kill('SIGTERM');
      server.child.kill('SIGTERM');
      expect((await server.ended).code).toBe(0);
      await node?.ended;
    }
  });
});

async function first(p: ReturnType<typeof start>, what: RegExp): Promise<string> {
  for (let i = 0; i < 5000; i++) {
    const m = what.exec(p.stdout());
    if (m) return m[1] ?? '';
    if (p.child.exitCode !== null) break;
    await new Promise((go) => setTimeout(go, 50));
  }
  throw new Error(`did not say ${what}: ${p.stdout()} ${(await Promise.race([p.ended, Promise.resolve({ stderr: '' })])).stderr}`);
}
