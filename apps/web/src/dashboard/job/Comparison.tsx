/** What is known of whether the answer of an ended job is right: other runs of it with the same input, and a button that makes one. Nothing is claimed that was not compared. */
import type { ComparedRun, ComparisonView, JobView } from '@mayfly/wire';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { Button } from 'react-aria-components';
import { Differences } from '../../shared/Differences.tsx';
import { bytes, plural } from '../../shared/format.ts';
import { getComparison, runAgain } from '../api.ts';
import { useMay } from '../context.tsx';
import { Problem } from '../Problem.tsx';
import { comparisonLine, hasEnded, jobWord, verdictOf } from '../words.ts';

const POLL_MS = 3000;

/** What stands in the place of the comparison while there is none. */
const BEFORE: Partial<Record<JobView['state'], string>> & { running: string } = {
  running: 'Kill a rank or close a tab: the job goes on. When it has ended, it can be run again here, and the answers are compared byte for byte.',
  cancelled: 'It was cancelled: there is no answer to compare.',
  done: 'Looking for other runs of it…',
};
const UNPROTECTED = 'A lost rank ends this job, whose protocol is none. When it has ended well, it can be run again here, and the answers are compared byte for byte.';

export function Comparison({ job }: { job: JobView }) {
  const navigate = useNavigate();
  const may = useMay('submitter');
  const ended = job.state === 'done' || job.state === 'failed';
  const { data } = useQuery({
    queryKey: ['comparison', job.id, job.state],
    queryFn: () => getComparison(job.id),
    enabled: ended || job.compareWith !== undefined,
    // What was known a moment ago knows nothing of a run that has ended since.
    staleTime: 0,
    // Runs that are still under way end some time.
    refetchInterval: (q) => (ended && q.state.data?.runs.some((r) => !hasEnded(r.state)) ? POLL_MS : false),
  });
  const again = useMutation({
    mutationFn: () => runAgain(job.id),
    onSuccess: (fresh) => navigate({ to: '/dashboard/jobs/$id', params: { id: fresh.id } }),
  });
  // Of a failure nobody asks whether it is the right one, unless somebody did.
  if (job.state === 'failed' && (data?.runs.length ?? 0) === 0) return null;
  // As large as what comes in its place: nothing moves when the job ends.
  if (!ended || !data)
    return (
      <div className="notice tone-quiet" data-testid="comparison">
        <p className="small">
          {job.compareWith !== undefined && !hasEnded(job.state) ? (
            <>
              Runs with the same input and seed as <RunLink id={job.compareWith}>an earlier run</RunLink>; when it has ended, what both wrote is compared byte for byte.
            </>
          ) : (
            (BEFORE[job.state] ?? (job.protocol === 'none' ? UNPROTECTED : BEFORE.running))
          )}
        </p>
      </div>
    );
  const verdict = verdictOf(data.runs);
  return (
    <section className={`notice tone-${verdict.tone}`} aria-label="Is the answer the same?" data-testid="comparison">
      <div className="row apart">
        <strong>{data.runs.length === 0 ? notCompared(job) : verdict.text}</strong>
        {may && (
          <Button className="button small" isDisabled={again.isPending} onPress={() => again.mutate()}>
            Run again and compare
          </Button>
        )}
      </div>
      {data.runs.length > 0 && (
        <ul className="plain compared">
          {data.runs.map((r) => (
            <Compared key={r.job} job={job} run={r} all={data} />
          ))}
        </ul>
      )}
      <Problem error={again.error} title="It could not be run again" />
    </section>
  );
}

function notCompared(job: JobView): string {
  const lost = job.faults.length;
  return `${lost === 0 ? '' : lost === 1 ? 'A rank was lost on the way. ' : `Ranks were lost ${lost} times on the way. `}The answer has not been compared with another run yet.`;
}

function Compared({ job, run, all }: { job: JobView; run: ComparedRun; all: ComparisonView }) {
  return (
    <li>
      <p className="small">
        <RunLink id={run.job}>{run.name}</RunLink>: {run.same === undefined ? (hasEnded(run.state) ? 'it was cancelled, and says nothing' : `${jobWord(run.state).text.toLowerCase()}; compared when it has ended`) : comparisonLine(job.faults.length, run)}
        {run.same === true && (
          <span className="muted">
            {' '}
            Compared: how it ended, {all.streams === 0 ? 'that nothing was printed' : `standard output of ${plural(job.size, 'rank')}`}, {all.files === 0 ? 'that no file was written' : plural(all.files, 'result file')} ({bytes(all.bytes)}, SHA-256).
          </span>
        )}
      </p>
      <Differences of={run.differences} />
      {run.same === false && <p className="muted small">A program that reads the clock, or prints who came first, may rightly differ; random draws do not, both runs have the same seed.</p>}
    </li>
  );
}

const RunLink = ({ id, children }: { id: string; children: string }) => (
  <Link to="/dashboard/jobs/$id" params={{ id }}>
    {children}
  </Link>
);
