/**
 * The jobs, newest first or sorted by a column; many can be selected, to cancel or delete them. Rows keep their places
 * while one looks: a new job is announced, and comes into the list when one asks for it.
 */
import { FIRST_TOKEN, progressText, type JobView } from '@mayfly/wire';
import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { ago, plural } from '../shared/format.ts';
import { Tag } from '../shared/Tag.tsx';
import { ChosenJobs } from './ChosenJobs.tsx';
import { useMay, useMayChangeOf, useMe, useServerNow } from './context.tsx';
import type { Row } from './stable-rows.ts';
import { chosenOf, found, NEWEST_FIRST, nextOrder, WHICH, type Column, type Wanted, type Which } from './job-list.ts';
import { Newer } from './Newer.tsx';
import { SortHead } from './SortHead.tsx';
import { useStableRows } from './useStableRows.ts';
import { hasEnded, jobLine, jobWord, phaseOf, rankWord, roomText, runText } from './status-texts.ts';

const SHOWN = 20;
const CELLS = 48;
const HEADS: readonly { by: Column; title: string; className: string }[] = [
  { by: 'state', title: 'State', className: 'c-job-state' },
  { by: 'name', title: 'Job', className: 'c-job' },
  { by: 'owner', title: 'Owner', className: 'roomy-only c-owner' },
  { by: 'room', title: 'Room', className: 'roomy-only c-room' },
  { by: 'ranks', title: 'Ranks', className: 'wide-only c-ranks' },
  { by: 'submitted', title: 'Submitted', className: 'wide-only c-submitted' },
  { by: 'time', title: 'Run time', className: 'wide-only c-time' },
];
const idOf = (j: JobView): string => j.id;

