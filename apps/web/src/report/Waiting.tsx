/**
 * What the time of waiting went to: by MPI call, and by the place of the program that made the call. Rows keep their
 * places while it grows.
 */
import { useMemo, type ReactNode } from 'react';
import { useStableRows } from '../dashboard/useStableRows.ts';
import { count, duration } from '../shared/format.ts';
import { callsOf, placesOf, share, time, type CallSum, type PlaceSum, type RankTimes } from './profile.ts';

interface WaitingProps {
  ranks: readonly RankTimes[];
  /** ms of all ranks, whatever they did. */
  all: number;
  watched: boolean;
}

interface Column<T> {
  title: string;
  className?: string;
  cell: (row: T) => ReactNode;
}

/** Not every wait is a call of MPI. */
export const Call = ({ name }: { name: string }) =>
  name.startsWith('MPI_') ? <span className="mono">{name}</span> : <>{name === 'stdin' ? 'standard input' : name}</>;

const callKey = (c: CallSum): string => c.call;
const placeKey = (p: PlaceSum): string => `${p.call} ${p.place}`;

export function ByCall({ ranks, all, watched }: WaitingProps) {
  const sums = useMemo(() => callsOf(ranks), [ranks]);
  return (
    <Sums
      by="MPI call"
      id="profile-calls"
      sums={sums}
      idOf={callKey}
      watched={watched}
      none="No rank has waited in a call so far."
      columns={[
        { title: 'Call', cell: (c) => <Call name={c.call} /> },
        { title: 'Waited', className: 'right c-ms', cell: (c) => duration(c.ms) },
        { title: 'Of all time', className: 'right c-ms', cell: (c) => share(c.ms, all) },
        { title: 'Waits', className: 'right c-ms', cell: (c) => count(c.times) },
        { title: 'Mean', className: 'right c-ms', cell: (c) => (c.times === 0 ? '–' : time(c.ms / c.times)) },
        { title: 'Longest total', className: 'right c-most', cell: (c) => `rank ${c.rank}, ${duration(c.most)}` },
      ]}
    >
      A wait is a call that had to block. Time in calls whose message had already arrived, and in polls such as
      MPI_Test, counts as computing.
    </Sums>
  );
}

export function ByPlace({ ranks, all, watched }: WaitingProps) {
  const sums = useMemo(() => placesOf(ranks), [ranks]);
  return (
    <Sums
      by="place in the program"
      id="profile-places"
      sums={sums}
      idOf={placeKey}
      watched={watched}
      none="No rank has waited long enough to record a place."
      columns={[
        { title: 'Place', className: 'mono', cell: (p) => <span title={p.place}>{p.place}</span> },
        { title: 'Call', className: 'c-call', cell: (p) => <Call name={p.call} /> },
        { title: 'Waited', className: 'right c-ms', cell: (p) => duration(p.ms) },
        { title: 'Of all time', className: 'right c-ms', cell: (p) => share(p.ms, all) },
        { title: 'Longest total', className: 'right c-most', cell: (p) => `rank ${p.rank}, ${duration(p.most)}` },
      ]}
    >
      The function that makes the call, with its line where known (TypeScript always; C and C++ compiled with{' '}
      <code>-g</code>). Sampled every 20 ms of waiting, so many short waits are an estimate.
    </Sums>
  );
}

interface SumsProps<T> {
  by: string;
  id: string;
  sums: T[];
  idOf: (row: T) => string;
  watched: boolean;
  /** Said while there is none. */
  none: string;
  /** The first names the row. */
  columns: Column<T>[];
  children: ReactNode;
}

function Sums<T>({ by, id, sums, idOf, watched, none, columns, children }: SumsProps<T>) {
  const things = useMemo(() => ({ all: sums, listed: sums, id: idOf }), [sums, idOf]);
  const { rows } = useStableRows(things, { join: true, chosen: '' });
  const [name, ...values] = columns;
  return (
    <div className="stack">
      <h3>Waiting, by {by}</h3>
      <div
        className={`card scroll-x${watched ? ' list kept short' : ''}`}
        tabIndex={0}
        role="region"
        aria-label={`Waiting by ${by}`}
      >
        {rows.length === 0 ? (
          <p className="muted small">{none}</p>
        ) : (
          <table className={`table num small calls${watched ? ' fixed' : ''}`} data-testid={id}>
            <thead>
              <tr>
                {columns.map((c) => (
                  <th key={c.title} scope="col" className={c.className?.replace('mono', '').trim()}>
                    {c.title}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map(({ id: key, item }) => (
                <tr key={key}>
                  <th scope="row" className={`keep ${name!.className ?? ''}`}>
                    {name!.cell(item)}
                  </th>
                  {values.map((c) => (
                    <td key={c.title} className={c.className?.startsWith('right') ? 'right keep' : 'keep'}>
                      {c.cell(item)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </div>
      <p className="muted small">{children}</p>
    </div>
  );
}
