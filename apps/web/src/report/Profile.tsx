/** Where the time of the ranks went: all together, by rank, and of the waiting by MPI call. On the job's page while it runs, and in its report. */
import type { LaneKind } from '@mayfly/wire';
import { useMemo, useState } from 'react';
import { KINDS } from '../dashboard/job/timeline/kinds.ts';
import { useHeld } from '../dashboard/useHeld.ts';
import { count, duration, plural } from '../shared/format.ts';
import { busiest, callsOf, placesOf, sharesOf, sumOf, type CallSum, type PlaceSum, type RankTimes, type Shares } from './profile.ts';
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
          {sum.all === 0 ? 'Nothing is known yet: ranks tell once a second where their time went.' : `${plural(ranks.length, 'rank')}, ${duration(sum.all)} in sum.`}
          {top && ` Rank ${top.rank} computed longest: ${duration(top.ms)}, ${top.ofMean.toFixed(2)} times the mean.`}
        </p>
        <Bar of={sum} tall />
        <ul className="kinds small num" aria-label="Shares of the time of all ranks">
          {kinds.map((k) => (
            <li key={k.kind} title={k.title}>
              <i className={`swatch${k.hatch ? ` hatch-${k.hatch}` : ''}`} style={{ ['--light' as string]: k.light, ['--dark' as string]: k.dark }} />
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

const share = (ms: number, all: number): string => (ms === 0 || all === 0 ? '–' : ms / all < 0.01 ? '< 1 %' : `${Math.round((100 * ms) / all)} %`);

const time = (ms: number): string => (ms < 1 ? '< 1 ms' : duration(ms));

/** Not every wait is a call of MPI. */
const Call = ({ name }: { name: string }) => (name.startsWith('MPI_') ? <span className="mono">{name}</span> : <>{name === 'stdin' ? 'standard input' : name}</>);

/** Its parts are drawn in their places, not laid out: they are a picture that grows, not words that move. */
function Bar({ of, tall }: { of: Shares; tall?: boolean }) {
  let before = 0;
  return (
    <div className={tall ? 'share-bar tall' : 'share-bar'} aria-hidden="true">
      {KINDS.map((k) => {
        const share = of.all === 0 ? 0 : (of.ms[k.kind] ?? 0) / of.all;
        const at = before;
        before += share;
        return share > 0 && <i key={k.kind} style={{ transform: `translateX(${100 * at}%) scaleX(${share})`, ['--light' as string]: k.light, ['--dark' as string]: k.dark }} />;
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
  const { rows } = useHeld(things, { join: true, chosen: `${by} ${down}` });
  const heads: { by: LaneKind | 'rank'; label: string; title?: string }[] = [{ by: 'rank', label: 'Rank' }, ...kinds.map((k) => ({ by: k.kind, label: k.label, title: k.title }))];
  return (
    <div className="card scroll-x profile-ranks" tabIndex={0} role="region" aria-label="Time by rank">
      <table className={`table num small${watched ? ' fixed' : ''}`} data-testid="profile-ranks">
        <thead>
          <tr>
            {heads.map((h) => (
              <th key={h.by} scope="col" className={h.by === 'rank' ? 'c-rank' : 'right c-kind'} aria-sort={h.by !== by ? 'none' : down ? 'descending' : 'ascending'}>
                <button type="button" className="sort" title={h.title} onClick={() => setOrder((o) => ({ by: h.by, down: o.by === h.by ? !o.down : h.by !== 'rank' }))}>
                  {h.label}
                  <span aria-hidden="true" className="arrow">{h.by === by ? (down ? '↓' : '↑') : ''}</span>
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
              <td className="keep" title={r.calls[0]?.call}>{r.calls[0] ? <Call name={r.calls[0].call} /> : '–'}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const callOf = (c: CallSum): string => c.call;

function ByCall({ ranks, all, watched }: { ranks: readonly RankTimes[]; all: number; watched: boolean }) {
  const things = useMemo(() => {
    const calls = callsOf(ranks);
    return { all: calls, listed: calls, id: callOf };
  }, [ranks]);
  const { rows } = useHeld(things, { join: true, chosen: '' });
  return (
    <div className="stack">
      <h3>Waiting, by MPI call</h3>
      <div className={`card scroll-x${watched ? ' list kept short' : ''}`} tabIndex={0} role="region" aria-label="Waiting by MPI call">
        {rows.length === 0 ? (
          <p className="muted small">No rank has had to wait in a call so far.</p>
        ) : (
          <table className={`table num small calls${watched ? ' fixed' : ''}`} data-testid="profile-calls">
            <thead>
              <tr>
                <th scope="col">Call</th>
                <th scope="col" className="right c-ms">
                  Waited
                </th>
                <th scope="col" className="right c-ms">
                  Of all time
                </th>
                <th scope="col" className="right c-ms">
                  Waits
                </th>
                <th scope="col" className="right c-ms">
                  Mean
                </th>
                <th scope="col" className="right c-most">
                  Longest in sum
                </th>
              </tr>
            </thead>
            <tbody>
              {rows.map(({ item: c }) => (
                <tr key={c.call}>
                  <th scope="row">
                    <Call name={c.call} />
                  </th>
                  <td className="right keep">{duration(c.ms)}</td>
                  <td className="right keep">{share(c.ms, all)}</td>
                  <td className="right">{count(c.times)}</td>
                  <td className="right keep">{c.times === 0 ? '–' : time(c.ms / c.times)}</td>
                  <td className="right keep">
                    rank {c.rank}, {duration(c.most)}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </div>
      <p className="muted small">A wait is a call that had to block. Time in a call whose message was there already, and in polls such as MPI_Test, counts as computing.</p>
    </div>
  );
}

const placeKey = (p: PlaceSum): string => `${p.call} ${p.place}`;

function ByPlace({ ranks, all, watched }: { ranks: readonly RankTimes[]; all: number; watched: boolean }) {
  const things = useMemo(() => {
    const places = placesOf(ranks);
    return { all: places, listed: places, id: placeKey };
  }, [ranks]);
  const { rows } = useHeld(things, { join: true, chosen: '' });
  return (
    <div className="stack">
      <h3>Waiting, by place in the program</h3>
      <div className={`card scroll-x${watched ? ' list kept short' : ''}`} tabIndex={0} role="region" aria-label="Waiting by place in the program">
        {rows.length === 0 ? (
          <p className="muted small">No rank has waited long enough for a look at from where.</p>
        ) : (
          <table className={`table num small calls${watched ? ' fixed' : ''}`} data-testid="profile-places">
            <thead>
              <tr>
                <th scope="col">Place</th>
                <th scope="col" className="c-call">
                  Call
                </th>
                <th scope="col" className="right c-ms">
                  Waited
                </th>
                <th scope="col" className="right c-ms">
                  Of all time
                </th>
                <th scope="col" className="right c-most">
                  Longest in sum
                </th>
              </tr>
            </thead>
            <tbody>
              {rows.map(({ item: p }) => (
                <tr key={placeKey(p)}>
                  <th scope="row" className="mono keep" title={p.place}>
                    {p.place}
                  </th>
                  <td>
                    <Call name={p.call} />
                  </td>
                  <td className="right keep">{duration(p.ms)}</td>
                  <td className="right keep">{share(p.ms, all)}</td>
                  <td className="right keep">
                    rank {p.rank}, {duration(p.most)}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </div>
      <p className="muted small">
        The function that makes the call, with its line where the program tells it (TypeScript always; C and C++ compiled with <code>-g</code>). Looked at once in twenty milliseconds of waiting: where short waits
        are many, this is a sample.
      </p>
    </div>
  );
}
