/**
 * A tab that was on when it was reloaded, or dropped by the browser to save memory, goes on by itself: its person has
 * begun it, and has not stopped it. A tab that is opened anew waits for its click. Owns one entry of sessionStorage:
 * absent when the tab is off, else until when it is paused (0: not).
 */
const KEY = 'mayfly-on';

export function keepOn(pausedUntil: number | undefined): void {
  try {
    sessionStorage.setItem(KEY, String(pausedUntil ?? 0));
  } catch {
    // Storage is off: a reload waits for its click then.
  }
}

export function keepOff(): void {
  try {
    sessionStorage.removeItem(KEY);
  } catch {
    // nothing was kept
  }
}

/** undefined: it begins by a click. */
export function wasOn(): { pausedUntil: number | undefined } | undefined {
  const how = performance.getEntriesByType('navigation')[0] as PerformanceNavigationTiming | undefined;
  if (how?.type !== 'reload' && !(document as { wasDiscarded?: boolean }).wasDiscarded) return undefined;
  try {
    const kept = sessionStorage.getItem(KEY);
    if (kept === null) return undefined;
    const until = Number(kept);
    return { pausedUntil: until > Date.now() ? until : undefined };
  } catch {
    return undefined;
  }
}
