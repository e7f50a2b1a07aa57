/** What the lesson says of its job. Pure. */
import { LESSON_LAPS, LESSON_RANKS, type LessonView } from '@mayfly/wire';
import { plural } from '../shared/format.ts';

type Rank = Pick<LessonView['ranks'][number], 'rank' | 'incarnation' | 'logged'>;

export const lines = (output: string): string[] => output.split('\n').filter((l) => l !== '');

export const lostText = ({ rank, logged }: Rank): string =>
  `The server noticed that rank ${rank} is gone, and with it its memory and the sum in it. ` +
  `${logged === 0 ? 'Its log is empty so far' : `Its log of ${plural(logged, 'message')} is kept`}. The other ranks ` +
  'do not notice: they wait for messages, as always.';

export const returnText = ({ rank, incarnation, logged }: Rank): string =>
  `Rank ${rank} is back, as incarnation ${incarnation}. It started the program from the beginning` +
  (logged === 0
    ? '. It had received nothing before, so it has nothing to repeat.'
    : ` and received ${logged === 1 ? 'its logged message' : 'its logged messages in the old order'}, so it computed ` +
      'the same sum. What it had sent before was not sent twice.') +
  ' The other ranks never noticed.';

/** The rank that has the token, or in whose log it waits. */
export function holderOf({ ranks, steps, output }: Pick<LessonView, 'ranks' | 'steps' | 'output'>): number {
  if (lines(output).length >= steps) return 0;
  const next = ranks.findIndex((r) => r.rank > 0 && r.logged < steps);
  return next < 0 ? ranks.length - 1 : next - 1;
}

/** `here`: the ranks that have a tab. */
export function nextText(view: LessonView, here: readonly number[]): string {
  const laps = lines(view.output).length;
  const missing = view.ranks.find((r) => !here.includes(r.rank));
  if (missing && view.steps > laps) {
    const at = holderOf(view);
    return (
      `Rank ${missing.rank} has no tab. ` +
      (at === missing.rank ? 'The token waits in its log' : `Rank ${at} has the token`) +
      '. Open another tab: the server gives it the rank, and the lap goes on.'
    );
  }
  if (missing)
    return (
      `Rank ${missing.rank} has no tab. Its log waits on the server. Open another tab, or send the token round and ` +
      `watch it stop before rank ${missing.rank}.`
    );
  if (here.length < LESSON_RANKS || laps < view.steps || !view.ranks.every((r) => r.state === 'running'))
    return 'The ranks are at work.';
  return laps === 0
    ? 'All ranks are ready. Send the token round.'
    : `Lap ${laps} of ${LESSON_LAPS} is done. Close any tab, or send the token round again.`;
}
