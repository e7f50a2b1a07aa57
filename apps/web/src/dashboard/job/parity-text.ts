/** What the pages say of the parity of a job's images (docs/codes.md). Pure. */
import type { ParityView } from '@mayfly/wire';
import { bytes, plural } from '../../shared/format.ts';

const verb = (n: number): string => (n === 1 ? 'was' : 'were');

/** `rests`: the job has ended or is paused, so that nothing can be lost. */
export function parityLine(p: ParityView, rests: boolean): string {
  const now = `${p.protectedRanks} of ${plural(p.ranks, 'rank')} protected`;
  const spare =
    p.spare > 0
      ? `${plural(p.spare, 'more tab or node', 'more tabs or nodes')} may close at once, with all ${p.spare === 1 ? 'its' : 'their'} ranks, without the checkpoints at the server`
      : `no tab may close yet without the checkpoints at the server (${now})`;
  const saved =
    p.images === 0
      ? []
      : [
          `${plural(p.images, 'checkpoint')} stayed with the nodes, which saved ${bytes(p.savedBytes)} at the server (${bytes(p.sentBytes)} came there)`,
        ];
  const rebuilt = p.rebuilt === 0 ? [] : [`${plural(p.rebuilt, 'lost checkpoint')} ${verb(p.rebuilt)} made again`];
  const fell =
    p.fellBack === 0
      ? []
      : [
          `${plural(p.fellBack, 'restart')} took the checkpoint at the server instead` +
            (p.reason === undefined ? '' : ` (${p.reason})`),
        ];
  const parts = [...(rests ? [] : [spare]), ...saved, ...rebuilt, ...fell];
  return parts.length === 0 ? '' : `Parity: ${parts.join('; ')}.`;
}
