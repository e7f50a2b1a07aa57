/**
 * `npm run bench -- [name]`: runs one benchmark, or all. Each prints a table and what it does not measure; ratios,
 * never times.
 */
import { parseArgs } from 'node:util';
import { BENCHES } from './benches.ts';
import { untilSignal } from './mayfly-side.ts';
import { protocols, UsageError } from './protocols/command.ts';
import { BENCH_NAMES, type BenchName } from './short-names.ts';

const USAGE = `npm run bench -- [name …] [--gb N] [--short]
npm run bench -- protocols [options]    (npm run bench -- protocols --help)

Runs these benchmarks, or all: ${BENCH_NAMES.join(', ')}.
  --gb N   how many GB "overload" sends (default 4)
  --short  the least of everything, to see that it runs: goals of time decide nothing, no figure is drawn
  --help   this text

docs/benchmarks.md says what each measures. Exit code: 0, or 1 if a figure is worse than twice its goal, or 2 for a
usage error.`;

function refuse(why: string): never {
  console.error(`bench: ${why}`);
  process.exit(2);
}

async function run(args: readonly string[]): Promise<boolean> {
  if (args[0] === 'protocols') return protocols(args.slice(1));
  let parsed;
  try {
    parsed = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { gb: { type: 'string' }, short: { type: 'boolean' }, help: { type: 'boolean' } },
    });
  } catch (e) {
    throw new UsageError((e as Error).message, { cause: e });
  }
  const { values, positionals: names } = parsed;
  if (values.help) {
    console.log(USAGE);
    return true;
  }
  const known = (n: string): n is BenchName => Object.hasOwn(BENCHES, n);
  for (const n of names)
    if (!known(n)) throw new UsageError(`unknown benchmark '${n}'; choose from: ${BENCH_NAMES.join(', ')}`);
  if (values.gb !== undefined) {
    if (!(Number(values.gb) > 0)) throw new UsageError(`invalid --gb "${values.gb}": expected a number above 0`);
    process.env['MAYFLY_OVERLOAD_BYTES'] = String(Number(values.gb) * 2 ** 30);
  }
  let held = true;
  for (const n of names.length ? names.filter(known) : BENCH_NAMES) held = (await BENCHES[n]()) && held;
  return held;
}

try {
  process.exit((await untilSignal(() => run(process.argv.slice(2)))) ? 0 : 1);
} catch (e) {
  if (!(e instanceof UsageError)) throw e;
  refuse(e.message);
}
