/** All that happened in a job, in one list: filtered by kind and rank, and as a file. */
import type { JobView } from '@mayfly/wire';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { clock, elapsed, plural } from '../../shared/format.ts';
import { getTimeline, saveBlob } from '../api.ts';
import { Newer } from '../Newer.tsx';
import { Problem } from '../Problem.tsx';
import { useStableRows } from '../useStableRows.ts';
import { hasEnded } from '../status-texts.ts';
import { chosen, eventsCsv, eventText, GROUPS, named, type Group, type JobEvent } from './events.ts';

const POLL_MS = 3000;
const SHOWN = 300;
const idOf = (e: { id: string; event: JobEvent }): string => e.id;

export function Events({ job }: { job: JobView }) {
  const [group, setGroup] = useState<Group>('everything');
  const [rank, setRank] = useState('');
  const ended = hasEnded(job.state);
  const { data, error } = useQuery({
    queryKey: ['events', job.id, ended, job.faults.length],
    queryFn: ({ signal }) =>
      getTimeline(job.id, { from: 0, to: Number.MAX_SAFE_INTEGER, first: 0, last: 0, columns: 1 }, signal),
    placeholderData: (old) => old,
    refetchInterval: ended ? false : POLL_MS,
  });
  const start = job.startedAt ?? job.submittedAt;
  const only = /^\d+$/.test(rank.trim()) ? Number(rank) : undefined;
  const [begun] = useState(!ended);
  const events: readonly JobEvent[] | undefined = data?.events;
  const things = useMemo(() => {
    const found = named(chosen(events ?? [], group, only));
    return { all: found, listed: found.slice(0, SHOWN), id: idOf };
  }, [events, group, only]);
  const { rows, newcomers, renew } = useStableRows(things, { join: false, chosen: `${job.id} ${group} ${only}` });
  return (
    <section className="stack" aria-label="Events">
      <div>
        <div className="row apart">
          <h2>Events</h2>
          <div className="row">
            <select
              className="in select"
              aria-label="Which events"
              value={group}
              onChange={(e) => setGroup(e.target.value as Group)}
            >
              {GROUPS.map((g) => (
                <option key={g}>{g}</option>
              ))}
            </select>
            <input
              className="in select rank-filter"
              inputMode="numeric"
              aria-label="Of which rank"
              placeholder="any rank"
              value={rank}
              onChange={(e) => setRank(e.target.value)}
            />
            <button
              className="button small"
              disabled={!data}
              onClick={() =>
                data &&
                saveBlob(new Blob([eventsCsv(data.events, start)], { type: 'text/csv' }), `${job.name}-events.csv`)
              }
            >
              Download as CSV
            </button>
          </div>
        </div>
        <Newer n={newcomers.length} what="new event" renew={renew}>
          <span className="muted">Newest first.</span>
        </Newer>
      </div>
      <Problem error={error} title="Could not load the events" />
      <div
        className={`card scroll-x list${begun ? ' kept' : ''}`}
        tabIndex={0}
        role="group"
        aria-label="Events, newest first"
      >
        <table className="table num fixed event-table" data-testid="events">
          <thead>
            <tr>
              <th className="c-after">After</th>
              <th className="wide-only c-clock">Time</th>
              <th className="c-rank">Rank</th>
              <th className="wide-only c-incarnation">Incarnation</th>
              <th>What happened</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(({ id, item: { event: e } }) => (
              <tr key={id}>
                <td className="wraps">{elapsed(e.at - start)}</td>
                <td className="muted wide-only">{clock(e.at)}</td>
                <td>{e.task ?? '–'}</td>
                <td className="muted wide-only">{e.incarnation ?? '–'}</td>
                <td className="wraps">{eventText(e)}</td>
              </tr>
            ))}
          </tbody>
        </table>
        {data && rows.length === 0 && (
          <p className="muted small">{data.events.length === 0 ? 'No events yet.' : 'No matching events.'}</p>
        )}
        {data && (things.all.length > SHOWN || data.eventsLeftOut > 0) && (
          <p className="muted small">
            {things.all.length > SHOWN &&
              `Showing the newest ${SHOWN} of ${plural(things.all.length, 'event')}; the CSV file has all. `}
            {data.eventsLeftOut > 0 &&
              `${plural(data.eventsLeftOut, 'older event')} about checkpoints and assignments ` +
                `${data.eventsLeftOut === 1 ? 'was' : 'were'} not kept.`}
          </p>
        )}
      </div>
    </section>
  );
}
