import { useEffect, useState } from 'react';

/** The time, again every `everyMs` while `ticking`; all ages on a page come from one such clock. */
export function useNow(everyMs = 1000, ticking = true): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!ticking) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs, ticking]);
  return now;
}
