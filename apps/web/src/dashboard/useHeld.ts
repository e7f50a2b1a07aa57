/**
 * A list under somebody's eyes: see held.ts. It is made anew when its reader asks, chooses another order, or looks
 * elsewhere.
 */
import { useEffect, useState } from 'react';
import { held, renewed, type Rows, type Things } from './held.ts';

export function useHeld<T>(things: Things<T>, how: { join: boolean; chosen: string }): Rows<T> & { renew(): void } {
  const [kept, setKept] = useState(() => ({ ...renewed(things), things, chosen: how.chosen }));
  const renew = () => setKept({ ...renewed(things), things, chosen: how.chosen });
  let shown = kept;
  // React's way to keep what was shown before: set while drawing, drawn again at once.
  if (kept.things !== things || kept.chosen !== how.chosen) {
    // A list without rows moves nothing when it gets its first.
    shown = {
      ...(kept.chosen !== how.chosen || kept.rows.length === 0 ? renewed(things) : held(kept.rows, things, how.join)),
      things,
      chosen: how.chosen,
    };
    setKept(shown);
  }
  useEffect(() => {
    document.addEventListener('visibilitychange', renew);
    return () => document.removeEventListener('visibilitychange', renew);
  });
  return { ...shown, renew };
}
