/**
 * One place for what there is to say of a job as a whole, so that nothing moves when that changes: where slots come
 * from, what happens to lost ranks, the error, whether the answer is the same.
 */
import type { JobView } from '@mayfly/wire';
import { useQuery } from '@tanstack/react-query';
import { Fragment, useState } from 'react';
import { baseOf, reachOf } from '../../address.ts';
import { getInfo } from '../../api.ts';
import { ComputeHere } from '../../ComputeHere.tsx';
import { useNodes } from '../../context.tsx';
import { lackingFor } from '../../missing-slots.ts';
import { hasEnded, wantedAt } from '../../status-texts.ts';
import { Comparison } from './Comparison.tsx';
import { Held } from './Held.tsx';
import { JobError } from './JobError.tsx';

export function Notice({ job }: { job: JobView }) {
  const at = wantedAt(job);
  // Who comes to a job that has failed finds all of its error open.
  const [late] = useState(hasEnded(job.state));
  if (job.error && job.state !== 'cancelled') return <JobError error={job.error} late={late} />;
  if (job.stopped && !hasEnded(job.state)) return <Stopped message={job.stopped.message} />;
  return at.length === 0 ? <Comparison job={job} /> : <Wanted at={at} job={job} />;
}

/** The server cannot store anything: what it says of that. */
function Stopped({ message }: { message: string }) {
  return (
    <Held tone="warn" id="stopped" label="Why the job is stopped">
      <p className="small">{message} No work of the ranks is lost.</p>
    </Held>
  );
}

/** How a job that waits for slots comes to them. */
function Wanted({ at, job }: { at: string[]; job: JobView }) {
  const info = useQuery({ queryKey: ['info'], queryFn: getInfo, staleTime: 60_000 });
  const nodes = useNodes();
  const base = baseOf(info.data?.publicUrl);
  return (
    <Held
      tone="wait"
      id="wanted"
      label="Slots that are missing"
      button={<ComputeHere {...lackingFor(job, nodes.data ?? [])} className="button primary large" />}
    >
      <div className="words">
        <strong className="title">
          {job.startedAt === undefined ? 'Waiting for volunteers' : 'Lost ranks wait for a new slot'}
        </strong>
        {reachOf(base) === 'everywhere' && (
          <p className="small second">
            Or share {at.length === 1 ? 'this address' : 'these addresses'}:{' '}
            {at.map((path, i) => (
              <Fragment key={path}>
                {i > 0 && ', '}
                <span className="mono break">{base + path}</span>
              </Fragment>
            ))}
          </p>
        )}
      </div>
    </Held>
  );
}
