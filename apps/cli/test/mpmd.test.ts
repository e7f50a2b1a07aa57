/**
 * Several programs in one MPI_COMM_WORLD (MPMD): `mpiexec { <above args> } : { ... } : ... : { ... }` of MPI-4.1 §11.5,
 * and MPI_APPNUM, which numbers them from 0.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JobView } from '@mayfly/wire';
import { run, said, start, startService, type Ended, type Running, type Service } from './built.ts';

/** Both programs begin so: who they are, by what mpiexec gave to them. */
const WHO = `#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
static int rank, size;
static void who(int argc, char **argv) {
  int *appnum, flag;
  char maxprocs[8];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &appnum, &flag);
  MPI_Info_get(MPI_INFO_ENV, "maxprocs", 7, maxprocs, &flag);
  printf("%s: rank %d of %d, program %d of %s processes,", argv[0], rank, size, flag ? *appnum : -1, maxprocs);
  for (int i = 1; i < argc; i++) printf(" %s", argv[i]);
  printf(" %s%s\\n", getenv("ALL") ? getenv("ALL") : "-", getenv("OWN") ? getenv("OWN") : "-");
}
`;
const A = `${WHO}int main(int argc, char **argv) {
  int n = 0;
  who(argc, argv);
  if (rank == 0) {
    char line[16];
    n = fgets(line, sizeof line, stdin) ? atoi(line) : 5;
    MPI_Send(&n, 1, MPI_INT, size - 1, 1, MPI_COMM_WORLD);
    MPI_Recv(&n, 1, MPI_INT, size - 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);
  printf("%d\\n", n);
  MPI_Finalize();
  return 0;
}
`;
const B = `${WHO}int main(int argc, char **argv) {
  int n;
  who(argc, argv);
  MPI_Recv(&n, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  n *= 100;
  MPI_Send(&n, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
  MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);
  printf("b %d\\n", n);
  MPI_Finalize();
  return 0;
}
`;
const TS = `import { APPNUM, COMM_WORLD as comm, SUM, args } from 'mayfly';
console.log(APPNUM, args.join(), comm.allreduce(comm.rank, SUM));
`;

let dir: string;
let service: Service;
const mayfly = (...args: string[]): Promise<Ended> => run(args, { cwd: dir, env: service.env });
const lines = (text: string): string[] => text.split('\n').filter(Boolean).sort();
const api = async (method: string, path: string): Promise<unknown> => {
  const answer = await fetch(`${service.url}/api/${path}`, {
    method,
    headers: { authorization: `Bearer ${service.env.MAYFLY_TOKEN}` },
  });
  expect(answer.status, `${method} ${path}`).toBe(200);
  return answer.json();
};

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'mayfly-mpmd-'));
  await writeFile(join(dir, 'a.c'), A);
  await writeFile(join(dir, 'b.c'), B);
  await writeFile(join(dir, 'one.ts'), TS);
  await writeFile(join(dir, 'two.ts'), TS.replace('console.log(', "console.log('two',"));
  service = await startService(dir);
  for (const name of ['a', 'b']) expect(await mayfly('mpicc', `${name}.c`, '-o', name)).toMatchObject({ code: 0 });
});
afterAll(async () => {
  await service?.stop();
  await rm(dir, { recursive: true, force: true });
});

