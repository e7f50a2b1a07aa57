/**
 * Running a C or C++ program as one rank, from its start or its image to its end. What one instance of it does is in
 * life.ts, how it ends in ending.ts.
 *
 * Does not own: MPI (binding), WASI (wasi.ts), where an image goes and when one is due (ProcessHost of options.ts).
 */
import { createLayer, world } from '@mayfly/mpi';
import { Cycles } from './cycle.ts';
import { failed } from './ending.ts';
import { Life } from './life.ts';
import { readSection, UnfitModule } from './section.ts';
import type { ProcessOptions } from './options.ts';

/** Runs the program to its end. */
export function runProcess(o: ProcessOptions): never {
  try {
    return lives(o);
  } catch (e) {
    if (!(e instanceof UnfitModule)) throw e;
    // It would be unfit in every incarnation: a result.
    const report = failed({ message: e.message });
    world.sendExit(createLayer(o.host.device), report);
    return o.host.end(report);
  }
}

function lives(o: ProcessOptions): never {
  const section = readSection(o.module);
  const cycles = o.cycle && new Cycles(o.cycle, o.module, section);
  let image = o.restored;
  for (;;) {
    const life = new Life(o, section, image, cycles);
    o.onWaits?.(life);
    const how = life.run();
    if (how.report) return o.host.end(how.report);
    image = how.image;
  }
}
