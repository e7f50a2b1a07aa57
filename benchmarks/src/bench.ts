/**
 * `npm run bench -- [name]`: runs one benchmark, or all. Each prints a table and what it does not measure; ratios,
 * never times.
 */
import { parseArgs } from 'node:util';
import { btFaults } from './bt-faults.ts';
import { closed } from './closed.ts';
import { codes } from './codes.ts';
import { compile } from './compile.ts';
import { contention } from './contention.ts';
import { images } from './images.ts';
import { live } from './live.ts';
import { micro } from './micro.ts';
import { nas } from './nas.ts';
import { nodes } from './nodes.ts';
import { overload } from './overload.ts';
import { untilSignal } from './mayfly-side.ts';
import { parity } from './parity.ts';
import { pingpong } from './pingpong.ts';
import { protocols, UsageError } from './protocols/command.ts';
import { recovery } from './recovery.ts';
import { reexecution } from './reexecution.ts';
import { sandbox } from './sandbox.ts';
import { scale } from './scale.ts';
import { stall } from './stall.ts';
import { store } from './store.ts';
import { overhead, slowdown } from './slowdown.ts';
import { team } from './team.ts';

const BENCHES: Record<string, (args?: readonly string[]) => Promise<boolean>> = {
  pingpong,
  contention,
  reexecution,
  images,
  slowdown,
  recovery,
  overhead,
  stall,
  nas,
  'bt-faults': btFaults,
  overload,
  nodes,
  micro,
  live,
  sandbox,
  closed,
  protocols,
  team,
  codes,
  parity,
  compile,
  store,
  scale,
};

const USAGE = `npm run bench -- [name …] [--gb N]
npm run bench -- protocols [options]    (npm run bench -- protocols --help)

Runs these benchmarks, or all: ${Object.keys(BENCHES).join(', ')}.
  --gb N   how many GB "overload" sends (default 4)
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
      options: { gb: { type: 'string' }, help: { type: 'boolean' } },
    });
  } catch (e) {
    throw new UsageError((e as Error).message, { cause: e });
  }
  const { values, positionals: names } = parsed;
  if (values.help) {
    console.log(USAGE);
    return true;
  }
  for (const n of names)
    if (!Object.hasOwn(BENCHES, n))
      throw new UsageError(`unknown benchmark '${n}'; choose from: ${Object.keys(BENCHES).join(', ')}`);
  if (values.gb !== undefined) {
    if (!(Number(values.gb) > 0)) throw new UsageError(`invalid --gb "${values.gb}": expected a number above 0`);
    process.env['MAYFLY_OVERLOAD_BYTES'] = String(Number(values.gb) * 2 ** 30);
  }
  let held = true;
  for (const n of names.length ? names : Object.keys(BENCHES)) held = (await BENCHES[n]!()) && held;
  return held;
}

try {
  process.exit((await untilSignal(() => run(process.argv.slice(2)))) ? 0 : 1);
} catch (e) {
  if (!(e instanceof UsageError)) throw e;
  refuse(e.message);
}
