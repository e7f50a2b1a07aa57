/** `npm run papers [-- NAME …]`: what there is, or the figures of papers and whether their shapes hold. */
import { parseArgs } from 'node:util';
import { draw } from '../chart.ts';
import type { Paper, PaperOptions } from './paper.ts';

const USAGE = `npm run papers -- NAME [options]    without a name: lists the papers

  --long           more seeds, sizes and periods; takes many times as long
  --short          the least of everything, to see that it runs: at most a minute
  --seed N         another seed, or the first of several (default 1)
  --sensitivity    also with each guessed parameter halved and doubled, at small sizes
  --write          draws the figures as SVG under docs/figures
  --virtual        virtual time only: starts no nodes
  --files DIR      hc3i: runs its simulator once on topology.json, application.json and timers.json of this directory
  --help           this text

Prints each figure: the paper's number, else its sentence; ours in virtual time; whether the shape or the number holds;
and what real nodes on this machine show of it. Their times do not decide; data that do not come back do. The exit
code is 0 if everything holds, 1 if something does not, 2 for a usage error.
`;

/** @returns the exit code */
export async function papers(args: readonly string[], all: readonly Paper[]): Promise<number> {
  let parsed;
  try {
    parsed = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        long: { type: 'boolean', default: false },
        short: { type: 'boolean', default: false },
        seed: { type: 'string', default: '1' },
        sensitivity: { type: 'boolean', default: false },
        virtual: { type: 'boolean', default: false },
        write: { type: 'boolean', default: false },
        files: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    });
  } catch (e) {
    return refuse((e as Error).message);
  }
  const { values, positionals } = parsed;
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  const seed = Number(values.seed);
  if (!/^\d+$/.test(values.seed) || !Number.isSafeInteger(seed))
    return refuse(`invalid seed "${values.seed}": expected a whole number`);
  for (const name of positionals)
    if (!all.some((p) => p.name === name))
      return refuse(`unknown paper "${name}"; there are ${all.map((p) => p.name).join(', ')}`);
  if (positionals.length === 0) {
    for (const p of all) console.log(`${p.name}\n  ${p.title}\n  ${p.about}`);
    return 0;
  }
  let held = true;
  for (const p of all.filter(({ name }) => positionals.includes(name))) {
    console.log(p.title);
    const { long, sensitivity, virtual, write, files } = values;
    const drawn: PaperOptions['draw'] = write ? draw : () => Promise.resolve();
    held = (await p.run({ long, seed, sensitivity, virtual, files, draw: drawn })) && held;
  }
  console.log(held ? '\nAll shapes hold.' : '\nA shape does not hold: see DOES NOT HOLD above.');
  return held ? 0 : 1;
}

function refuse(why: string): number {
  console.error(`papers: ${why}\n\n${USAGE}`);
  return 2;
}
