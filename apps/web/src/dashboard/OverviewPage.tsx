/** `/dashboard`: jobs and nodes. */
import { FIRST_TOKEN, runTime, type JobView, type NodeView } from '@mayfly/wire';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { ago, duration, elapsed, plural } from '../shared/format.ts';
import { Tag } from '../shared/Tag.tsx';
import { useJobs, useMay, useMe, useNodes, useServerNow } from './context.tsx';
import { Problem } from './Problem.tsx';
import { hasEnded, isPaused, jobLine, jobWord, nodeWord, rankWord, slotsOf } from './words.ts';

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
          <Link to="/dashboard/rooms" className="button">
            Rooms
          </Link>
          {useMay('owner') && (
            <Link to="/dashboard/tokens" className="button">
              Tokens
            </Link>
          )}
          <Link to="/dashboard/new" className="button primary">
            New job
          </Link>
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
  return w === '' || [job.name, job.id, job.owner, job.room, job.error?.code, job.error?.message].some((t) => t?.toLowerCase().includes(w));
}


function Jobs({ jobs }: { jobs: JobView[] }) {
  const now = useServerNow(1000, jobs.some((j) => !hasEnded(j.state)));
  const [all, setAll] = useState(false);
  const [wanted, setWanted] = useState('');
  const [which, setWhich] = useState<Which>('all');
  const [owner, setOwner] = useState('');
  const me = useMe()?.name;
  const owners = [...new Set(jobs.map((j) => j.owner ?? FIRST_TOKEN))].sort();
  if (jobs.length === 0) {
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
        <input className="in" type="search" aria-label="Search the jobs" placeholder="Name, id, owner, room or error" value={wanted} onChange={(e) => setWanted(e.target.value)} />
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

function Nodes({ nodes }: { nodes: NodeView[] | undefined }) {
  const now = useServerNow(5000);
  if (!nodes) return null;
  const here = nodes.filter((n) => n.state !== 'gone');
  const link = `${location.origin}/volunteer`;
  return (
    <section className="stack" aria-label="Nodes">
      <div>
        <h2>Nodes</h2>
        <p className="muted small">
          Anybody who opens <a href="/volunteer">{link}</a> and presses Start becomes one.
        </p>
      </div>
      {here.length === 0 ? (
        <div className="empty">
          <strong>No node is here</strong>
          <p>Open the volunteer page in a few tabs, or on a few machines. Jobs wait until there are slots for all their ranks.</p>
          <a className="button" href="/volunteer" target="_blank" rel="noopener">
            Volunteer in a new tab
          </a>
        </div>
      ) : (
        <div className="card scroll-x">
          <table className="table">
            <thead>
              <tr>
                <th>Name</th>
                <th>State</th>
                <th className="right">Busy</th>
                <th className="wide-only">Engine</th>
                <th className="wide-only">Room</th>
                <th className="right wide-only">Cores</th>
                <th className="right wide-only">Round trip</th>
                <th className="right wide-only">Lost ranks</th>
                <th className="right">Here since</th>
              </tr>
            </thead>
            <tbody>
              {here.map((n) => (
                <tr key={n.id}>
                  <td className="break">{n.name}</td>
                  <td>
                    <Tag tone={nodeWord(n).tone}>{nodeWord(n).text}</Tag>
                  </td>
                  <td className="right num keep">
                    {n.busy} of {n.slots}
                  </td>
                  <td className="muted wide-only">{n.engine}</td>
                  <td className="muted wide-only">{n.room ?? '–'}</td>
                  <td className="right muted num wide-only">{n.cores ?? '–'}</td>
                  <td className="right muted num wide-only">{n.rttMs === undefined ? '–' : duration(n.rttMs)}</td>
                  <td className="right muted num wide-only">{n.faults ?? 0}</td>
                  <td className="right muted num keep">{ago(n.since, now)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
