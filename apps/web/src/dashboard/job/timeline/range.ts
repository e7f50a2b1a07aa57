/** The part of a run that is on the screen: zoom, pan, follow. Pure; times in ms of the server's clock. */

/** `whole`: from the beginning to now; `live`: the last `span` ms; `fixed`: where the reader has put it. */
export type Mode = 'whole' | 'live' | 'fixed';
export interface Range {
  mode: Mode;
  from: number;
  to: number;
}
export interface Run {
  since: number;
  until: number;
  /** It grows no more: it is as long as it is, however short. */
  ended?: boolean;
}

export const LEAST_SPAN = 2000;

const lengthOf = (run: Run): number => Math.max(run.ended ? 1 : LEAST_SPAN, run.until - run.since);

/** The range as it is now: what follows, follows. */
export function settle(r: Range, run: Run): Range {
  const span = Math.min(Math.max(LEAST_SPAN, r.to - r.from), lengthOf(run));
  if (r.mode === 'whole') return { mode: 'whole', from: run.since, to: run.since + lengthOf(run) };
  if (r.mode === 'live') return { mode: 'live', from: run.since + lengthOf(run) - span, to: run.since + lengthOf(run) };
  const from = Math.min(Math.max(r.from, run.since), run.since + lengthOf(run) - span);
  return { mode: 'fixed', from, to: from + span };
}

/**
 * By this factor around a moment. What shows the end of a run that goes on still follows it; all of it is the whole.
 */
export function zoom(r: Range, run: Run, factor: number, around: number): Range {
  const span = Math.min(Math.max((r.to - r.from) * factor, LEAST_SPAN), lengthOf(run));
  if (span >= lengthOf(run)) return settle({ ...r, mode: 'whole' }, run);
  if (r.mode !== 'fixed' && around >= r.to - (r.to - r.from) * 0.1)
    return settle({ mode: 'live', from: r.to - span, to: r.to }, run);
  const from = around - ((around - r.from) / (r.to - r.from)) * span;
  return settle({ mode: 'fixed', from, to: from + span }, run);
}

/** By ms to the right. Whoever moves beyond the end follows it. */
export function pan(r: Range, run: Run, ms: number): Range {
  if (ms === 0 || r.to - r.from >= lengthOf(run)) return r;
  const follows = ms > 0 && r.to + ms >= run.since + lengthOf(run);
  return settle({ mode: follows ? 'live' : 'fixed', from: r.from + ms, to: r.to + ms }, run);
}

/** Width of a column, a second times a power of two, that is at least `least` px wide. */
export function widthFor(span: number, px: number, least = 2): number {
  let w = 1000;
  while ((w / span) * px < least) w *= 2;
  return w;
}

/** Times on the axis: steps that people like, at least `least` px apart. */
export function stepFor(span: number, px: number, least = 80): number {
  const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 21_600, 43_200, 86_400].map(
    (s) => s * 1000,
  );
  return (
    steps.find((s) => (s / span) * px >= least) ?? Math.ceil(span / Math.max(1, px / least) / 86_400_000) * 86_400_000
  );
}

/** 0:07, 12:30, 1:02:03 after the beginning. `fine`: 0:00.4 in the first ten seconds. */
export function label(ms: number, fine = false): string {
  if (fine && ms < 9950 && ms % 1000 >= 50) return `0:0${(ms / 1000).toFixed(1)}`;
  const s = Math.max(0, Math.round(ms / 1000));
  const two = (n: number): string => String(n).padStart(2, '0');
  const [h, m] = [Math.floor(s / 3600), Math.floor(s / 60) % 60];
  return h > 0 ? `${h}:${two(m)}:${two(s % 60)}` : `${m}:${two(s % 60)}`;
}
