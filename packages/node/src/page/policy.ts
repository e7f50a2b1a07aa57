/** When a volunteer's wishes forbid to compute now, and why. Pure: times and circumstances are inputs. */

/**
 * Every day from one time to the other, in minutes after midnight by this machine's clock; past midnight where `to` is
 * not after `from`. The same twice: all day.
 */
export interface Hours {
  from: number;
  to: number;
}

export interface Wishes {
  /** Compute only while the machine is plugged in. */
  onlyCharging: boolean;
  /** Compute only while this page can be seen. */
  onlyVisible: boolean;
  /** Compute only while this machine is not in use (where the browser can detect that). */
  onlyIdle?: boolean;
  /** Take less than the chosen share while the processor is under pressure (where the browser reports that). */
  easeOff?: boolean;
  /** Compute only during these hours. */
  hours?: Hours | undefined;
  /** Paused by a person: until this moment (ms since the epoch), or Infinity. */
  pausedUntil: number | undefined;
}

export const NO_WISHES: Wishes = { onlyCharging: false, onlyVisible: false, pausedUntil: undefined };

export interface Circumstances {
  now: number;
  visible: boolean;
  /** Since when it is as visible as it is. */
  visibleSince: number;
  /** Absent: this machine or browser does not say. */
  battery?: { charging: boolean; level: number } | undefined;
  /** The machine is not in use. Absent: the browser does not report it, or may not. */
  away?: boolean | undefined;
}

/** Below this and not charging, no new ranks are taken. */
const LOW_BATTERY = 0.2;
/** A glance at another tab is no reason to give ranks back. */
export const GLANCE_MS = 5000;

const DAY = 24 * 60;
const minuteOf = (now: number): number => new Date(now).getHours() * 60 + new Date(now).getMinutes();
/** From one time of the day on to another, around midnight. */
const ahead = (from: number, to: number): number => (to - from + DAY) % DAY;

const within = (h: Hours, now: number): boolean =>
  h.from === h.to || ahead(h.from, minuteOf(now)) < ahead(h.from, h.to);

/** 07:05 */
export const timeOfDay = (minute: number): string =>
  `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`;

/** Why nothing is computed now, in words that continue “Paused: …”; undefined: nothing is in the way. */
export function holdOf(w: Wishes, c: Circumstances): string | undefined {
  if (w.pausedUntil !== undefined && w.pausedUntil > c.now) {
    if (w.pausedUntil === Infinity) return 'by you, until you press Resume';
    return (
      'by you, until ' +
      `${new Date(w.pausedUntil).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' })}`
    );
  }
  if (w.hours && !within(w.hours, c.now)) return `outside your chosen hours; resumes at ${timeOfDay(w.hours.from)}`;
  if (w.onlyCharging && c.battery && !c.battery.charging) return 'this machine is on battery; resumes when it charges';
  if (w.onlyVisible && !c.visible && c.now - c.visibleSince >= GLANCE_MS)
    return 'this page is hidden; resumes when you come back';
  if (w.onlyIdle && c.away === false) return 'somebody is using this machine; resumes after a minute without use';
  return undefined;
}

/** Ranks that are here continue, but the node takes no more. */
export const lowBattery = (c: Pick<Circumstances, 'battery'>): boolean =>
  c.battery !== undefined && !c.battery.charging && c.battery.level < LOW_BATTERY;

/** ms until {@link holdOf} may say something else without an event; undefined: only an event changes it. */
export function nextLook(w: Wishes, c: Circumstances): number | undefined {
  const times: number[] = [];
  if (w.pausedUntil !== undefined && w.pausedUntil !== Infinity && w.pausedUntil > c.now)
    times.push(w.pausedUntil - c.now);
  // Clocks are changed and machines sleep: looked at every minute.
  if (w.hours) times.push(60_000 - (c.now % 60_000));
  if (w.onlyVisible && !c.visible) times.push(c.visibleSince + GLANCE_MS - c.now);
  const left = times.filter((t) => t > 0);
  return left.length > 0 ? Math.min(...left) : undefined;
}