export function Jobs({ jobs }: { jobs: JobView[] }) {
  const now = useServerNow(
    1000,
    jobs.some((j) => !hasEnded(j.state)),
  );
  const [all, setAll] = useState(false);
  const [wanted, setWanted] = useState<Wanted>({ text: '', which: 'all', owner: '' });
  const [order, setOrder] = useState(NEWEST_FIRST);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const mayChange = useMayChangeOf();
  const things = useMemo(() => ({ all: jobs, listed: found(jobs, wanted, order), id: idOf }), [jobs, wanted, order]);
  const { rows, newcomers, renew } = useStableRows(things, { join: false, chosen: JSON.stringify([wanted, order]) });
  const me = useMe()?.name;
  const maySubmit = useMay('submitter');
  // A new job's owner comes into the choice with the job.
  const waiting = new Set(newcomers);
  const owners = [...new Set(jobs.filter((j) => !waiting.has(j)).map((j) => j.owner ?? FIRST_TOKEN))].sort();
  const shown = all ? rows : rows.slice(0, SHOWN);
  /** What is out of sight is never cancelled or deleted. */
  const choosable = shown.filter((r) => !r.gone && mayChange(r.item)).map((r) => r.item);
  const choose = (id: string, on: boolean) => {
    const next = new Set(chosen);
    if (on) next.add(id);
    else next.delete(id);
    setChosen(next);
  };
  if (jobs.length === 0 && rows.length === 0) {
    if (!maySubmit) return <p className="empty">No jobs yet. This token can view jobs but not submit them.</p>;
    return (
      <div className="empty">
        <strong>No jobs yet</strong>
        <p>Start from an example. It includes sources, arguments and input files.</p>
        <Link to="/dashboard/new" className="button primary">
          Choose an example
        </Link>
      </div>
    );
  }
  return (
    <section className="stack" aria-label="Jobs">
      <div className="row filter">
        <input
          className="in"
          type="search"
          aria-label="Search the jobs"
          placeholder="Name, purpose, id, owner, room or error"
          value={wanted.text}
          onChange={(e) => setWanted({ ...wanted, text: e.target.value })}
        />
        <select
          className="in select"
          aria-label="Which jobs"
          value={wanted.which}
          onChange={(e) => setWanted({ ...wanted, which: e.target.value as Which })}
        >
          {WHICH.map((w) => (
            <option key={w} value={w}>
              {w}
            </option>
          ))}
        </select>
        {/* Also of one owner alone: a second one's job moves nothing. */}
        <select
          className="in select owner"
          aria-label="Whose jobs"
          value={wanted.owner}
          onChange={(e) => setWanted({ ...wanted, owner: e.target.value })}
        >
          <option value="">Any owner</option>
          {owners.map((o) => (
            <option key={o} value={o}>
              {o === me ? `${o} (me)` : o}
            </option>
          ))}
        </select>
      </div>
      <News newcomers={newcomers} rows={rows} renew={renew} />
      <div className="card flush">
        <table className="table fixed job-table">
          <thead>
            <tr>
              <td className="c-choose">
                {choosable.length > 0 && (
                  <label className="choose">
                    <input
                      type="checkbox"
                      checked={choosable.every((j) => chosen.has(j.id))}
                      onChange={(e) => setChosen(new Set(e.target.checked ? choosable.map((j) => j.id) : []))}
                    />
                    <span className="visually-hidden">Select all {plural(choosable.length, 'job')}</span>
                  </label>
                )}
              </td>
              {HEADS.map((h) => (
                <SortHead
                  key={h.by}
                  title={h.title}
                  className={h.className}
                  order={h.by === order.by ? (order.down ? 'descending' : 'ascending') : undefined}
                  onSort={() => setOrder(nextOrder(order, h.by))}
                />
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((row) => (
              <JobRow
                key={row.id}
                row={row}
                now={now}
                chosen={chosen.has(row.id)}
                choose={mayChange(row.item) ? (on) => choose(row.id, on) : undefined}
              />
            ))}
          </tbody>
        </table>
        {rows.length > SHOWN && !all && (
          <button className="button small ghost more" onClick={() => setAll(true)}>
            Show all {rows.length}
          </button>
        )}
      </div>
      <ChosenJobs jobs={chosenOf(choosable, chosen)} onClear={() => setChosen(new Set())} />
    </section>
  );
}

interface NewsProps {
  newcomers: readonly JobView[];
  rows: readonly Row<JobView>[];
  renew(): void;
}

function News({ newcomers, rows, renew }: NewsProps) {
  const newest = newcomers[0];
  const gone = rows.filter((r) => r.gone).length;
  return (
    <Newer n={newcomers.length} what="new job" renew={renew} id="job-news">
      {newest ? (
        <>
          {newest.name}: {jobWord(newest.state).text.toLowerCase()}, <span className="muted">{jobLine(newest)}</span>
        </>
      ) : gone > 0 ? (
        <button className="button small" onClick={renew}>
          Hide deleted jobs
        </button>
      ) : (
        <span className="muted">{rows.length === 0 ? 'No matching jobs.' : plural(rows.length, 'job')}</span>
      )}
    </Newer>
  );
}

interface RowProps {
  row: Row<JobView>;
  now: number;
  /** Undefined: this token may not change it. */
  choose: ((on: boolean) => void) | undefined;
  chosen: boolean;
}

function JobRow({ row: { item: job, gone }, now, choose, chosen }: RowProps) {
  const word = jobWord(job.state);
  const time = runText(job, now);
  const room = roomText(job);
  const where = [job.owner, room === undefined ? undefined : `room ${room}`].filter((t) => t !== undefined);
  return (
    <tr className={gone ? 'past' : 'job-row'}>
      <td className="c-choose">
        {choose && !gone && (
          <label className="choose">
            <input type="checkbox" checked={chosen} onChange={(e) => choose(e.target.checked)} />
            <span className="visually-hidden">Select {job.name}</span>
          </label>
        )}
      </td>
      <td className="c-job-state">
        {gone ? <Tag tone="quiet">Deleted</Tag> : <Tag tone={word.tone}>{word.text}</Tag>}
      </td>
      <th scope="row" className="c-job">
        {gone ? (
          <strong>{job.name}</strong>
        ) : (
          <Link to="/dashboard/jobs/$id" params={{ id: job.id }} className="job-link">
            {job.name}
          </Link>
        )}
        {job.progress && (
          <progress
            className="bar"
            aria-hidden
            data-repeats={job.progress.repeating.length > 0 || undefined}
            value={job.progress.fraction}
          />
        )}
        <span className="muted small">
          {job.progress && `program at ${progressText(job.progress)}; `}
          {jobLine(job)}
        </span>
        <span className="narrow-only muted small num">{[...where, ago(job.submittedAt, now), time].join(' · ')}</span>
      </th>
      <td className="roomy-only muted c-owner">{job.owner ?? '–'}</td>
      <td className="roomy-only muted c-room">{room ?? '–'}</td>
      <td className="wide-only c-ranks" title={plural(job.size, 'rank')}>
        <RankStrip job={job} />
        <span className="visually-hidden">{job.size}</span>
      </td>
      <td className="wide-only muted small num c-submitted">{ago(job.submittedAt, now)}</td>
      <td className="wide-only muted small num c-time">{time}</td>
    </tr>
  );
}

/**
 * One cell per rank (at most 48 are drawn), also while the list has none of them; the words stand in the line beside
 * it.
 */
function RankStrip({ job }: { job: JobView }) {
  const cells = Math.min(CELLS, Math.max(job.size, job.tasks.length));
  const unknown = job.state === 'done' ? 'good' : 'quiet';
  return (
    <span className="strip" aria-hidden="true">
      {Array.from({ length: cells }, (_, i) => {
        const task = job.tasks[i];
        return <i key={i} className={`tone-${task ? rankWord(task, phaseOf(job)).tone : unknown}`} />;
      })}
    </span>
  );
}
