/** `/dashboard`: jobs and nodes. */
import { FIRST_TOKEN, runTime, type JobView } from '@mayfly/wire';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { ago, elapsed, plural } from '../shared/format.ts';
import { Tag } from '../shared/Tag.tsx';
import { useJobs, useMay, useMe, useNodes, useServerNow } from './context.tsx';
import { Nodes } from './Nodes.tsx';
import { Problem } from './Problem.tsx';
import { hasEnded, isPaused, jobLine, jobWord, rankWord, slotsOf } from './words.ts';

export function OverviewPage() {
  const jobs = useJobs();
  const nodes = useNodes();
  const slots = slotsOf(nodes.data ?? []);
  return (
    <div className="stack">
      <title>Dashboard – Mayfly</title>
      <div className="row apart">
        <div>
          <h1>Jobs</h1>
          <p className="muted num">
            {nodes.data ? `${plural(slots.nodes, 'node')} here, ${slots.free} of ${plural(slots.total, 'slot')} free` : '\u00a0'}
          </p>
        </div>
        <div className="row">
          <Link to="/dashboard/server" className="button">
            Server
          </Link>
          <Link to="/dashboard/rooms" className="button">
            Rooms
          </Link>
          {useMay('owner') && (
            <Link to="/dashboard/tokens" className="button">
              Tokens
            </Link>
          )}
          {useMay('submitter') && (
            <Link to="/dashboard/new" className="button primary">
              New job
            </Link>
          )}
        </div>
      </div>
      {jobs.error && <Problem error={jobs.error} title="The list of jobs could not be read" />}
      {jobs.data && <Jobs jobs={jobs.data} />}
      <Nodes nodes={nodes.data} />
    </div>
  );
}

const SHOWN = 20;
const WHICH = ['all', 'waiting', 'running', 'paused', 'ended', 'failed'] as const;
type Which = (typeof WHICH)[number];

export function matches(job: JobView, wanted: string, which: Which, owner = ''): boolean {
  if (owner !== '' && job.owner !== owner) return false;
  const group = isPaused(job.state) ? 'paused' : job.state === 'stalled' ? 'running' : job.state;
  if (which === 'ended' ? !hasEnded(job.state) : which !== 'all' && group !== which) return false;
  const w = wanted.trim().toLowerCase();
  return w === '' || [job.name, job.about, job.id, job.owner, job.room, job.error?.code, job.error?.message].some((t) => t?.toLowerCase().includes(w));
}


function Jobs({ jobs }: { jobs: JobView[] }) {
  const now = useServerNow(1000, jobs.some((j) => !hasEnded(j.state)));
  const [all, setAll] = useState(false);
  const [wanted, setWanted] = useState('');
  const [which, setWhich] = useState<Which>('all');
  const [owner, setOwner] = useState('');
  const me = useMe()?.name;
  const owners = [...new Set(jobs.map((j) => j.owner ?? FIRST_TOKEN))].sort();
  const maySubmit = useMay('submitter');
  if (jobs.length === 0) {
    if (!maySubmit) return <p className="empty">No job yet. This token may look at jobs, and submit none.</p>;
    return (
      <div className="empty">
        <strong>No job yet</strong>
        <p>Begin with an example: it comes with its sources, arguments and input files.</p>
        <Link to="/dashboard/new" className="button primary">
          Choose an example
        </Link>
      </div>
    );
  }
  const newest = jobs.filter((j) => matches(j, wanted, which, owner)).toSorted((a, b) => b.submittedAt - a.submittedAt);
  return (
    <section className="stack" aria-label="Jobs">
      <div className="row filter">
        <input className="in" type="search" aria-label="Search the jobs" placeholder="Name, what for, id, owner, room or error" value={wanted} onChange={(e) => setWanted(e.target.value)} />
        <select className="in select" aria-label="Which jobs" value={which} onChange={(e) => setWhich(e.target.value as Which)}>
          {WHICH.map((w) => (
            <option key={w} value={w}>
              {w}
            </option>
          ))}
        </select>
        {(owners.length > 1 || owner !== '') && (
          <select className="in select" aria-label="Whose jobs" value={owner} onChange={(e) => setOwner(e.target.value)}>
            <option value="">of everybody</option>
            {owners.map((o) => (
              <option key={o} value={o}>
                {o === me ? `${o} (me)` : o}
              </option>
            ))}
          </select>
        )}
      </div>
      {newest.length === 0 && <p className="muted">No job is like that.</p>}
      <div className="card flush">
        <ul className="jobs">
          {(all ? newest : newest.slice(0, SHOWN)).map((job) => (
            <li key={job.id}>
              <Link to="/dashboard/jobs/$id" params={{ id: job.id }} className="job-row">
                <span className="job-state">
                  <Tag tone={jobWord(job.state).tone}>{jobWord(job.state).text}</Tag>
                </span>
                <span className="job-name">
                  <strong>
                    {job.name}
                    {owners.length > 1 && <span className="muted small"> · {job.owner}</span>}
                    {job.room !== undefined && <span className="muted small"> · room {job.room}</span>}
                  </strong>
                  <span className="muted small">{jobLine(job)}</span>
                </span>
                <RankStrip job={job} />
                <span className="job-time muted small num">
                  {job.startedAt !== undefined && <span>{elapsed(runTime(job, now))}</span>}
                  <span>{ago(job.submittedAt, now)}</span>
                </span>
              </Link>
            </li>
          ))}
        </ul>
        {newest.length > SHOWN && !all && (
          <button className="button small ghost more" onClick={() => setAll(true)}>
            Show all {newest.length}
          </button>
        )}
      </div>
    </section>
  );
}

/** One cell per rank (at most 48 are drawn); the words stand in the line beside it. */
function RankStrip({ job }: { job: JobView }) {
  return (
    <span className="strip" aria-hidden="true">
      {job.tasks.slice(0, 48).map((t) => (
        <i key={t.task} className={`tone-${rankWord(t).tone}`} />
      ))}
    </span>
  );
}
