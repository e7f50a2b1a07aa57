/** The benchmarks, by the names on the command line. */
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
import { parity } from './parity.ts';
import { pingpong } from './pingpong.ts';
import { protocols } from './protocols/command.ts';
import { recovery } from './recovery.ts';
import { reexecution } from './reexecution.ts';
import { sandbox } from './sandbox.ts';
import { scale } from './scale.ts';
import type { BenchName } from './short-names.ts';
import { stall } from './stall.ts';
import { store } from './store.ts';
import { overhead, slowdown } from './slowdown.ts';
import { team } from './team.ts';

/** @returns whether the goals are held */
export const BENCHES: Record<BenchName, (args?: readonly string[]) => Promise<boolean>> = {
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
