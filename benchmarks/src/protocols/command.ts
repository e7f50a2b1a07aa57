/**
 * `npm run bench -- protocols`: what each protocol costs four programs without losses, and with a loss now and then, as
 * multiples of `none`. Real server, real headless nodes; each answer is compared with that of an undisturbed run under
 * `none`.
 *
 * Runs are interleaved: a round has all programs under all protocols, each once without losses and then with them; the
 * order of the protocols changes from round to round. Everything is compared within its round.
 *
 * The clock also measures what others do on the machine; processor time hardly does, and leaves out waiting.
 *
 * Does not measure: tabs, several machines, a network. All nodes and the server share this machine's processors.
 */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import type { ProtocolName } from '@mayfly/wire';
import { Cluster, same, type Answer, type Losses } from './cluster.ts';
import { PROTOCOL_NAMES } from './names.ts';
import { PROGRAMS, type Program } from './programs.ts';
import { report, type Results } from './report.ts';
import type { Run } from './reckoning.ts';

/** From one checkpoint to the next, ms: the same for all protocols. */
export const CHECKPOINT_MS = 3000;
const USAGE = `npm run bench -- protocols [options]

Measures none, pessimistic, vcl and pcl on NAS BT, NAS CG, heat and a ray tracer (master and workers), on 4 headless
nodes: without losses, and with a loss of a node now and then. Prints ratios to none, and draws docs/figures/protocols-*.svg.

  --programs LIST   of ${PROGRAMS.map((p) => p.name).join(',')} (default: all)
  --rounds N        at most so many rounds (default 3)
  --minutes N       begins no run that would not end within this time (default 20; with --long 150)
  --short           one program and one round of what is there, to see that it runs
  --long            bigger classes, and a loss every 180 s as well
  --seed N          draws when which node is lost (default 1)
  --help            this text

Exit code: 0, or 1 if an answer was not that of the undisturbed run, or 2 for a usage error.
`;

interface Settings {
  readonly programs: readonly Program[];
  readonly rounds: number;
  readonly minutes: number;
  readonly long: boolean;
  readonly seed: number;
  /** s between losses. */
  readonly intervals: readonly number[];
}

export class UsageError extends Error {}

function whole(name: string, text: string, least: number, most: number): number {
  if (!/^\d+$/.test(text) || Number(text) < least || Number(text) > most)
    throw new UsageError(`invalid --${name} "${text}": expected a whole number from ${least} to ${most}`);
  return Number(text);
}

/** Undefined: help is wanted. @throws UsageError */
export function settingsOf(args: readonly string[]): Settings | undefined {
  let values;
  try {
    values = parseArgs({
      args: [...args],
      options: {
        programs: { type: 'string' },
        rounds: { type: 'string' },
        minutes: { type: 'string' },
        long: { type: 'boolean', default: false },
        short: { type: 'boolean', default: false },
        seed: { type: 'string', default: '1' },
        help: { type: 'boolean', default: false },
      },
    }).values;
  } catch (e) {
    throw new UsageError((e as Error).message, { cause: e });
  }
  if (values.help) return undefined;
  const all = PROGRAMS.map((p) => p.name).join(',');
  const programs = [...new Set((values.programs ?? (values.short ? 'cg' : all)).split(','))].map((name) => {
    const program = PROGRAMS.find((p) => p.name === name);
    if (!program)
      throw new UsageError(`unknown program "${name}"; there are ${PROGRAMS.map((p) => p.name).join(', ')}`);
    return program;
  });
  return {
    programs,
    rounds: whole('rounds', values.rounds ?? (values.short ? '1' : '3'), 1, 1000),
    minutes: whole('minutes', values.minutes ?? (values.long ? '150' : '20'), 1, 100_000),
    long: values.long,
    seed: whole('seed', values.seed, 0, 2 ** 31 - 1),
    intervals: values.long ? [20, 60, 180] : values.short ? [20] : [20, 60],
  };
}

