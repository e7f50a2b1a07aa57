/**
 * What is known of whether the answer of an ended job is right: other runs of it with the same input, and a button that
 * makes one. Nothing is claimed that was not compared.
 */
import { faultsOf, type ComparedRun, type ComparisonView, type JobView } from '@mayfly/wire';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { Button } from 'react-aria-components';
import { Differences } from '../../../shared/Differences.tsx';
import { bytes, plural } from '../../../shared/format.ts';
import { getComparison, runAgain } from '../../api.ts';
import { useMay } from '../../context.tsx';
import { Problem } from '../../Problem.tsx';
import { beforeComparison } from '../../protocol-texts.ts';
import { comparisonLine, hasEnded, jobWord, verdictOf } from '../../status-texts.ts';
import { Held } from './Held.tsx';

const POLL_MS = 3000;

const useComparison = (job: JobView, enabled: boolean) =>
  useQuery({
    queryKey: ['comparison', job.id, job.state],
    queryFn: () => getComparison(job.id),
    enabled,
    // What was known a moment ago knows nothing of a run that has ended since.
    staleTime: 0,
    // Runs that are still under way end some time.
    refetchInterval: (q) => (q.state.data?.runs.some((r) => !hasEnded(r.state)) ? POLL_MS : false),
  });

/** Of a failure nobody asks whether it is the right one, unless somebody did. */
export function FailureCompared({ job }: { job: JobView }) {
  const runs = useComparison(job, true).data?.runs ?? [];
  if (runs.length === 0) return null;
  return (
    <>
      {verdictOf(runs).text}{' '}
      <Link to="/dashboard/jobs/$id" params={{ id: job.id }} search={{ view: 'report' }} resetScroll={false}>
        In the report
      </Link>
    </>
  );
}

export function Comparison({ job }: { job: JobView }) {
  const navigate = useNavigate();
  const may = useMay('submitter');
  const { data } = useComparison(job, job.state === 'done');
  const again = useMutation({
    mutationFn: () => runAgain(job.id),
    onSuccess: (fresh) => navigate({ to: '/dashboard/jobs/$id', params: { id: fresh.id } }),
  });
  // As large as what comes in its place: nothing moves when the job ends.
  if (job.state !== 'done' || !data)
    return (
      <Held tone="quiet" id="comparison">
        <p className="small">
          {job.compareWith !== undefined && !hasEnded(job.state) ? (
            <>
              Runs with the same input and seed as <RunLink id={job.compareWith}>an earlier run</RunLink>; when it has
              ended, the output of both is compared byte for byte.
            </>
          ) : (
            beforeComparison(job)
          )}
        </p>
      </Held>
    );
  const { runs } = data;
  const verdict = verdictOf(runs);
  const only = runs.length === 1 ? runs[0]! : undefined;
  const button = may && (
    <Button className="button small" isDisabled={again.isPending} onPress={() => again.mutate()}>
      Run again and compare
    </Button>
  );
  return (
    <>
      <Held
        tone={verdict.tone}
        id="comparison"
        label="Is the answer the same?"
        more={runs.length > 0}
        {...(button ? { button } : {})}
      >
        <div className="words">
          <strong className="title">{runs.length === 0 ? 'Not verified by a second run yet.' : verdict.text}</strong>
          <p className="small second">
            {runs.length === 0 ? (
              lostText(faultsOf(job))
            ) : only ? (
              <Compared job={job} run={only} />
            ) : (
              `It was run ${plural(runs.length, 'more time')} with the same input and seed.`
            )}
          </p>
          <ul className="plain compared small opened-only">
            {runs.map((r) => (
              <li key={r.job}>
                {!only && <Compared job={job} run={r} />} <Extent job={job} run={r} all={data} />
              </li>
            ))}
          </ul>
        </div>
      </Held>
      <Problem error={again.error} title="Could not run it again" />
    </>
  );
}

const lostText = (lost: number): string =>
  lost === 0 ? 'No ranks were lost.' : lost === 1 ? 'One rank was lost.' : `Ranks were lost ${lost} times.`;

function Compared({ job, run }: { job: JobView; run: ComparedRun }) {
  return (
    <>
      <RunLink id={run.job}>{run.name}</RunLink>:{' '}
      {run.same === undefined
        ? hasEnded(run.state)
          ? 'cancelled, so it proves nothing'
          : `${jobWord(run.state).text.toLowerCase()}; compared when it has ended`
        : comparisonLine(faultsOf(job), run)}
    </>
  );
}

/** How much was compared, and where they differ. */
function Extent({ job, run, all }: { job: JobView; run: ComparedRun; all: ComparisonView }) {
  return (
    <>
      {run.same === true && (
        <span className="muted">
          Compared: how it ended,{' '}
          {all.streams === 0 ? 'that nothing was printed' : `standard output of ${plural(job.size, 'rank')}`},{' '}
          {all.files === 0 ? 'that no file was written' : plural(all.files, 'result file')} ({bytes(all.bytes)},
          SHA-256).
        </span>
      )}
      <Differences of={run.differences} />
      {run.same === false && (
        <p className="muted">
          Programs that read the clock or print who came first can legitimately differ. Random numbers do not differ:
          both runs use the same seed.
        </p>
      )}
    </>
  );
}

const RunLink = ({ id, children }: { id: string; children: string }) => (
  <Link to="/dashboard/jobs/$id" params={{ id }}>
    {children}
  </Link>
);
