/** The paper's figures, and what must hold of every run. */
import type { Verdict } from '../shapes.ts';
import { figure5, figure6 } from './cluster.ts';
import type { Figure } from './figure.ts';
import { figure10, figure9 } from './grid.ts';
import { figure7, figure8 } from './myrinet.ts';
import type { Measured } from './setups.ts';

export const FIGURES: readonly Figure[] = [figure5, figure6, figure7, figure8, figure9, figure10];

/** What must hold of every run: "during the checkpoint wave, no messages are being exchanged" (Pcl, section 3). */
export function property(all: readonly Measured[]): Verdict {
  const pcl = all.filter((m) => !['none', 'vcl'].includes(m.experiment.series));
  const wrong = pcl.filter((m) => m.stateBytes > m.delayedBytes);
  return {
    shape: 'Pcl: the channel state is nothing but sends that were delayed',
    ours: `${pcl.length - wrong.length} of ${pcl.length} runs`,
    holds: wrong.length === 0,
  };
}
