/**
 * The program host by itself: C programs with a handful of MPI functions over an in-memory fabric, with and without a
 * restore at every call.
 */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildModule } from '@mayfly/toolchain/c';
import { CFabric, ok, type RunOptions } from './fabric/index.ts';
import { SCRATCH_HEADER, SCRATCH_SUSPENDING } from './fabric/scratch-binding.ts';

let fabric: CFabric;
beforeAll(() => {
  fabric = new CFabric();
});
afterAll(() => fabric.close());

const suspending = [
  ...SCRATCH_SUSPENDING.map((n) => `env.${n}`),
  'wasi_snapshot_preview1.fd_read',
  'wasi_snapshot_preview1.poll_oneoff',
];
const build = (source: string, flags: string[] = []): Uint8Array =>
  buildModule({ '/main.c': source }, { includes: { 'mpi.h': SCRATCH_HEADER }, suspending, flags }).wasm;
const run = (wasm: Uint8Array, size: number, options: RunOptions = {}) =>
  fabric.run(wasm, size, { scratch: true, ...options });

const RING = `#include <stdio.h>
#include <stdlib.h>
#include "mpi.h"
static double history[64];
typedef int (*step_t)(int, int, double *);
static int deeper(int n, int rank, double *x) {
  int size; double got;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (n > 0) return deeper(n - 1, rank, x) + 1;
  MPI_Send(x, 1, MPI_DOUBLE, (rank + 1) % size, 7, MPI_COMM_WORLD);
  MPI_Recv(&got, 1, MPI_DOUBLE, (rank + size - 1) % size, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  *x = *x * 0.5 + got + rank;
  return 0;
}
int main(int argc, char **argv) {
  int rank, steps = argc > 1 ? atoi(argv[1]) : 5;
  step_t volatile through = deeper;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double *x = malloc(sizeof *x); *x = rank;
  for (int i = 0; i < steps; i++) {
    int d = through(i % 4, rank, x);
    history[i % 64] = *x;
    MPI_Barrier(MPI_COMM_WORLD);
    if (i == steps - 1 || i % 4 == 0) printf("%d: step %d depth %d x %.17g\\n", rank, i, d, *x);
    x = realloc(x, sizeof *x * (i + 2));
  }
  double sum = 0; for (int i = 0; i < 64; i++) sum += history[i];
  printf("%d: %.17g\\n", rank, sum);
  MPI_Finalize();
  return 0;
}`;

const LINES = `#include <stdio.h>
#include <stdlib.h>
#include "mpi.h"
int main(int argc, char **argv) {
  char answer[16];
  MPI_Init(&argc, &argv);
  for (int i = 0; i < 20000; i++) {
    printf("line %d\\n", i);
    if (i % 5000 == 0) fprintf(stderr, "at %d\\n", i);
    if (i == 12000) MPI_Barrier(MPI_COMM_WORLD);
  }
  printf("how many? ");
  fflush(stdout);
  if (!fgets(answer, sizeof answer, stdin)) return 1;
  for (int i = 0; i < 600; i++) printf("%s", answer);
  __builtin_trap();
}`;

describe('output', () => {
  it('of a long run goes in few messages, in order, all of it before what follows, the same in each incarnation', async () => {
    const wasm = build(LINES);
    const once = (options: RunOptions) => run(wasm, 1, { stdin: 'ten\n', ...options }).then(([r]) => r!);
    const calm = await once({});
    expect(calm.exit).toMatchObject({ abort: { code: 'PROGRAM_TRAP' } });
    // A crash shows all that was written before it.
    const lines = Array.from({ length: 20_000 }, (_, i) => `line ${i}\n`);
    expect(calm.stdout).toBe(`${lines.join('')}how many? ${'ten\n'.repeat(600)}`);
    // Order over both streams: a line of one that the other follows ends its message.
    const { written } = calm;
    for (const n of [0, 5000, 10_000, 15_000]) {
      const at = written.indexOf(`err at ${n}\n`);
      expect(written[at - 1]!.endsWith(`line ${n}\n`)).toBe(true);
    }
    // A prompt is out before the answer is read, a line before the call behind it.
    expect(written.filter((m) => m.endsWith('how many? '))).toHaveLength(1);
    expect(written.filter((m) => m.endsWith('line 12000\n'))).toHaveLength(1);
    // At first, lines come as they are printed.
    expect(written.slice(0, 3)).toEqual(['out line 0\n', 'err at 0\n', 'out line 1\n']);
    expect(written.length).toBeLessThan(3000);
    for (const options of [{ cycle: 1, fresh: 1 }, { reenter: true }, { unwind: 1 }])
      expect((await once(options)).written).toEqual(written);
  });
});

