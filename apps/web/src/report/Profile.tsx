/**
 * Where the time of the ranks went: all together, by rank, and of the waiting by MPI call. On the job's page while it
 * runs, and in its report.
 */
import type { LaneKind } from '@mayfly/wire';
import { useMemo, useState } from 'react';
import { KINDS } from '../dashboard/job/timeline/kinds.ts';
import { useStableRows } from '../dashboard/useStableRows.ts';
import { duration, plural } from '../shared/format.ts';
import { busiest, share, sharesOf, sumOf, time, type RankTimes, type Shares } from './profile.ts';
import { ByCall, ByPlace, Call } from './Waiting.tsx';
import '../dashboard/job/timeline/kinds.css';
import './profile.css';

interface ProfileProps {
  ranks: readonly RankTimes[];
  /** Somebody watches it grow: each kind has its column before there is something of it, each list its height. */
  watched?: boolean;
}

export function Profile({ ranks, watched = false }: ProfileProps) {
  const sum = sumOf(ranks);
  const kinds = KINDS.filter((k) => watched || sum.ms[k.kind]);
  const top = busiest(ranks);
  return (
    <>
      <div className="stack profile-sum">
        <p className="small place-of-two" data-testid="profile-sum">
          {sum.all === 0
            ? 'No data yet: ranks report once a second where their time went.'
            : `${plural(ranks.length, 'rank')}, ${duration(sum.all)} in sum.`}
          {top && ` Rank ${top.rank} computed longest: ${duration(top.ms)}, ${top.ofMean.toFixed(2)} times the mean.`}
        </p>
        <Bar of={sum} tall />
        <ul className="kinds small num" aria-label="Shares of the time of all ranks">
          {kinds.map((k) => (
            <li key={k.kind} title={k.title}>
              <i
                className={`swatch${k.hatch ? ` hatch-${k.hatch}` : ''}`}
                style={{ ['--light' as string]: k.light, ['--dark' as string]: k.dark }}
              />
              {k.label} <strong>{share(sum.ms[k.kind] ?? 0, sum.all)}</strong>
            </li>
          ))}
        </ul>
      </div>
      <ByRank ranks={ranks} kinds={kinds} watched={watched} />
      <ByCall ranks={ranks} all={sum.all} watched={watched} />
      <ByPlace ranks={ranks} all={sum.all} watched={watched} />
    </>
  );
}

/** Its parts are drawn in their places, not laid out: they are a picture that grows, not words that move. */
function Bar({ of, tall }: { of: Shares; tall?: boolean }) {
  let before = 0;
  return (
    <div className={tall ? 'share-bar tall' : 'share-bar'} aria-hidden="true">
      {KINDS.map((k) => {
        const share = of.all === 0 ? 0 : (of.ms[k.kind] ?? 0) / of.all;
        const at = before;
        before += share;
        return (
          share > 0 && (
            <i
              key={k.kind}
              style={{
                transform: `translateX(${100 * at}%) scaleX(${share})`,
                ['--light' as string]: k.light,
                ['--dark' as string]: k.dark,
              }}
            />
          )
        );
      })}
    </div>
  );
}

const idOf = (r: RankTimes): string => String(r.rank);

function ByRank({ ranks, kinds, watched }: { ranks: readonly RankTimes[]; kinds: typeof KINDS; watched: boolean }) {
  const [{ by, down }, setOrder] = useState<{ by: LaneKind | 'rank'; down: boolean }>({ by: 'rank', down: false });
  const things = useMemo(() => {
    const key = (r: RankTimes): number => (by === 'rank' ? r.rank : (r.ms[by] ?? 0));
    return { all: ranks, listed: ranks.toSorted((a, b) => (down ? key(b) - key(a) : key(a) - key(b))), id: idOf };
  }, [ranks, by, down]);
  // Times grow past each other: rows stand in the order in which they stood when it was asked for.
  const { rows } = useStableRows(things, { join: true, chosen: `${by} ${down}` });
  const heads: { by: LaneKind | 'rank'; label: string; title?: string }[] = [
    { by: 'rank', label: 'Rank' },
    ...kinds.map((k) => ({ by: k.kind, label: k.label, title: k.title })),
  ];
  return (
    <div className="card scroll-x profile-ranks" tabIndex={0} role="region" aria-label="Time by rank">
      <table className={`table num small${watched ? ' fixed' : ''}`} data-testid="profile-ranks">
        <thead>
          <tr>
            {heads.map((h) => (
              <th
                key={h.by}
                scope="col"
                className={h.by === 'rank' ? 'c-rank' : 'right c-kind'}
                aria-sort={h.by !== by ? 'none' : down ? 'descending' : 'ascending'}
              >
                <button
                  type="button"
                  className="sort"
                  title={h.title}
                  onClick={() => setOrder((o) => ({ by: h.by, down: o.by === h.by ? !o.down : h.by !== 'rank' }))}
                >
                  {h.label}
                  <span aria-hidden="true" className="arrow">
                    {h.by === by ? (down ? '↓' : '↑') : ''}
                  </span>
                </button>
              </th>
            ))}
            <th scope="col" className="bar-column">
              Shares
            </th>
            <th scope="col" className="c-call">
              Waits most in
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ item: r }) => (
            <tr key={r.rank}>
              <th scope="row">{r.rank}</th>
              {kinds.map((k) => (
                <td key={k.kind} className="right keep">
                  {r.ms[k.kind] ? time(r.ms[k.kind]!) : '–'}
                </td>
              ))}
              <td className="bar-column">
                <Bar of={sharesOf(r.ms)} />
              </td>
              <td className="keep" title={r.calls[0]?.call}>
                {r.calls[0] ? <Call name={r.calls[0].call} /> : '–'}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