describe('mayfly mpiexec with several programs', () => {
  it('runs them in one world without a server: messages, arguments, environment and MPI_APPNUM of each', async () => {
    const words = '-genv ALL g -n 2 -env OWN 1 ./a x y : -n 1 -env OWN 2 ./b z';
    const r = await run(['mpiexec', ...words.split(' ')], { cwd: dir, input: '7\n' });
    expect(r).toMatchObject({ code: 0 });
    expect(lines(r.stdout)).toEqual([
      '700',
      '700',
      'a: rank 0 of 3, program 0 of 2 processes, x y g1',
      'a: rank 1 of 3, program 0 of 2 processes, x y g1',
      'b 700',
      'b: rank 2 of 3, program 1 of 1 processes, z g2',
    ]);
  });

  it('a lost rank of either restarts with its own program, from its own image; a second run writes the same', async () => {
    const more = start(['volunteer', service.url, '--slots', '2', '--name', 'more'], { cwd: dir, input: '' });
    await said(more, /offers 2 slots/);
    let job: Running | undefined;
    try {
      // Each alone: one that is lost leaves the others where they are.
      const words = ['mpiexec', '--team', '1', '-n', '2', './a', 'x', ':', '-n', '1', './b', 'z'];
      job = start(words, { cwd: dir, env: service.env });
      await expect.poll(() => lines(job!.stdout()).length).toBe(3);
      const id = ((await api('GET', 'jobs')) as JobView[])[0]!.id;
      const view = async (): Promise<JobView> => (await api('GET', `jobs/${id}`)) as JobView;
      expect(await view()).toMatchObject({
        name: 'a : b',
        size: 3,
        program: { entry: 'a' },
        args: ['x'],
        parts: [
          { first: 0, size: 2, program: { entry: 'a' }, args: ['x'] },
          { first: 2, size: 1, program: { entry: 'b' }, args: ['z'] },
        ],
      });
      await api('POST', `jobs/${id}/tasks/2/checkpoint`);
      await expect.poll(async () => (await view()).tasks[2]!.images).toBe(1);
      // Rank 1 has no image and begins again; rank 2 restores one.
      for (const rank of [1, 2]) await api('POST', `jobs/${id}/tasks/${rank}/kill`);
      await expect
        .poll(async () => (await view()).tasks.map((t) => [t.incarnation, t.state]))
        .toEqual([0, 1, 1].map((incarnation) => [incarnation, 'running']));
      job.child.stdin!.end('9\n');
      const r = await job.ended;
      expect(r).toMatchObject({ code: 0 });
      expect(lines(r.stdout)).toEqual([
        '900',
        '900',
        'a: rank 0 of 3, program 0 of 2 processes, x --',
        'a: rank 1 of 3, program 0 of 2 processes, x --',
        'b 900',
        'b: rank 2 of 3, program 1 of 1 processes, z --',
      ]);
      expect((await mayfly('verify', id)).stdout).toContain('byte for byte');
      expect((await mayfly('jobs', 'show', id)).stdout).toContain('2 × a x : 1 × b z\n');
    } finally {
      job?.child.kill('SIGKILL');
      more.child.kill('SIGTERM');
      await more.ended;
    }
  });

  it('submits sources of C, and programs in TypeScript; a mix of both is refused', async () => {
    const c = await mayfly('submit', '-n', '1', 'a.c', ':', '-n', '1', '--cc-flags', '-O2', 'b.c', 'z');
    const ts = await mayfly('submit', '-n', '1', 'one.ts', 'x', ':', '-n', '1', 'two.ts', 'y', 'z');
    expect([c.stderr, ts.stderr]).toEqual(['', '']);
    expect(await mayfly('wait', c.stdout.trim(), ts.stdout.trim())).toMatchObject({ code: 0 });
    expect(lines((await mayfly('jobs', 'output', ts.stdout.trim())).stdout)).toEqual(['0 x 1', 'two 1 y,z 1']);
    expect(lines((await mayfly('jobs', 'output', c.stdout.trim())).stdout)).toContain('500');
    const mixed = await mayfly('submit', '-n', '1', './a', ':', '-n', '1', 'two.ts');
    expect(mixed).toMatchObject({ code: 2 });
    expect(mixed.stderr).toMatch(/two\.ts is TypeScript and a is WebAssembly: the programs of a job are either all/);
  });

  it.each([
    ['-n 2 ./a :', /program 2, behind ':': the program is missing/],
    ['-n 2 ./a : -n 1', /program 2, behind ':': the program is missing/],
    ['-n 2 ./a : -n 0 ./b', /-n 0: expected a whole number from 1 to 1024/],
    ['-n 2 ./a : -n 1 ./b : -n two ./b', /program 3, behind ':': -n two: expected a whole number/],
    ['-n 2 ./a : -n 1 --protocol none ./b', /--protocol is unknown here.*options of the whole job stand before/s],
    ['-n 2 ./a : -n 1 -genv A 1 ./b', /-genv is for all programs: put it before the first one/],
    ['-n 1024 ./a : -n 1 ./b', /the programs have 1025 ranks together; a job has at most 1024/],
    ['-n 1 ./a : -n 1 ./nothing', /nothing/],
    [': -n 1 ./b', /program 1, before ':': the program is missing/],
    ['-n 1 : -n 1 ./b', /program 1, before ':': the program is missing/],
    ['-n 1 --room NOPE ./a', /NOPE is not the code of a room: .* without I, L, O, 0 and 1/],
  ])('refuses %s', async (words, why) => {
    const r = await mayfly('submit', ...words.split(' '));
    expect(r).toMatchObject({ code: 2, stdout: '' });
    expect(r.stderr).toMatch(why);
  });
});
