/**
 * Tang, Fagg, Dongarra, Proposal of MPI operation level checkpoint/rollback and one implementation (2006): Tables 1 and
 * 2 with the MPI_Ckpt calls on real nodes. That data come back decides; times stand beside.
 */
import { ms, print } from '../../table.ts';
import type { Paper, PaperOptions } from '../paper.ts';
import { EFFORT, LONG, Nodes, RANKS, ROLES, SETTINGS, SIZES, inMemory, roleOf, stable, typical } from './experiment.ts';
import type { Loss, Outcome, Setting } from './experiment.ts';
import { PAPER, outcome, verdicts, type Outcomes } from './tables.ts';

const cell = (x: number | undefined): string => (x === undefined ? '–' : ms(1000 * x));
const pair = ([a, b]: readonly [number | undefined, number | undefined]): [string, string] => [cell(a), cell(b)];
const NONE = [undefined, undefined] as const;

const HEAD = ['', 'recovery', 'checkpoint', 'total', 'rollback', 'total'];
const OURS = ['', 'recovery', 'stands still', 'until whole', 'further', 'rollback'];
type Row = readonly string[];

/** @param which of what the processes printed about losses */
const ours = (what: string, o: Outcome, which: (l: Loss) => boolean, first: boolean): Row => [
  what,
  first && o.expected > 0
    ? cell(
        typical(
          o,
          (l) => l.recovery > 0,
          (l) => l.recovery,
        ),
      )
    : '–',
  ...pair(first ? [o.stands, o.whole] : NONE),
  ...pair(o.losses.some(which) ? [typical(o, which, (l) => l.copy), typical(o, which, (l) => l.rollback)] : NONE),
];

function tables(all: Outcomes | undefined): void {
  const one = (title: string, paper: readonly Row[], of: () => readonly Row[]): void => {
    console.log(`\n${title}: the paper's`);
    print(HEAD, paper);
    if (!all) return;
    console.log(`${title}: ours`);
    print(OURS, of());
  };
  one(
    'Table 1, stable disk',
    SIZES.flatMap(({ name }) =>
      (['old', 'new'] as const).map((who) => {
        const { checkpoint, rollback } = PAPER.stable[name][who];
        const recovery = cell(who === 'old' ? PAPER.recovery[name] : undefined);
        return [`${name} ${who}`, recovery, ...pair(checkpoint ?? NONE), ...pair(rollback)];
      }),
    ),
    () =>
      SIZES.flatMap(({ name }) =>
        [false, true].map((isNew) =>
          ours(`${name} ${isNew ? 'new' : 'old'}`, outcome(all!, stable(name)), (l) => l.isNew === isNew, !isNew),
        ),
      ),
  );
  one(
    'Table 2, one copy in memory',
    SIZES.flatMap(({ name }) =>
      ROLES.map((role) => {
        const { checkpoint, rollback } = PAPER.memory[name][role];
        return [`${name} ${role}`, '–', ...pair(checkpoint ?? NONE), ...pair(rollback)];
      }),
    ),
    () =>
      SIZES.flatMap(({ name }) =>
        ROLES.map((role) =>
          ours(`${name} ${role}`, outcome(all!, inMemory(name, 1)), (l) => roleOf(l) === role, role === 'sender'),
        ),
      ),
  );
  if (!all) return;
  const other = (s: Setting): boolean =>
    s.algorithm === 'memory' && !SIZES.some((z) => s.name === inMemory(z.name, 1).name);
  console.log('\nMore copies, and where memory does not suffice');
  print(
    OURS,
    SETTINGS.filter(other).map((s) => ours(s.name, outcome(all, s), () => true, true)),
  );
}

async function measure(options: PaperOptions): Promise<Outcomes> {
  const all = new Map<string, Outcome>();
  const nodes = await Nodes.start();
  try {
    for (const setting of SETTINGS) {
      const began = performance.now();
      all.set(setting.name, await nodes.run(setting, options.long ? LONG : EFFORT));
      process.stderr.write(`  on nodes: ${setting.name}: ${ms(performance.now() - began)}\n`);
    }
  } finally {
    await nodes.stop();
  }
  return all;
}

async function run(options: PaperOptions): Promise<boolean> {
  console.log(
    options.virtual
      ? '\nThis paper has real nodes only: with --virtual nothing is measured.'
      : `
${RANKS} processes on ${RANKS} headless nodes of this machine. "stands still": MPI_Ckpt_here, where the one before is whole.
"until whole": from one to the next, with nothing in between. "rollback": the first MPI_Rollback (at a new process
MPI_Ckpt_open, too): data are moved, lost copies are made again, and all wait for all. "further": one more, which copies
the process's own data. "recovery": from the error to the end of MPI_Comm_dup; a new process is started in it.`,
  );
  const all = options.virtual ? undefined : await measure(options);
  tables(all);
  if (!all) return true;
  console.log('\nVerdicts');
  let held = true;
  for (const [table, v] of verdicts(all)) {
    const verdict = v.holds ? 'holds' : v.beside === undefined ? 'DOES NOT HOLD' : 'does not hold';
    const beside = v.beside === undefined ? '' : ` (does not decide: ${v.beside})`;
    console.log(`  ${table.padEnd(9)} ${verdict.padEnd(14)} ${v.shape}${beside}\n${' '.repeat(27)}${v.ours}`);
    if (v.beside === undefined) held &&= v.holds;
  }
  return held;
}

export const operationLevel: Paper = {
  name: 'operation-level',
  title: 'Tang et al., Proposal of MPI operation level checkpoint/rollback and one implementation (2006)',
  about: 'Tables 1 and 2: the MPI_Ckpt calls on four real nodes that lose processes; three minutes',
  run,
};
