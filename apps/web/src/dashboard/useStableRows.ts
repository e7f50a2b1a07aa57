/**
 * Rows of a list that keep their places while somebody reads it (stable-rows.ts). The list is sorted again when its
 * reader asks for that, chooses another order, or switches to another browser tab.
 */
import { useEffect, useState } from 'react';
import { held, renewed, type Rows, type Things } from './stable-rows.ts';

export function useStableRows<T>(
  things: Things<T>,
  how: { join: boolean; chosen: string },
): Rows<T> & { renew(): void } {
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