/** mulberry32 */
function random(seed: number): () => number {
  let a = seed >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) >>> 0;
    let t = Math.imul(a ^ (a >>> 15), a | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The same losses for all protocols: the first at a drawn moment of the run, then every `every` s. */
function lossesOf(s: Settings, round: number, program: Program, every: number, usual: number): Losses {
  const next = random(s.seed * 7919 + round * 101 + PROGRAMS.indexOf(program) * 17 + every);
  const first = (0.15 + 0.7 * next()) * Math.min(every, usual);
  return { first, every, victims: () => Math.floor(4 * next()) };
}

/** No run is begun that would not end in time. */
class TimeIsUp extends Error {}

class Comparison {
  readonly results: Results;
  private readonly began = performance.now();
  private readonly answers = new Map<Program, Answer>();
  /** s of the shortest run under `none` without losses: a loss that is due later might come after the end. */
  private readonly usual = new Map<Program, number>();

  constructor(
    private readonly cluster: Cluster,
    private readonly s: Settings,
  ) {
    this.results = { runs: new Map(s.programs.map((p) => [p, []])), wrong: [], rounds: 0 };
  }

  async all(): Promise<void> {
    try {
      for (const program of this.s.programs) await this.one(program, 'none', -1);
      for (let round = 0; round < this.s.rounds; round++) {
        const turned = PROTOCOL_NAMES.map((_, i) => PROTOCOL_NAMES[(i + round) % PROTOCOL_NAMES.length]!);
        for (const program of this.s.programs) {
          for (const protocol of turned) await this.one(program, protocol, round);
          for (const every of this.s.intervals)
            for (const protocol of turned) if (protocol !== 'none') await this.one(program, protocol, round, every);
        }
        this.results.rounds++;
      }
    } catch (e) {
      if (!(e instanceof TimeIsUp)) throw e;
      process.stderr.write(`  ${this.clock()}  no time for another run\n`);
    }
  }

  private clock(): string {
    const seconds = Math.round((performance.now() - this.began) / 1000);
    return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')} of ${this.s.minutes}:00`;
  }

  /** Round −1 warms up: it gives the answer that the others have to have, and the usual time. */
  private async one(program: Program, protocol: ProtocolName, round: number, every?: number): Promise<void> {
    const usual = this.usual.get(program) ?? 0;
    // Compiling, replacing a node and a slow protocol take time as well.
    if (performance.now() - this.began + 1000 * (2 * usual + 5) > 60_000 * this.s.minutes) throw new TimeIsUp();
    const losses = every === undefined ? undefined : lossesOf(this.s, round, program, every, usual);
    const options = { protocol, timeLimitMs: 600_000, ...(protocol === 'none' ? {} : { checkpointMs: CHECKPOINT_MS }) };
    const args = this.s.long ? program.long : program.args;
    const done = await this.cluster.run(program, args, options, losses);
    const title = [program.title, protocol, ...(losses ? [`losses: ${done.losses}`] : [])].join(', ');
    const when = round < 0 ? 'warm-up' : `round ${round + 1}`;
    process.stderr.write(
      `  ${this.clock()}  ${when}, ${title}: ${done.took.toFixed(1)} s, processors ${done.processor.toFixed(1)} s\n`,
    );
    if (round < 0) {
      if (!/^(PASS|Verification SUCCESSFUL)/m.test(done.answer.text))
        throw new Error(`${program.title} does not find its own answer right:\n${done.answer.text}`);
      this.answers.set(program, done.answer);
      this.usual.set(program, done.took);
      return;
    }
    if (!same(done.answer, this.answers.get(program)!)) this.results.wrong.push(`${when}, ${title}`);
    if (protocol === 'none') this.usual.set(program, Math.min(usual, done.took));
    const busy = done.processor / availableParallelism();
    const run: Run = { protocol, round, took: done.took, busy, losses: done.losses, ...(every ? { every } : {}) };
    this.results.runs.get(program)!.push(run);
  }
}

/** @returns whether all answers were right */
export async function protocols(args: readonly string[] = []): Promise<boolean> {
  const s = settingsOf(args);
  if (!s) {
    console.log(USAGE);
    return true;
  }
  console.log(`protocols: ${PROTOCOL_NAMES.join(', ')}; ${s.programs.map((p) => p.title).join(', ')}; seed ${s.seed}`);
  const cluster = await Cluster.start();
  try {
    const comparison = new Comparison(cluster, s);
    await comparison.all();
    return await report(comparison.results, s.intervals, CHECKPOINT_MS, s.long);
  } finally {
    await cluster.stop();
  }
}
