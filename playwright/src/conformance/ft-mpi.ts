/**
 * `npm run conformance -- --ft-mpi`: FT-MPI's modes (packages/libmpi/conformance/ft-mpi), one program for each
 * communicator mode, each under both message modes, on a real server and headless nodes of one slot each. Processes
 * fail in three ways, before, within and behind collectives; losses are handled by return codes and by an error handler
 * that leaves by longjmp. Then examples/c-pcg-ft loses ranks at drawn calls.
 */
import { join } from 'node:path';
import type { FtModes } from '@mayfly/wire';
import { readExample } from '../client.ts';
import { ROOT } from '../server.ts';
import { drawFaults, sourcesOf, withHeaders, type UlfmRun } from './ulfm.ts';

const FOLDER = join(ROOT, 'packages', 'libmpi', 'conformance', 'ft-mpi');
const MODES: readonly FtModes['communicators'][] = ['abort', 'blank', 'shrink', 'rebuild'];
/** The call of a process that waits for the end of its node; more than it makes before. */
const AT_NODE = 20_000;
const PCG_RANKS = 6;
/** The rank that is lost with its node, in all programs. */
const VICTIM = 2;

/** @returns lines that are wrong */
export async function ftMpi(run: UlfmRun, kills: number): Promise<number> {
  const sources = sourcesOf(FOLDER);
  let wrong = 0;

  async function job(ft: FtModes, how: string, style: string): Promise<void> {
    const name = ft.communicators;
    const source = sources[`${name}.c`]!;
    const ranks = Number(/ranks: (\d+)/.exec(source)![1]);
    // A replacement of the rank that goes with its node needs a slot.
    await run.room(ranks + 1);
    const { id } = await run.client.submit(
      {
        name,
        program: { language: 'c', sources: withHeaders(sources, name), flags: ['-O1'] },
      },
      ranks,
      [
        `messages=${ft.messages}`,
        `how=${how}`,
        `style=${style}`,
        ...(how === 'node' ? [`fault=${VICTIM}:${AT_NODE}`] : []),
      ],
      { protocol: 'app', ft },
    );
    const view = await run.client.ended(id);
    const lines = (await run.client.answer(view)).stdout.flatMap((text) => text.split('\n')).filter((l) => l !== '');
    const problems = lines.filter((l) => !/^\d+ \w+: ok\s*$/.test(l));
    if (name === 'abort') {
      if (view.state !== 'failed') problems.push(`the job is ${view.state}: a loss has to end it`);
    } else {
      for (const [, test] of source.matchAll(/\b(?:RUN\(|PHASE\(\d+, )(\w+)\)/g))
        if (test !== 'name' && !lines.some((l) => l.startsWith(test === 'from_main' ? '2 from_main: ' : `0 ${test}: `)))
          problems.push(`nothing is printed of ${test}`);
      if (view.state !== 'done') problems.push(`the job is ${view.state}: ${JSON.stringify(view.error)}`);
    }
    wrong += problems.length;
    run.say(
      `${name} ${ft.messages}, processes fail by ${how}, ${style}: ${lines.length} lines, ${problems.length} wrong` +
        problems.map((p) => `\n    ${p}`).join(''),
    );
  }

  for (const communicators of MODES)
    for (const messages of ['reset', 'cont'] as const) {
      await job({ communicators, messages }, 'exit', 'return');
      await job({ communicators, messages }, 'trap', 'handler');
      await job({ communicators, messages }, 'node', 'return');
    }

  return wrong + (await solves(run, kills));
}

/**
 * Conjugate gradients with two checksums: any two ranks may be lost at any call, and the answer keeps its bits.
 *
 * @returns runs that are wrong
 */
async function solves(run: UlfmRun, kills: number): Promise<number> {
  const example = await readExample('c-pcg-ft');
  const solve = async (args: string[]): Promise<{ id: string; answer: string }> => {
    await run.room(PCG_RANKS + 2);
    const { id } = await run.client.submit(
      example,
      PCG_RANKS,
      ['--poisson', '24', '--checksums', '2', '--every', '10', ...args],
      { protocol: 'app', ft: { communicators: 'rebuild', messages: 'reset' } },
    );
    const view = await run.client.ended(id);
    const lines = (await run.client.answer(view)).stdout.flatMap((text) => text.split('\n'));
    const answer = lines.filter((l) => /iterations|PASS|FAIL/.test(l)).join('; ');
    return { id, answer: view.state === 'done' ? answer : `${view.state}: ${JSON.stringify(view.error)}` };
  };
  const whole = await solve([]);
  const made = await run.calls(whole.id, PCG_RANKS);
  run.say(`c-pcg-ft: ${whole.answer}`);
  let wrong = /PASS/.test(whole.answer) ? 0 : 1;
  for (let k = 0; k < kills; k++) {
    // Behind its last barrier nobody waits for a lost rank, and its replacement finds nobody.
    const faults = drawFaults(run, made, 2, 10);
    const { answer } = await solve([...faults, '--errors', k % 2 === 0 ? 'return' : 'handler']);
    if (answer !== whole.answer) wrong++;
    run.say(`c-pcg-ft ${faults.join(' ')}: ${answer === whole.answer ? 'the same bits' : answer}`);
  }
  return wrong;
}
