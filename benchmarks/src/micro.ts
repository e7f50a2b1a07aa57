/**
 * Microbenchmarks in the manner of the well-known suites: latency, bandwidth, several pairs, every collective
 * (blocking, non-blocking, of neighbours, some persistent) by size and ranks, derived datatypes against a loop in the
 * same program, one-sided operations; on headless nodes, and the same C source under native MPICH over TCP in the same
 * run.
 *
 * MPICH is Debian's (device ch4:ucx), kept off shared memory (MPIR_CVAR_NOLOCAL) and on UCX's tcp transport over the
 * loopback. Its waits spin: with more ranks than processors its own figures are those of a crowded machine.
 *
 * Does not measure: tabs, wide-area links, several ranks per node where there are not more ranks than nodes.
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { draw } from './chart.ts';
import { MayflySide, ROOT } from './mayfly-side.ts';
import { quick, usually } from './short.ts';
import { bytes, print, times } from './table.ts';

/** Seconds per measurement, and for one run of the program: what does not fit is left out, and said to be. */
const EACH = process.env['MAYFLY_MICRO_S'] ?? usually('0.05', '0.0002');
const LIMIT = process.env['MAYFLY_MICRO_LIMIT_S'] ?? usually('25', '2');
const RUNS: readonly { ranks: number; parts: string[] }[] = [
  { ranks: 2, parts: ['types', 'p2p', 'onesided'] },
  { ranks: 4, parts: ['collectives'] },
  { ranks: 4, parts: ['nonblocking'] },
  { ranks: 4, parts: ['neighbours'] },
  { ranks: 8, parts: ['collectives'] },
  { ranks: 8, parts: ['nonblocking'] },
  { ranks: 8, parts: ['neighbours'] },
];
const NODES = 4;
/** Packing is to cost what the loop costs. */
const PACK_GOAL = 1;

/** Microseconds by 'name bytes ranks'. */
type Figures = Map<string, number>;

function read(text: string): Figures {
  const out: Figures = new Map();
  for (const line of text.split('\n')) {
    const m = /^(\w+) (\d+) (\d+) ([\d.]+)$/.exec(line);
    if (m) out.set(`${m[1]} ${m[2]} ${m[3]}`, Number(m[4]));
  }
  return out;
}

/**
 * Under mpiexec, which is ended when all is measured (MPI_Finalize over UCX's TCP can wait for ever); what it had
 * printed when the time was over counts.
 */
async function native(program: string, ranks: number, args: string[]): Promise<Figures> {
  const child = spawn('mpiexec', ['-n', String(ranks), program, ...args], {
    env: { ...process.env, MPIR_CVAR_NOLOCAL: '1', UCX_TLS: 'tcp,self' },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let text = '';
  child.stdout.on('data', (d: Buffer) => {
    text += d.toString();
    if (text.endsWith('done\n')) child.kill('SIGTERM');
  });
  const late = setTimeout(() => child.kill('SIGTERM'), 1000 * (Number(LIMIT) + 15));
  await new Promise((r) => child.once('close', r));
  clearTimeout(late);
  return read(text);
}

export async function micro(): Promise<boolean> {
  const dir = await mkdtemp(join(tmpdir(), 'mayfly-micro-'));
  const built = spawnSync('mpicc', ['-O2', '-o', join(dir, 'micro'), join(ROOT, 'benchmarks', 'programs', 'micro.c')], {
    encoding: 'utf8',
  });
  const peer =
    built.status === 0
      ? /Version:\s*(\S+)/.exec(spawnSync('mpiexec', ['--version'], { encoding: 'utf8' }).stdout)?.[1]
      : undefined;
  console.log(
    peer
      ? `micro: one operation, against MPICH ${peer} over TCP (ch4:ucx, UCX_TLS=tcp, no shared memory)`
      : 'micro: one operation, without ratios: no native MPI found (mpicc, mpiexec)',
  );
  const ours: Figures = new Map();
  const theirs: Figures = new Map();
  const side = await MayflySide.start();
  try {
    await side.headless(NODES, Math.ceil(Math.max(...RUNS.map((r) => r.ranks)) / NODES));
    for (const { ranks, parts } of RUNS) {
      const args = [EACH, LIMIT, ...parts];
      const id = await side.submitC('micro', ranks, args);
      await side.done(id);
      for (const [k, v] of read(await side.text(`/api/jobs/${id}/tasks/0/stdout`))) ours.set(k, v);
      if (peer) for (const [k, v] of await native(join(dir, 'micro'), ranks, args)) theirs.set(k, v);
    }
  } finally {
    await side.stop();
    await rm(dir, { recursive: true, force: true });
  }
  return report(ours, theirs);
}

const shown = (us: number | undefined): string =>
  us === undefined
    ? '–'
    : us < 10
      ? `${us.toFixed(2)} µs`
      : us < 10_000
        ? `${us.toFixed(0)} µs`
        : `${(us / 1000).toFixed(1)} ms`;
const rate = (size: number, us: number | undefined): string =>
  us === undefined ? '–' : `${(size / us).toFixed(0)} MB/s`;

async function report(ours: Figures, theirs: Figures): Promise<boolean> {
  const rows: string[][] = [];
  const series = new Map<string, [number, number][]>();
  for (const [key, us] of ours) {
    const [name, size, ranks] = key.split(' ') as [string, string, string];
    if (name.startsWith('type_') || name.startsWith('loop_')) continue;
    const other = theirs.get(key);
    const streams = ['bandwidth', 'bidirectional', 'multi_pair'].includes(name);
    const show = (v: number | undefined): string =>
      streams && Number(size) >= 1024 ? rate(Number(size), v) : shown(v);
    rows.push([name, ranks, bytes(Number(size)), show(us), show(other), other === undefined ? '–' : times(us / other)]);
    if (
      other !== undefined &&
      Number(size) > 0 &&
      ['latency', 'bandwidth', 'bcast', 'allreduce', 'alltoall'].includes(name) &&
      Number(ranks) <= 4
    )
      series.set(name, [...(series.get(name) ?? []), [Number(size), us / other]]);
  }
  print(['operation', 'ranks', 'size', 'nodes', 'MPICH', 'ratio of times'], rows);

  console.log('\n  packing 64 KB by a derived type, against a loop of the same program');
  let held = true;
  const packs: string[][] = [];
  for (const [key, us] of ours) {
    const loop = ours.get(key.replace('type_', 'loop_'));
    if (!key.startsWith('type_') || loop === undefined) continue;
    const [nt, nl] = [theirs.get(key), theirs.get(key.replace('type_', 'loop_'))];
    if (us / loop > 2 * PACK_GOAL) held = false;
    packs.push([
      key.split(' ')[0]!.slice(5),
      shown(us),
      shown(loop),
      times(us / loop),
      nt !== undefined && nl !== undefined ? times(nt / nl) : '–',
    ]);
  }
  print(['shape', 'type', 'loop', 'ratio', 'MPICH: ratio'], packs);
  if (series.size > 0)
    await draw('micro', {
      title: 'One operation on headless nodes, as a multiple of native MPICH over TCP',
      x: { label: 'message', log: true, format: bytes },
      y: { label: 'times' },
      series: [...series].map(([name, points]) => ({ name, points })),
    });
  return quick(held);
}
