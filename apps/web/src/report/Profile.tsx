/** Where the time of the ranks went: all together, by rank, and of the waiting by MPI call. On the job's page while it runs, and in its report. */
import type { LaneKind } from '@mayfly/wire';
import { useState } from 'react';
import { KINDS } from '../dashboard/job/timeline/kinds.ts';
import { count, duration, plural } from '../shared/format.ts';
import { busiest, callsOf, sharesOf, sumOf, type RankTimes, type Shares } from './profile.ts';
import '../dashboard/job/timeline/kinds.css';
import './profile.css';

/** These have a column from the start, so that nothing moves when a rank is lost; the others when there is something of them. */
const ALWAYS: readonly LaneKind[] = ['computing', 'waiting', 'sending', 'checkpointing', 'replaying', 'starting', 'dead'];

export function Profile({ ranks }: { ranks: readonly RankTimes[] }) {
  const sum = sumOf(ranks);
  const kinds = KINDS.filter((k) => ALWAYS.includes(k.kind) || sum.ms[k.kind]);
  const top = busiest(ranks);
  return (
    <>
      <div className="stack profile-sum">
        <p className="small" data-testid="profile-sum">
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
      <ByRank ranks={ranks} kinds={kinds} />
      <ByCall ranks={ranks} all={sum.all} />
    </>
  );
}

const share = (ms: number, all: number): string => (ms === 0 || all === 0 ? '–' : ms / all < 0.01 ? '< 1 %' : `${Math.round((100 * ms) / all)} %`);

/** Not every wait is a call of MPI. */
const Call = ({ name }: { name: string }) => (name.startsWith('MPI_') ? <span className="mono">{name}</span> : <>{name === 'stdin' ? 'standard input' : name}</>);

function Bar({ of, tall }: { of: Shares; tall?: boolean }) {
  return (
    <div className={tall ? 'share-bar tall' : 'share-bar'} aria-hidden="true">
      {KINDS.map((k) => {
        const ms = of.ms[k.kind] ?? 0;
        return ms > 0 && <i key={k.kind} style={{ width: `${(100 * ms) / of.all}%`, ['--light' as string]: k.light, ['--dark' as string]: k.dark }} />;
      })}
    </div>
  );
}

function ByRank({ ranks, kinds }: { ranks: readonly RankTimes[]; kinds: typeof KINDS }) {
  const [{ by, down }, setOrder] = useState<{ by: LaneKind | 'rank'; down: boolean }>({ by: 'rank', down: false });
  const rows = ranks.map((r) => ({ ...r, shares: sharesOf(r.ms), key: by === 'rank' ? r.rank : (r.ms[by] ?? 0) })).toSorted((a, b) => (down ? b.key - a.key : a.key - b.key));
  const heads: { by: LaneKind | 'rank'; label: string; title?: string }[] = [{ by: 'rank', label: 'Rank' }, ...kinds.map((k) => ({ by: k.kind, label: k.label, title: k.title }))];
  return (
    <div className="card scroll-x profile-ranks" tabIndex={0} role="region" aria-label="Time by rank">
      <table className="table num small" data-testid="profile-ranks">
        <thead>
          <tr>
            {heads.map((h) => (
              <th key={h.by} scope="col" className={h.by === 'rank' ? '' : 'right'} aria-sort={h.by !== by ? 'none' : down ? 'descending' : 'ascending'}>
                <button type="button" className="sort" title={h.title} onClick={() => setOrder((o) => ({ by: h.by, down: o.by === h.by ? !o.down : h.by !== 'rank' }))}>
                  {h.label}
                  <span aria-hidden="true" className="arrow">{h.by === by ? (down ? '↓' : '↑') : ''}</span>
                </button>
              </th>
            ))}
            <th scope="col" className="bar-column">
              Shares
            </th>
            <th scope="col">Waits most in</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((r) => (
            <tr key={r.rank}>
              <th scope="row">{r.rank}</th>
              {kinds.map((k) => (
                <td key={k.kind} className="right keep">
                  {r.ms[k.kind] ? duration(r.ms[k.kind]!) : '–'}
                </td>
              ))}
              <td className="bar-column">
                <Bar of={r.shares} />
              </td>
              <td className="keep">{r.calls[0] ? <Call name={r.calls[0].call} /> : '–'}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function ByCall({ ranks, all }: { ranks: readonly RankTimes[]; all: number }) {
  const calls = callsOf(ranks);
  return (
    <div className="stack">
      <h3>Waiting, by MPI call</h3>
      {calls.length === 0 ? (
        <p className="muted small">No rank has had to wait in a call so far.</p>
      ) : (
        <div className="card scroll-x" tabIndex={0} role="region" aria-label="Waiting by MPI call">
          <table className="table num small" data-testid="profile-calls">
            <thead>
              <tr>
                <th scope="col">Call</th>
                <th scope="col" className="right">Waited</th>
                <th scope="col" className="right">Of all time</th>
                <th scope="col" className="right">Waits</th>
                <th scope="col" className="right">Mean</th>
                <th scope="col" className="right">Longest in sum</th>
              </tr>
            </thead>
            <tbody>
              {calls.map((c) => (
                <tr key={c.call}>
                  <th scope="row">
                    <Call name={c.call} />
                  </th>
                  <td className="right keep">{duration(c.ms)}</td>
                  <td className="right keep">{share(c.ms, all)}</td>
                  <td className="right">{count(c.times)}</td>
                  <td className="right keep">{c.times === 0 ? '–' : c.ms / c.times < 1 ? '< 1 ms' : duration(c.ms / c.times)}</td>
                  <td className="right keep">
                    rank {c.rank}, {duration(c.most)}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <p className="muted small">A wait is a call that had to block. Time in a call whose message was there already, and in polls such as MPI_Test, counts as computing.</p>
    </div>
  );
}
