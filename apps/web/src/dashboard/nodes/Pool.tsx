/** All nodes together: how their slots are used now, and were over the last minutes. */
import { useMemo } from 'react';
import { percent, plural } from '../../shared/format.ts';
import { LOOKS, SHOWN, lastKnown, meanOf, mostSlots, sumOf, type Sheet } from './slots.ts';
import { Shares, Spark } from './Stack.tsx';

const COMPUTING = LOOKS.findIndex((l) => l.kind === 'computing');

export function Pool({ sheet }: { sheet: Sheet | undefined }) {
  const sum = useMemo(() => sheet && sumOf(sheet.byNode.values()), [sheet]);
  // A column later than that, nobody is here.
  const last = sum ? lastKnown(sum) : -1;
  const now = sum && last === SHOWN - 1 ? meanOf(sum, last, last) : undefined;
  return (
    <section className="pool" aria-label="Use of all slots">
      <div className="row nowrap apart">
        <p className="num one-line" data-testid="pool">
          {now ? (
            <>
              <b>{percent(now.by[COMPUTING]!, now.known)}</b> of {plural(Math.round(now.known), 'slot')} computing
            </>
          ) : (
            '\u00a0'
          )}
        </p>
        <p className="muted small wide-only pool-when">last 10 minutes</p>
      </div>
      <Spark className="spark wide" cells={sum} top={sum ? mostSlots(sum) : 1} widthMs={sheet?.widthMs ?? 5000} />
      <Shares of={now} label="Shares of all slots’ time in the last seconds" />
    </section>
  );
}
