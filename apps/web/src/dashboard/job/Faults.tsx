/** What happened to incarnations, newest first. */
import { elapsed, duration } from '../../shared/format.ts';
import { Tag } from '../../shared/Tag.tsx';
import { faultCause, faultRecovery, hasEnded, phasesOf } from '../words.ts';
import type { ViewProps } from './views.tsx';

const SHOWN = 200;

export function Faults({ job }: ViewProps) {
  if (job.faults.length === 0) {
    return (
      <section className="stack" aria-label="Faults">
        <h2>Faults</h2>
        <p className="muted small">
          {hasEnded(job.state)
            ? 'None: no rank was lost.'
            : job.protocol === 'none'
              ? 'None so far. The first one ends this job: its protocol keeps nothing to restart a rank from.'
              : 'None so far. Close a volunteer’s tab, or kill a rank in the overview: it starts again and goes on.'}
        </p>
      </section>
    );
  }
  const times = job.faults.flatMap((f) => (f.recoveredAfterMs === undefined ? [] : [f.recoveredAfterMs])).toSorted((a, b) => a - b);
  const start = job.startedAt ?? job.submittedAt;
  return (
    <section className="stack" aria-label="Faults">
      <div className="row apart">
        <h2>Faults</h2>
        {times.length > 0 && (
          <p className="muted small num">
            recovery: median {duration(times[times.length >> 1]!)}, longest {duration(times.at(-1)!)}
          </p>
        )}
      </div>
      <div className="card scroll-x">
        <table className="table num">
          <thead>
            <tr>
              <th>After</th>
              <th>Rank</th>
              <th className="wide-only">Incarnation</th>
              <th>What happened</th>
              <th className="right">Recovery</th>
            </tr>
          </thead>
          <tbody>
            {job.faults
              .slice(-SHOWN)
              .toReversed()
              .map((f, i) => (
                <tr key={`${f.task}.${f.incarnation}.${job.faults.length - i}`}>
                  <td className="keep">{elapsed(f.at - start)}</td>
                  <td>{f.task}</td>
                  <td className="wide-only">
                    {f.incarnation} → {f.incarnation + 1}
                  </td>
                  <td>{faultCause(f.cause)}</td>
                  <td className="right">
                    {phasesOf(f) !== undefined && <span className="muted small wide-only">{phasesOf(f)} · </span>}
                    {f.recoveredAfterMs === undefined && !hasEnded(job.state) ? <Tag tone="again">recovering</Tag> : f.recoveredAfterMs === undefined ? '–' : faultRecovery(f)}
                  </td>
                </tr>
              ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
