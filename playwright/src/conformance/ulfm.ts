/**
 * `npm run conformance -- --ulfm`: programs that lose processes (packages/libmpi/conformance/ulfm), under the protocol
 * `app` on a real server and headless nodes of one slot each. Processes of calls.c fail at given places, in three ways;
 * storm.c loses nodes at calls that are drawn from those that its ranks made without a fault.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { JobOptions, JobView } from '@mayfly/wire';
import type { Client } from '../client.ts';
import { ROOT } from '../server.ts';

const FOLDER = join(ROOT, 'packages', 'libmpi', 'conformance', 'ulfm');
/** The call of a process that waits for the end of its node; more than it makes before. */
const AT_NODE = 20_000;

export interface UlfmRun {
  readonly client: Client;
  /** Slots for so many ranks, on nodes of one slot each. */
  room(ranks: number): Promise<void>;
  /** Calls that each rank of a job made which nobody disturbed. */
  calls(job: string, ranks: number): Promise<number[]>;
  draw(n: number): number;
  say(line: string): void;
}

/**
 * Losses at drawn calls.
 * @param made calls of each rank in an undisturbed run, of which nobody is lost in the last `spare`
 * @param most ranks that are lost, at least one
 * @returns arguments of the program
 */
export function drawFaults(run: Pick<UlfmRun, 'draw'>, made: readonly number[], most: number, spare = 0): string[] {
  const victims = new Map<number, number>();
  for (let n = 1 + run.draw(most); n > 0; n--) {
    const t = run.draw(made.length);
    victims.set(t, 1 + run.draw(made[t]! - spare));
  }
  return [...victims].map(([t, n]) => `fault=${t}:${n}`);
}

/** The files of a folder of programs by name, with the headers of other folders, and losing.h beside all of them. */
export function sourcesOf(folder: string, ...headers: string[]): Record<string, string> {
  const files = [folder, ...headers].flatMap((at) =>
    readdirSync(at)
      .filter((f) => at === folder || f.endsWith('.h'))
      .map((f) => join(at, f)),
  );
  files.push(join(folder, '..', 'losing.h'));
  return Object.fromEntries(files.map((f) => [basename(f), readFileSync(f, 'utf8')]));
}

/** A program and all headers. */
export const withHeaders = (sources: Record<string, string>, name: string): Record<string, string> =>
  Object.fromEntries(Object.entries(sources).filter(([f]) => f === `${name}.c` || f.endsWith('.h')));

/** Programs of a folder that lose processes, as jobs; what they say of their tests is judged. */
export class Losing {
  wrong = 0;
  private readonly sources: Record<string, string>;

  /** @param headers folders of the headers that they include */
  constructor(
    private readonly run: UlfmRun,
    folder: string,
    ...headers: string[]
  ) {
    this.sources = sourcesOf(folder, ...headers);
  }

  ranksOf(name: string): number {
    return Number(/ranks: (\d+)/.exec(this.sources[`${name}.c`]!)![1]);
  }
  private testsOf(name: string): string[] {
    const tests = [...this.sources[`${name}.c`]!.matchAll(/^ {2}RUN\((\w+)\)/gm)].map((m) => m[1]!);
    return tests.length > 0 ? tests : [name];
  }

  /**
   * @param args `ranks=` is the size of the job, where that is not the program's own
   * @param replaced a lost rank has a replacement, which says the same
   * @returns `lost`: ranks that fail, as far as the caller knows
   */
  async job(
    name: string,
    args: string[],
    replaced = false,
    options: JobOptions = {},
  ): Promise<{ id: string; view: JobView; lost: number[] }> {
    const { run, sources } = this;
    const ranks = Number(/^ranks=(\d+)$/m.exec(args.join('\n'))?.[1] ?? this.ranksOf(name));
    await run.room(ranks);
    const { id } = await run.client.submit(
      {
        name,
        program: {
          language: 'c',
          sources: withHeaders(sources, name),
          flags: ['-O1'],
        },
      },
      ranks,
      args,
      { protocol: 'app', ...options },
    );
    const view = await run.client.ended(id);
    const lost = view.tasks.flatMap((t) => (t.state === 'failed' ? [t.task as number] : []));
    const { stdout } = await run.client.answer(view);
    const lines = stdout.flatMap((text) => text.split('\n')).filter((l) => l !== '');
    const problems = lines.filter((l) => !/^\d+ \w+: ok\s*$/.test(l));
    for (let r = 0; r < ranks; r++)
      for (const test of lost.includes(r) && !replaced ? [] : this.testsOf(name))
        if (!lines.some((l) => l.startsWith(`${r} ${test}: `))) problems.push(`rank ${r} says nothing of ${test}`);
    if (view.state !== 'done') problems.push(`the job is ${view.state}: ${JSON.stringify(view.error)}`);
    this.wrong += problems.length;
    run.say(
      `${name} ${args.join(' ')}: ${lines.length} lines, lost ${lost.length === 0 ? 'nobody' : lost.join(', ')}, ` +
        `${problems.length} wrong${problems.map((p) => `\n    ${p}`).join('')}`,
    );
    return { id, view, lost };
  }

  /** So many processes have to fail. */
  expect(lost: readonly number[], count: number): void {
    if (lost.length === count) return;
    this.wrong++;
    this.run.say(`    ${count} processes fail, not ${lost.length}`);
  }
}

/** @returns lines that are wrong */
export async function ulfm(run: UlfmRun, kills: number, wanted = (_program: string): boolean => true): Promise<number> {
  const programs = new Losing(run, FOLDER);
  const last = programs.ranksOf('calls') - 1;
  for (const how of wanted('calls') ? ['exit', 'trap', 'node'] : []) {
    const { lost } = await programs.job('calls', [
      `how=${how}`,
      ...(how === 'node' ? [`fault=${last}:${AT_NODE}`] : []),
    ]);
    programs.expect(lost, 3);
  }
  if (!wanted('storm')) return programs.wrong;
  const ranks = programs.ranksOf('storm');
  const made = await run.calls((await programs.job('storm', [])).id, ranks);
  for (let k = 0; k < kills; k++) await programs.job('storm', drawFaults(run, made, 3));
  return programs.wrong;
}
