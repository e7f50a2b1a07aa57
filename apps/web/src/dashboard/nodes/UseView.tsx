/**
 * How the slots of one node were used, and how much memory its ranks had, large: read by pointer and arrow keys, and as
 * a table.
 */
import { useState, type KeyboardEvent, type PointerEvent } from 'react';
import { bytes, clock, percent, plural } from '../../shared/format.ts';
import { Plot } from '../job/charts/Plot.tsx';
import { HEIGHT, maxOf, scaleOf, stepsOf, wholeScale } from '../job/charts/plot.ts';
import { K, LOOKS, SHOWN, lastKnown, meanOf, mostSlots, pictureText, sharesText } from './slots.ts';
import { Shares, Stack } from './Stack.tsx';

/** Columns in a row of the table: half a minute. */
const ROW = 6;
const NOTHING = new Uint16Array(SHOWN * K);

interface Props {
  cells: ArrayLike<number> | undefined;
  memory: readonly (number | null)[] | undefined;
  /** End of the newest column, the server's clock; undefined: not read yet. */
  until: number | undefined;
  widthMs: number;
  slots: number;
}

export function UseView({ cells = NOTHING, memory = [], until, widthMs, slots }: Props) {
  /** Column that is read out. */
  const [at, setAt] = useState<number>();
  const last = lastKnown(cells);
  const column = at ?? Math.max(0, last);
  const onKeyDown = (e: KeyboardEvent) => {
    const to = {
      ArrowLeft: column - 1,
      ArrowRight: column + 1,
      Home: 0,
      End: SHOWN - 1,
      PageUp: column - 12,
      PageDown: column + 12,
      Escape: -1,
    }[e.key];
    if (to === undefined) return;
    e.preventDefault();
    setAt(e.key === 'Escape' ? undefined : Math.max(0, Math.min(SHOWN - 1, to)));
  };
  const onPointer = (e: PointerEvent<HTMLDivElement>) => {
    const box = e.currentTarget.getBoundingClientRect();
    setAt(Math.max(0, Math.min(SHOWN - 1, Math.floor(((e.clientX - box.left) / box.width) * SHOWN))));
  };
  const top = Math.max(slots, Math.round(mostSlots(cells)));
  const beginOf = (c: number): number => (until ?? 0) - (SHOWN - c) * widthMs;
  const all = meanOf(cells);
  const ofMemory = scaleOf(maxOf(memory), 'bytes');
  const most = maxOf(memory);
  const timeAt = (c: number): string => (until === undefined ? '\u00a0' : clock(beginOf(c)));
  const times = [timeAt(0), timeAt(SHOWN / 2), timeAt(SHOWN)] as const;
  const cursor = at !== undefined && <rect className="cursor" x={column} width={1} y={0} height={HEIGHT} />;
  return (
    <section className="stack" aria-label="Use of its slots">
      <div>
        <h2>Use of its slots</h2>
        {/* Said aloud when somebody moves, not whenever there is a new column. */}
        <p
          className="muted small num chart-reading"
          aria-live={at === undefined ? 'off' : 'polite'}
          data-testid="use-reading"
        >
          {until === undefined ? '\u00a0' : reading(cells, memory[column], column, beginOf(column), widthMs)}
        </p>
      </div>
      <div
        className="use-chart"
        role="group"
        tabIndex={0}
        aria-label="Use of its slots; the arrow keys move through time"
        onKeyDown={onKeyDown}
        onPointerLeave={() => setAt(undefined)}
      >
        <Plot
          title="Slots"
          hint="what their time went to, by 5 s"
          scale={wholeScale(top)}
          say={(n) => plural(n, 'slot')}
          times={times}
          axis="time of day"
          width={SHOWN}
          onPointer={onPointer}
          label={pictureText(cells, widthMs)}
        >
          <Stack cells={cells} top={top} />
          {cursor}
        </Plot>
        <Shares of={all.known > 0 ? all : undefined} label="Shares of the time that is known" />
        <Plot
          title="Memory"
          hint="of its C and C++ ranks, as of their last MPI calls"
          scale={ofMemory}
          say={bytes}
          nothing={most > 0 ? undefined : 'none reported'}
          times={times}
          axis="time of day"
          width={SHOWN}
          onPointer={onPointer}
          label={most > 0 ? `Memory of its ranks: at most ${bytes(most)}` : 'Memory of its ranks: none reported'}
        >
          <path className="area" d={stepsOf(memory, ofMemory.max, true)} />
          <path className="line-path" d={stepsOf(memory, ofMemory.max)} />
          {cursor}
        </Plot>
      </div>
      <details className="about">
        <summary>As a table</summary>
        {until !== undefined && <Table cells={cells} memory={memory} beginOf={beginOf} />}
      </details>
    </section>
  );
}

/** 'From 14:03:25 to 14:03:30: computing 71 %, idle 29 % of 2 slots'. */
function reading(
  cells: ArrayLike<number>,
  memory: number | null | undefined,
  column: number,
  begin: number,
  widthMs: number,
): string {
  const mean = meanOf(cells, column, column);
  const what = mean.known === 0 ? 'no data' : `${sharesText(mean)} of ${slotsText(mean.known)}`;
  return `From ${clock(begin)} to ${clock(begin + widthMs)}: ${what}${memory ? ` · memory ${bytes(memory)}` : ''}`;
}

/** What is no whole number was not known the whole time. */
const slotsText = (n: number): string =>
  Math.abs(n - Math.round(n)) < 0.06 ? plural(Math.round(n), 'slot') : `${n.toFixed(1)} slots`;

/** Newest first. */
function Table({
  cells,
  memory,
  beginOf,
}: {
  cells: ArrayLike<number>;
  memory: readonly (number | null)[];
  beginOf: (c: number) => number;
}) {
  const rows = Array.from({ length: SHOWN / ROW }, (_, i) => SHOWN - (i + 1) * ROW).filter(
    (c) => meanOf(cells, c, c + ROW - 1).known > 0,
  );
  return (
    <div className="card scroll-x use-table" tabIndex={0} role="region" aria-label="Use of its slots as a table">
      <table className="table num small fixed use-rows" data-testid="use-table">
        <thead>
          <tr>
            <th scope="col" className="c-clock">
              From
            </th>
            {LOOKS.map((l) => (
              <th key={l.kind} scope="col" className="right">
                {l.label}
              </th>
            ))}
            <th scope="col" className="right">
              slots known
            </th>
            <th scope="col" className="right">
              memory
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((c) => {
            const { by, known } = meanOf(cells, c, c + ROW - 1);
            return (
              <tr key={c}>
                <th scope="row" className="keep">
                  {clock(beginOf(c))}
                </th>
                {LOOKS.map((l, k) => (
                  <td key={l.kind} className="right keep">
                    {by[k]! > 0 ? percent(by[k]!, known) : '–'}
                  </td>
                ))}
                <td className="right">{known === 0 ? '–' : known.toFixed(1)}</td>
                <td className="right keep">
                  {maxOf(memory.slice(c, c + ROW)) > 0 ? bytes(maxOf(memory.slice(c, c + ROW))) : '–'}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
