/** What happened to incarnations, newest first. */
import { recoveryOf, type Fault } from '@mayfly/wire';
import { useMemo, useState } from 'react';
import { elapsed, duration } from '../../shared/format.ts';
import { Tag } from '../../shared/Tag.tsx';
import { Newer } from '../Newer.tsx';
import { useStableRows } from '../useStableRows.ts';
import { noFaultsText } from '../protocol-texts.ts';
import { faultCause, faultNotes, hasEnded } from '../status-texts.ts';
import type { ViewProps } from './view-props.ts';

const SHOWN = 200;
const timeText = (ms: number | undefined): string => (ms === undefined ? '–' : duration(ms));
/** An incarnation is lost once. */
const idOf = (f: Fault): string => `${f.task}.${f.incarnation}`;

export function Faults({ job }: ViewProps) {
  const ended = hasEnded(job.state);
  const [begun] = useState(!ended);
  const things = useMemo(
    () => ({ all: job.faults, listed: job.faults.slice(-SHOWN).toReversed(), id: idOf }),
    [job.faults],
  );
  const { rows, newcomers, renew } = useStableRows(things, { join: false, chosen: job.id });
  const times = job.faults.flatMap((f) => recoveryOf(f, job.waves)?.total ?? []).toSorted((a, b) => a - b);
  const start = job.startedAt ?? job.submittedAt;
  const none = ended ? 'None: no ranks were lost.' : noFaultsText(job.protocol, job.state);
  return (
    <section className="stack" aria-label="Faults">
      <div>
        <h2>Faults</h2>
        <Newer n={newcomers.length} what="new fault" renew={renew}>
          <span className="muted num">
            {times.length === 0
              ? rows.length === 0
                ? ''
                : 'Newest first.'
              : `Recovery: median ${duration(times[times.length >> 1]!)}, longest ${duration(times.at(-1)!)}.`}
          </span>
        </Newer>
      </div>
      <div
        className={`card scroll-x list${begun ? ' kept short' : ''}`}
        tabIndex={0}
        role="group"
        aria-label="Faults, newest first"
      >
        {rows.length === 0 ? (
          <p className="muted small">{none}</p>
        ) : (
          <table className="table num fixed fault-table">
            <thead>
              <tr>
                <th className="c-after">After</th>
                <th className="c-rank">Rank</th>
                <th className="wide-only c-incarnation">Incarnation</th>
                <th>What happened</th>
                <th className="right roomy-only c-ms">New place</th>
                <th className="right roomy-only c-ms">Start</th>
                <th className="right roomy-only c-ms">Repeat</th>
                <th className="right c-recovery">Recovery</th>
              </tr>
            </thead>
            <tbody>
              {rows.map(({ id, item: f }) => {
                const recovery = recoveryOf(f, job.waves);
                return (
                  <tr key={id}>
                    <td className="wraps">{elapsed(f.at - start)}</td>
                    <td>{f.task}</td>
                    <td className="wide-only">
                      {f.incarnation} → {f.incarnation + 1}
                    </td>
                    <td className="wraps">
                      {faultCause(f.cause)}
                      {faultNotes(f).map((line) => (
                        <div key={line} className="muted small break">
                          {line}
                        </div>
                      ))}
                    </td>
                    {(['place', 'start', 'repeat'] as const).map((p) => (
                      <td key={p} className="right muted roomy-only">
                        {timeText(recovery?.[p])}
                      </td>
                    ))}
                    <td className="right">
                      {recovery ? duration(recovery.total) : ended ? '–' : <Tag tone="again">recovering</Tag>}
                    </td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        )}
      </div>
    </section>
  );
}
