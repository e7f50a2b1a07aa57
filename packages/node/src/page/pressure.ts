/**
 * How a tab eases off while the processor is under pressure (Compute Pressure API), and takes its share again when it
 * is calm. Pure: states and times are inputs. A part of the pressure is this tab's own: halving until it is gone, and
 * doubling slowly, finds a share at which it is.
 */
export type Pressure = 'nominal' | 'fair' | 'serious' | 'critical';

export interface Ease {
  /** Of the chosen share. */
  readonly factor: 1 | 0.5 | 0.25;
  readonly pressed: boolean;
  /** When `pressed` or `factor` last changed. */
  readonly since: number;
}

export const PRESSED_MS = 10_000;
export const CALM_MS = 60_000;
export const AT_EASE: Ease = { factor: 1, pressed: false, since: 0 };

/** What follows from the newest state (undefined: no news) at this time. */
export function eased(e: Ease, state: Pressure | undefined, now: number): Ease {
  const pressed = state === undefined ? e.pressed : state === 'serious' || state === 'critical';
  if (pressed !== e.pressed) return { ...e, pressed, since: now };
  const due = nextEase(e, now);
  if (due === undefined || due > 0) return e;
  return { factor: pressed ? (e.factor === 1 ? 0.5 : 0.25) : e.factor === 0.25 ? 0.5 : 1, pressed, since: now };
}

/** ms until {@link eased} changes something without news; undefined: never. */
export function nextEase(e: Ease, now: number): number | undefined {
  if (e.pressed ? e.factor === 0.25 : e.factor === 1) return undefined;
  return Math.max(0, e.since + (e.pressed ? PRESSED_MS : CALM_MS) - now);
}

/** Continues “Working: …”; undefined at ease. */
export const easeWords = (e: Ease): string | undefined =>
  e.factor === 1
    ? undefined
    : `the processor is busy or hot, so ranks here take ${e.factor === 0.5 ? 'half' : 'a quarter'} of their ` +
      'share until it recovers';
