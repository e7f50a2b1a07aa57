/**
 * `npm run bench -- [name]`: runs one benchmark, or all. Each prints a table and what it does not measure; ratios,
 * never times.
 */
import { btFaults } from './bt-faults.ts';
import { closed } from './closed.ts';
import { contention } from './contention.ts';
import { images } from './images.ts';
import { live } from './live.ts';
import { micro } from './micro.ts';
import { nas } from './nas.ts';
import { overload } from './overload.ts';
import { pingpong } from './pingpong.ts';
import { recovery } from './recovery.ts';
import { reexecution } from './reexecution.ts';
import { sandbox } from './sandbox.ts';
import { stall } from './stall.ts';
import { overhead, slowdown } from './slowdown.ts';

const BENCHES: Record<string, () => Promise<boolean>> = {
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
  micro,
  live,
  sandbox,
  closed,
};

const names = process.argv.slice(2);
const gb = names.indexOf('--gb');
if (gb >= 0) process.env['MAYFLY_OVERLOAD_BYTES'] = String(Number(names.splice(gb, 2)[1]) * 2 ** 30);
for (const n of names)
  if (!(n in BENCHES)) {
    console.error(`unknown benchmark '${n}'; choose from: ${Object.keys(BENCHES).join(', ')}`);
    process.exit(2);
  }
let held = true;
for (const n of names.length ? names : Object.keys(BENCHES)) held = (await BENCHES[n]!()) && held;
process.exit(held ? 0 : 1);
