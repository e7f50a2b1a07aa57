/** The three forms of a collective, which share one starter: blocking, non-blocking, persistent. */
import { ERR, newSeries, requests } from '@mayfly/mpi';
import { record, type Implementations } from './define.ts';
import { makePersistent, type Starters } from './requests.ts';
import { newSlot } from './slots.ts';
import type { Core } from './core.ts';

export function addForms(core: Core, out: Implementations, starters: Starters, name: string): void {
  const starter = starters[name]!;
  out[name] = {
    start: (...args) => record(name, starter(...args)),
    finish: (r) => {
      const outcome = requests.wait(core.layer, r.request, `MPI_${name}`);
      if (outcome.error) throw core.failed(outcome.error, outcome.comm);
      return ERR.SUCCESS;
    },
  };
  out[`I${name[0]!.toLowerCase()}${name.slice(1)}`] = (...args: number[]) => {
    const at = args[args.length - 1]!;
    core.heap.check(at, 4, 'request');
    core.heap.setInt(at, newSlot(core, starter(...args)), 'request');
    return ERR.SUCCESS;
  };
  out[`${name}_init`] = (...args: number[]) => {
    const comm = core.comm(args[args.length - 3]!);
    return makePersistent(core, name, args.slice(0, -2), args[args.length - 1]!, newSeries(comm));
  };
}