describe('a C program', () => {
  it('runs, and gives the same output with an image and a restore in a fresh instance at every call', async () => {
    const wasm = build(RING, ['-O2']);
    const calm = ok(await run(wasm, 4, { args: ['12'] }));
    expect(calm[0]!.stdout).toContain('0: step 11 depth 3 x');
    const cycled = ok(await run(wasm, 4, { args: ['12'], cycle: 1, fresh: 1 }));
    expect(cycled.map((r) => r.stdout)).toEqual(calm.map((r) => r.stdout));
    for (const r of cycled) expect(r.images).toBeGreaterThanOrEqual(3 * 12);
    const reentered = ok(await run(wasm, 4, { args: ['12'], reenter: true }));
    expect(reentered.map((r) => r.stdout)).toEqual(calm.map((r) => r.stdout));
  });

  it('reads standard input, interrupted in the middle of stdio', async () => {
    const wasm = build(`#include <stdio.h>
#include "mpi.h"
      int main(void) { char line[100]; int n = 0, a, b;
        while (fgets(line, sizeof line, stdin)) { n++; printf("<%s", line); if (n == 2) break; }
        printf("%d\\n", scanf("%d %d", &a, &b)); printf("%d %d %d\\n", a, b, getchar()); getchar();
        printf("%d\\n", getchar());
        int rank; MPI_Send(&n, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
        MPI_Recv(&rank, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); return rank; }`);
    const calm = await run(wasm, 1, { stdin: 'first\nsecond\n  12 34\nx' });
    expect(calm[0]).toMatchObject({ exit: { code: 2 }, stdout: '<first\n<second\n2\n12 34 10\n-1\n', died: undefined });
    const cycled = await run(wasm, 1, { stdin: 'first\nsecond\n  12 34\nx', cycle: 1 });
    expect(cycled[0]!.images).toBeGreaterThanOrEqual(2);
    expect({ ...cycled[0], images: 0 }).toEqual({ ...calm[0], images: 0 });
  });

  it('has the same files, draws and sleeps across images, and no image is taken below a callback', async () => {
    const wasm = build(String.raw`#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <dirent.h>
#include <sys/stat.h>
#include <syslog.h>
#include "mpi.h"
static int below, n = 5;
static void callback(void) { int got; below++; MPI_Send(&n, 1, MPI_INT, 0, 9, MPI_COMM_WORLD);
  MPI_Recv(&got, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE); below += got; }
int main(int argc, char **argv) {
  char line[64]; unsigned char random[8]; struct stat st; struct timespec t = {0, 1000000}, before, after;
  FILE *in = fopen("data/in.txt", "r"), *out = fopen("out.txt", "w+");
  for (int i = 0; i < 3; i++) {
    fgets(line, sizeof line, in); fprintf(out, "line %d %s", i, line);
    MPI_Barrier(MPI_COMM_WORLD);
    getentropy(random, 8); fprintf(out, "%02x%02x\n", random[0], random[7]);
    clock_gettime(CLOCK_MONOTONIC, &before); nanosleep(&t, NULL); clock_gettime(CLOCK_MONOTONIC, &after);
    if (after.tv_sec < before.tv_sec) return 9;
    MPIX_Checkpoint_poll();
  }
  fseek(out, 5, SEEK_SET); fputc('!', out); MPI_Pcontrol(callback); MPI_Barrier(MPI_COMM_WORLD);
  fseek(out, 0, SEEK_END); printf("%ld bytes, below %d\n", ftell(out), below); fclose(out);
  rename("out.txt", "result.txt"); mkdir("d", 0777); fclose(fopen("d/x", "w")); MPI_Barrier(MPI_COMM_WORLD);
  DIR *d = opendir("/"); struct dirent *e; while ((e = readdir(d))) printf("%s ", e->d_name); closedir(d);
  FILE *own = tmpfile(); char name[] = "/tmp/aXXXXXX"; int fd = mkstemp(name); fputs("kept", own);
  MPI_Barrier(MPI_COMM_WORLD); rewind(own);
  printf("%s %d %d", fgets(line, sizeof line, own), fd > 2, access(name, F_OK)); fclose(own); close(fd);
  syslog(LOG_ERR, "said %d", fd > 2);
  stat("data/in.txt", &st);
  printf("\n%ld %s %s %d\n", (long)st.st_size, argv[1], getenv("USER"), fopen("none", "r") == NULL);
  return 0;
}`);
    const options: RunOptions = {
      args: ['word'],
      files: { 'data/in.txt': new TextEncoder().encode('one\ntwo\nthree\n') },
    };
    const calm = ok(await run(wasm, 1, options));
    expect(calm[0]!.stdout).toContain('below 6\n. .. d data result.txt tmp kept 1 0\n14 word mayfly 1\n');
    expect(calm[0]!.stderr).toContain('said 1\n');
    expect(Object.keys(calm[0]!.files).sort()).toEqual(['d/x', 'result.txt']);
    expect(new TextDecoder().decode(calm[0]!.files['result.txt'])).toMatch(/^line ! one\n/);
    const cycled = ok(await run(wasm, 1, { ...options, cycle: 1 }));
    expect(cycled[0]!.images).toBeGreaterThan(8);
    expect({ ...cycled[0], images: 0 }).toEqual({ ...calm[0], images: 0 });
  });

  it('gets -1 from growing beyond the limit of the job, always, and its memory across images', async () => {
    const wasm = build(String.raw`#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "mpi.h"
int main(void) { int n = 0; unsigned sum = 0; char *all[64];
  for (; n < 64; n++) { if (!(all[n] = malloc(4 << 20))) break; memset(all[n], n, 4 << 20); MPIX_Checkpoint_poll(); }
  for (int i = 0; i < n; i++) sum += all[i][12345 * i] * 7u;
  printf("%d %u\n", n, sum); return 0; }`);
    const memoryBytes = 48 << 20;
    const calm = ok(await run(wasm, 1, { memoryBytes }));
    const n = Number(calm[0]!.stdout.split(' ')[0]);
    expect(n).toBeGreaterThan(5);
    expect(calm[0]!.stderr).toBe('mayfly: out of memory: the program may have 48 MB, and malloc returns NULL beyond\n');
    expect(n).toBeLessThan(12);
    expect(ok(await run(wasm, 1, { memoryBytes, cycle: 1 }))[0]!.stdout).toBe(calm[0]!.stdout);
  });

  it('that was not made checkpointable ends as a result', async () => {
    const [rank] = await run(new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]), 1);
    expect(rank).toMatchObject({ died: undefined, exit: { code: 1, abort: { code: 'PROGRAM_ERROR' } } });
    expect(rank!.exit!.abort!.message).toContain('has not been made checkpointable');
  });
});

