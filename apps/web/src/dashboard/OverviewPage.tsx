/** `/dashboard`: jobs and nodes. */
import { Link } from '@tanstack/react-router';
import { useLayoutEffect } from 'react';
import { plural } from '../shared/format.ts';
import { useJobs, useMay, useNodes } from './context.tsx';
import { Jobs } from './Jobs.tsx';
import { Nodes } from './Nodes.tsx';
import { Problem } from './Problem.tsx';
import { slotsOf } from './status-texts.ts';

export function OverviewPage() {
  const jobs = useJobs();
  const nodes = useNodes();
  const slots = slotsOf(nodes.data ?? []);
  /** The address of the nodes: their place is known when both lists are there. */
  const ready = jobs.data !== undefined && nodes.data !== undefined;
  useLayoutEffect(() => {
    if (ready && location.hash === '#nodes') document.getElementById('nodes')?.scrollIntoView();
  }, [ready]);
  return (
    <div className="stack">
      <title>Dashboard – Mayfly</title>
      <div>
        <div className="row nowrap apart jobs-head">
          <h1>Jobs</h1>
          {useMay('submitter') && (
            <Link to="/dashboard/new" className="button primary">
              New job
            </Link>
          )}
        </div>
        <p className="muted num">
          {nodes.data
            ? `${plural(slots.nodes, 'node')} connected, ${slots.free} of ${plural(slots.total, 'slot')} free`
            : '\u00a0'}
        </p>
      </div>
      {/* A list that is there stays; that the server is away stands below. */}
      {jobs.error && !jobs.data && <Problem error={jobs.error} title="Could not load the jobs" />}
      <div className="jobs-place">{jobs.data && <Jobs jobs={jobs.data} />}</div>
      {nodes.data && <Nodes nodes={nodes.data} />}
    </div>
  );
}
