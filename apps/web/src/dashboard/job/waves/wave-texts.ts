/** Waves and rollbacks of a job under coordinated checkpointing, in words. Pure. */
import type { JobReport, JobView } from '@mayfly/wire';
import { ago, bytes, duration, plural } from '../../../shared/format.ts';
import { faultCause } from '../../status-texts.ts';

/** As the client of REST has them. */
export type Waves = NonNullable<JobReport['waves']> | NonNullable<JobView['waves']>;
export type Wave = Waves['recent'][number];
export type Rollback = Omit<Waves['rolledBack'][number], 'ranks'> & { ranks: readonly number[] };

const CAUSES: Record<string, string> = {
  paused: 'the job was paused',
  server: 'the server was restarted',
  channels: 'a Channel Memory broke',
  image: 'the image of a checkpoint was damaged',
};

/** Why a cluster went back that has not failed: 'it depends on what cluster 1 undoes'. */
const alertText = ({ alertedBy = [] }: { alertedBy?: readonly number[] }): string | undefined =>
  alertedBy.length === 0
    ? undefined
    : alertedBy.length === 1
      ? `it depends on what cluster ${alertedBy[0]!} undoes`
      : `it depends on what clusters ${alertedBy.join(', ')} undo`;

/** 'rank 2 was lost: killed manually'. */
export function rollbackCause(r: Pick<Rollback, 'cause' | 'ranks' | 'alertedBy'>): string {
  const alert = alertText(r);
  if (alert !== undefined) return alert;
  if (r.ranks.length === 0) return CAUSES[r.cause] ?? faultCause(r.cause);
  const who = r.ranks.length === 1 ? `rank ${r.ranks[0]!} was` : `${ranksText(r.ranks)} were`;
  return `${who} lost: ${faultCause(r.cause)}`;
}

const ranksText = (ranks: readonly number[]): string => {
  const sorted = [...ranks].sort((a, b) => a - b);
  return sorted.length > 6 ? `${sorted.length} ranks` : `ranks ${sorted.join(', ')}`;
};

/** 'wave 7', or where it begins without one. */
export const backTo = (wave: number): string => (wave === 0 ? 'the start' : `wave ${wave}`);

/** 'all ranks went back to wave 7: the server was restarted; 4.2 s of work undone'. `ms`: of all ranks. */
export const rollbackText = (e: {
  wave?: number;
  cause?: string;
  ms?: number;
  cluster?: number;
  alertedBy?: readonly number[];
}): string =>
  `${e.cluster === undefined ? 'all ranks' : `cluster ${e.cluster}`} went back to ${backTo(e.wave ?? 0)}: ` +
  (alertText(e) ?? CAUSES[e.cause ?? ''] ?? faultCause(e.cause ?? '')) +
  (e.ms === undefined ? '' : `; ${duration(e.ms)} of work undone`);

export const waveText = (e: { wave?: number; ms?: number; cluster?: number }): string =>
  `wave ${e.wave ?? '?'}${e.cluster === undefined ? '' : ` of cluster ${e.cluster}`} was committed` +
  (e.ms === undefined ? '' : ` after ${duration(e.ms)}`);

/** 'ranks 0 to 3', 'ranks 0, 1, 2, 7'. */
export function membersText(ranks: readonly number[]): string {
  const sorted = [...ranks].sort((a, b) => a - b);
  const [first, last] = [sorted[0] ?? 0, sorted.at(-1) ?? 0];
  if (sorted.length === 1) return `rank ${first}`;
  return last - first + 1 === sorted.length ? `ranks ${first} to ${last}` : `ranks ${sorted.join(', ')}`;
}

/** Of which cluster, where there are some. */
const whose = (w: { cluster?: number | undefined }): string =>
  w.cluster === undefined ? '' : ` of cluster ${w.cluster}`;

/** Messages in the channels, or held back: '4 · 1.2 kB'. */
export const messagesText = (n: number, size: number): string => (n === 0 ? '–' : `${n} · ${bytes(size)}`);

/** Of a job with parity: whether a wave has all its images at the server. Undefined: nothing to tell. */
export const levelText = ({ state, near }: Pick<Wave, 'state' | 'near'>, parity: boolean): string | undefined =>
  !parity || state !== 'committed' ? undefined : near ? 'near: images with the nodes' : 'whole';

/** Where the job stands, in a line. `rests`: it has ended or is paused. */
export function waveLine(w: Waves, now: number, rests: boolean): string {
  const last = w.recent.findLast((x) => x.state === 'committed');
  const newest = w.recent.at(-1);
  const parts = [
    last === undefined
      ? rests
        ? 'No wave was committed.'
        : 'No wave is committed yet.'
      : `Wave ${last.wave}${whose(last)} was committed ${ago(last.at + (last.ms ?? 0), now)} after ${duration(last.ms ?? 0)}: ` +
        `${bytes(last.imageBytes)} of images, ${plural(last.recorded, 'message')} in the channels.`,
  ];
  if (rests) return parts[0]!;
  if (newest?.state === 'underWay') parts.push(`Wave ${newest.wave}${whose(newest)} is under way.`);
  else if (w.nextAt !== undefined)
    parts.push(w.nextAt <= now ? 'The next is due.' : `The next begins in ${duration(roundUp(w.nextAt - now))}.`);
  return parts.join(' ');
}

/** Whole seconds, so that a live page does not flicker. */
const roundUp = (ms: number): number => Math.ceil(ms / 1000) * 1000;

/** A chosen period that is shorter than what a wave takes. */
export const raisedText = (askedMs: number): string => `raised from ${duration(askedMs)}, because one takes so long`;

/** How the time between waves is found, and what all of them came to. */
export function sumsLine(w: Waves): string {
  const period =
    w.periodMs === undefined
      ? undefined
      : `${duration(w.periodMs)} between waves ` +
        `(${w.askedMs === undefined ? (w.chosen ? 'chosen' : 'found from their cost and the losses') : raisedText(w.askedMs)})`;
  const sums = [
    period,
    `${w.committed} committed`,
    w.abandoned > 0 ? `${w.abandoned} abandoned` : undefined,
    plural(w.rollbacks, 'rollback'),
    w.rollbacks > 0 ? `${duration(w.lostMs)} of work undone, all ranks together` : undefined,
  ];
  return sums.filter((s) => s !== undefined).join(' · ');
}