const source = (name: string): string => readFileSync(new URL(`programs/${name}`, import.meta.url), 'utf8');

/** As g++ 12 and MPICH print it; rank r has its left neighbour's numbers. */
const CAUGHT = (left: number): string => `~odd ${left * 10} uncaught 1
~even ${left * 10} uncaught 1
~odd ${left * 10} uncaught 1
~even ${left * 10} uncaught 1
caught bottom 3, then 5
other 2 alive 1
alive 0
virtual 8
pointer 1
text
null 1
copy both! 2
array 3
made 1 function 9
inner 2
outer
again kept
again kept
high over low
out_of_range
out_of_range
out_of_range
invalid_argument
out_of_range
length_error
bad_alloc
bad_cast
exception bad_weak_ptr
system_error 1 asked: Domain error
many 100010000
in flight 0
`;

it(
  'C++: virtual calls; exceptions are caught, with images below try blocks, in handlers and in destructors on ' +
    'the way',
  async () => {
    const { wasm } = buildModule({ '/main.cc': source('exceptions.cc') }, { flags: ['-w'] });
    const calm = ok(await fabric.run(wasm, 2));
    expect(calm.map((r) => r.stdout)).toEqual([`${CAUGHT(1)}end\n`, `${CAUGHT(0)}end\n`]);
    const cycled = ok(await fabric.run(wasm, 2, { cycle: 1 }));
    expect(cycled.map((r) => r.stdout)).toEqual(calm.map((r) => r.stdout));
    expect(cycled[0]!.images).toBeGreaterThan(15);

    const terminated = await fabric.run(wasm, 2, { args: ['noexcept'] });
    expect(terminated[0]).toMatchObject({ stdout: `${CAUGHT(1)}terminated\n`, exit: { code: 7 }, died: undefined });
    const uncaught = await fabric.run(wasm, 2, { args: ['uncaught'] });
    expect(uncaught[1]!.stderr).toBe(
      'mayfly: out of memory: the program may have 1024 MB, and malloc returns NULL beyond\nterminate called ' +
        "after throwing an instance of 'std::runtime_error'\n  what():  disk full\n",
    );
    expect(uncaught[1]!.exit?.abort?.message).toContain('an exception that nobody caught');
    expect(uncaught[1]!.exit?.abort?.stack).toContain('main');
  },
);

