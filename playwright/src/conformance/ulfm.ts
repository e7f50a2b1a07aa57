/**
 * `npm run conformance -- --ulfm`: programs that lose processes (packages/libmpi/conformance/ulfm), under the protocol
 * `app` on a real server and headless nodes of one slot each. Processes of calls.c fail at given places, in three ways;
 * storm.c loses nodes at calls that are drawn from those that its ranks made without a fault.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { JobView } from '@mayfly/wire';
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

/** @returns lines that are wrong */
export async function ulfm(run: UlfmRun, kills: number): Promise<number> {
  const sources = Object.fromEntries(
    readdirSync(FOLDER).map((f) => [f, readFileSync(join(FOLDER, f), 'utf8')] as const),
  );
  const ranksOf = (name: string): number => Number(/ranks: (\d+)/.exec(sources[`${name}.c`]!)![1]);
  let wrong = 0;

  /** `lost`: ranks that fail, as far as the caller knows. */
  async function job(name: string, args: string[]): Promise<{ id: string; view: JobView; lost: number[] }> {
    const ranks = ranksOf(name);
    await run.room(ranks);
    const { id } = await run.client.submit(
      {
        name,
        program: {
          language: 'c',
          sources: { [`${name}.c`]: sources[`${name}.c`]!, 'ulfm.h': sources['ulfm.h']! },
          flags: ['-O1'],
        },
      },
      ranks,
      args,
      { protocol: 'app' },
    );
    const view = await run.client.ended(id);
    const lost = view.tasks.flatMap((t) => (t.state === 'failed' ? [t.task as number] : []));
    const { stdout } = await run.client.answer(view);
    const lines = stdout.flatMap((text) => text.split('\n')).filter((l) => l !== '');
    const problems = lines.filter((l) => !/^\d+ \w+: ok\s*$/.test(l));
    for (let r = 0; r < ranks; r++)
      for (const test of lost.includes(r) ? [] : testsOf(name))
        if (!lines.some((l) => l.startsWith(`${r} ${test}: `))) problems.push(`rank ${r} says nothing of ${test}`);
    if (view.state !== 'done') problems.push(`the job is ${view.state}: ${JSON.stringify(view.error)}`);
    wrong += problems.length;
    run.say(
      `${name} ${args.join(' ')}: ${lines.length} lines, lost ${lost.length === 0 ? 'nobody' : lost.join(', ')}, ` +
        `${problems.length} wrong${problems.map((p) => `\n    ${p}`).join('')}`,
    );
    return { id, view, lost };
  }
  const testsOf = (name: string): string[] =>
    [...sources[`${name}.c`]!.matchAll(/^ {2}RUN\((\w+)\)/gm)].map((m) => m[1]!).concat(name === 'storm' ? name : []);

  const last = ranksOf('calls') - 1;
  for (const how of ['exit', 'trap', 'node']) {
    const { lost } = await job('calls', [`how=${how}`, ...(how === 'node' ? [`fault=${last}:${AT_NODE}`] : [])]);
    if (lost.length !== 3) wrong += (run.say(`    3 processes fail, not ${lost.length}`), 1);
  }
  const ranks = ranksOf('storm');
  const made = await run.calls((await job('storm', [])).id, ranks);
  for (let k = 0; k < kills; k++) {
    const victims = new Map<number, number>();
    for (let n = 1 + run.draw(3); n > 0; n--) {
      const t = run.draw(ranks);
      victims.set(t, 1 + run.draw(made[t]!));
    }
    await job(
      'storm',
      [...victims].map(([t, n]) => `fault=${t}:${n}`),
    );
  }
  return wrong;
}
