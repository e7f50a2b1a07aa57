/**
 * The jobs, newest first. Rows keep their places while one looks: a new job is announced, and comes into the list when
 * one asks for it.
 */
import { FIRST_TOKEN, runTime, type JobView } from '@mayfly/wire';
import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { ago, elapsed } from '../shared/format.ts';
import { Tag } from '../shared/Tag.tsx';
import { useMay, useMe, useServerNow } from './context.tsx';
import type { Row } from './stable-rows.ts';
import { found, WHICH, type Wanted, type Which } from './job-list.ts';
import { Newer } from './Newer.tsx';
import { useStableRows } from './useStableRows.ts';
import { hasEnded, jobLine, jobWord, phaseOf, rankWord } from './status-texts.ts';

const SHOWN = 20;
const CELLS = 48;
const idOf = (j: JobView): string => j.id;

export function Jobs({ jobs }: { jobs: JobView[] }) {
  const now = useServerNow(
    1000,
    jobs.some((j) => !hasEnded(j.state)),
  );
  const [all, setAll] = useState(false);
  const [wanted, setWanted] = useState<Wanted>({ text: '', which: 'all', owner: '' });
  const things = useMemo(() => ({ all: jobs, listed: found(jobs, wanted), id: idOf }), [jobs, wanted]);
  const { rows, newcomers, renew } = useStableRows(things, { join: false, chosen: JSON.stringify(wanted) });
  const me = useMe()?.name;
  const maySubmit = useMay('submitter');
  // A new job's owner comes into the choice with the job.
  const waiting = new Set(newcomers);
  const owners = [...new Set(jobs.filter((j) => !waiting.has(j)).map((j) => j.owner ?? FIRST_TOKEN))].sort();
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
        <ul className="jobs">
          {(all ? rows : rows.slice(0, SHOWN)).map((row) => (
            <li key={row.id}>
              <JobRow row={row} now={now} owned={owners.length > 1} />
            </li>
          ))}
        </ul>
        {rows.length > SHOWN && !all && (
          <button className="button small ghost more" onClick={() => setAll(true)}>
            Show all {rows.length}
          </button>
        )}
      </div>
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
        <span className="muted">{rows.length === 0 ? 'No matching jobs.' : 'Newest first.'}</span>
      )}
    </Newer>
  );
}

function JobRow({ row: { item: job, gone }, now, owned }: { row: Row<JobView>; now: number; owned: boolean }) {
  const word = jobWord(job.state);
  const cells = (
    <>
      <span className="job-state">
        {gone ? <Tag tone="quiet">Deleted</Tag> : <Tag tone={word.tone}>{word.text}</Tag>}
      </span>
      <span className="job-name">
        <strong>
          {job.name}
          {owned && <span className="muted small"> · {job.owner}</span>}
          {job.room !== undefined && <span className="muted small"> · room {job.room}</span>}
        </strong>
        <span className="muted small">{jobLine(job)}</span>
      </span>
      <RankStrip job={job} />
      <span className="job-time muted small num">
        <span>{ago(job.submittedAt, now)}</span>
        <span>{job.startedAt === undefined ? '' : elapsed(runTime(job, now))}</span>
      </span>
    </>
  );
  if (gone) return <div className="job-row past">{cells}</div>;
  return (
    <Link to="/dashboard/jobs/$id" params={{ id: job.id }} className="job-row">
      {cells}
    </Link>
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