it('an error handler may leave its call by longjmp', async () => {
  const { wasm } = buildModule({ '/main.c': source('handler-jumps.c') });
  for (const { calls, ...cycle } of [{ calls: 20_000 }, { calls: 20, cycle: 1 }]) {
    const ranks = ok(await fabric.run(wasm, 2, { ...cycle, args: [String(calls)] }));
    // MPI_ERR_OP, MPI_ERR_ROOT out of the handler's own call, MPI_ERR_OP.
    const classes = [10, 8, 10].map((c) => `class ${c}, sum 3\n`).join('');
    expect(ranks[1]!.stdout).toBe(`${classes}seen ${calls + 4}, heap 1\nlast 2\n`);
  }
});

it('setjmp and longjmp', async () => {
  const { wasm } = buildModule({ '/main.c': source('jumps.c') });
  for (const cycle of [{}, { cycle: 1 }]) {
    const ranks = ok(await fabric.run(wasm, 2, cycle));
    expect(ranks[0]!.stdout).toBe('value 0 times 1\nvalue 42 times 2\nvalue 42 times 3\nzero is one 3\nsignal 1\n');
  }
});

it('devices open, also by freopen, and stay open across images', async () => {
  const wasm = build(`#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "mpi.h"
int main(void) {
  unsigned char zeros[4] = {1, 1, 1, 1}, some[4] = {0}, more[4] = {0};
  FILE *null = fopen("/dev/null", "w"), *zero = fopen("/dev/zero", "r"), *chance = fopen("/dev/urandom", "r");
  FILE *again = fopen("/dev/stdout", "w"), *err = fopen("/dev/stderr", "w"), *full = fopen("/dev/full", "w");
  if (!null || !zero || !chance || !again || !err || !full) return 1;
  setvbuf(chance, NULL, _IONBF, 0);
  int n = (int)fread(some, 1, 4, chance);
  MPI_Barrier(MPI_COMM_WORLD);
  n += (int)fread(more, 1, 4, chance) + (int)fread(zeros, 1, 4, zero);
  fprintf(null, "nowhere\\n"); fprintf(full, "nowhere\\n");
  printf("%d %d %d %d %d\\n", n, zeros[0] + zeros[3], memcmp(some, more, 4) != 0, fclose(null), fclose(full));
  for (int i = 0; i < 4; i++) printf("%02x", some[i] ^ more[i]);
  printf("\\n"); fflush(stdout);
  fprintf(again, "by name\\n"); fclose(again);
  fprintf(err, "wrong\\n"); fclose(err);
  if (!freopen("/dev/null", "w", stdout)) return 2;
  printf("unseen\\n"); fflush(stdout);
  MPI_Barrier(MPI_COMM_WORLD);
  printf("unseen\\n");
  return unlink("/dev/null") == 0 ? 3 : 0;
}`);
  const calm = ok(await run(wasm, 1));
  expect(calm[0]!.stdout).toMatch(/^12 0 1 0 -1\n[0-9a-f]{8}\nby name\n$/);
  expect(calm[0]!.stderr).toContain('wrong\n');
  const moved = ok(await run(wasm, 1, { cycle: 1, fresh: 1 }));
  expect(moved[0]!.images).toBeGreaterThan(1);
  expect(moved[0]!.stdout).toBe(calm[0]!.stdout);
});

it('a frame larger than the stack traps with the option that enlarges it', async () => {
  const wasm = build(`#include <string.h>
#include "mpi.h"
__attribute__((noinline)) static double large(int n) {
  double a[700000];
  memset(a, n, sizeof a);
  MPI_Barrier(MPI_COMM_WORLD);
  return a[n];
}
int main(int argc, char **argv) { return large(argc) > 1; }`);
  const [r] = await run(wasm, 1);
  expect(r!.exit).toMatchObject({ abort: { code: 'PROGRAM_TRAP' } });
  expect(JSON.stringify(r!.exit)).toContain('-Wl,-z,stack-size');
});
