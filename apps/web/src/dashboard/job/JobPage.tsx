/** `/dashboard/jobs/:id`: one job, live. */
import { accepts, manifests } from '@mayfly/protocols/manifests';
import { faultsOf, progressText, type JobView } from '@mayfly/wire';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { Fragment, Suspense, useEffect, useRef } from 'react';
import { Tab, TabList, TabPanel, Tabs } from 'react-aria-components';
import { bytes, clock, count, dayAndClock, plural, rankRange, shownArguments } from '../../shared/format.ts';
import { Tag } from '../../shared/Tag.tsx';
import { useServerNow } from '../context.tsx';
import { Problem } from '../Problem.tsx';
import { durabilityText } from '../protocol-texts.ts';
import { hasEnded, jobLine, jobWord, ranksOf, runText, totalsOf } from '../status-texts.ts';
import { Actions } from './Actions.tsx';
import { AtEnd } from './AtEnd.tsx';
import { FailureCompared } from './notice/Comparison.tsx';
import { Notice } from './notice/Notice.tsx';
import { Result } from './Result.tsx';
import { useJob } from './useJob.ts';
import { VIEWS, viewOf } from './views.tsx';
import './job.css';

export function JobPage() {
  const { id } = useParams({ from: '/dashboard/jobs/$id' });
  const view = viewOf(useSearch({ from: '/dashboard/jobs/$id' }).view);
  const navigate = useNavigate({ from: '/dashboard/jobs/$id' });
  const { job, error, feed, files } = useJob(id);
  const tabs = useRef<HTMLDivElement>(null);
  const shown = job !== undefined;
  useEffect(() => {
    // On a phone the row of tabs scrolls: the one that is chosen comes into view, and the page stays where it is.
    const [row, tab] = [tabs.current, tabs.current?.querySelector<HTMLElement>('[aria-selected="true"]')];
    if (row && tab) row.scrollLeft = tab.offsetLeft - row.offsetLeft - (row.clientWidth - tab.offsetWidth) / 2;
  }, [view.id, shown]);
  if (error)
    return (
      <div className="stack">
        <title>No such job – Mayfly</title>
        <h1>Job {id}</h1>
        <Problem error={error} title="Could not show this job" />
        <p>
          <Link to="/dashboard" className="button">
            To all jobs
          </Link>
        </p>
      </div>
    );
  if (!job) return <p className="muted">Loading the job…</p>;
  const ended = hasEnded(job.state);
  const go = (to: string) => void navigate({ search: to === VIEWS[0]!.id ? {} : { view: to }, resetScroll: false });
  return (
    <article className="stack job-page" data-ended={ended || undefined}>
      <title>{`${jobWord(job.state).text}: ${job.name} – Mayfly`}</title>
      <header className="job-top">
        <div className="job-head">
          <h1>{job.name}</h1>
          <Actions key={job.id} job={job} />
          {job.about !== undefined && (
            <p className="job-about" data-testid="job-about">
              {job.about}
            </p>
          )}
          <p className="job-status" role="status">
            <Tag tone={jobWord(job.state).tone}>{jobWord(job.state).text}</Tag>
            <span className="muted" data-testid="job-line">
              {job.state === 'failed' ? <FailureCompared job={job} /> : jobLine(job)}
            </span>
          </p>
          {(!ended || job.progress) && <Progress of={job.progress} />}
        </div>
        <Result key={job.id} job={job} feed={feed} files={files} />
        <Figures job={job} />
        <Notice key={job.id} job={job} />
      </header>
      <Tabs className="stack job-views" selectedKey={view.id} onSelectionChange={(key) => go(String(key))}>
        <TabList ref={tabs} className="tabs job-tabs" aria-label="Views of this job">
          {VIEWS.map((v) => (
            <Tab key={v.id} id={v.id} className="tab">
              {v.label}
            </Tab>
          ))}
        </TabList>
        <TabPanel key={`${job.id} ${view.id}`} id={view.id} className="stack job-view">
          <Suspense fallback={<p className="muted">Loading…</p>}>
            <view.Component job={job} feed={feed} files={files} go={go} />
          </Suspense>
        </TabPanel>
      </Tabs>
      <About job={job} />
    </article>
  );
}

/** A row of its own, which a job that runs has without it: nothing moves when it comes, or when its words grow. */
function Progress({ of }: { of: JobView['progress'] }) {
  return (
    <div className="job-progress">
      {of && (
        <progress
          className="bar"
          aria-label="Progress of the program"
          data-testid="job-progress"
          data-repeats={of.repeating.length > 0 || undefined}
          value={of.fraction}
        />
      )}
      {of && <span className="muted small num">{progressText(of)}</span>}
    </div>
  );
}

function Figures({ job }: { job: JobView }) {
  const running = job.startedAt !== undefined && job.endedAt === undefined && job.pausedAt === undefined;
  const now = useServerNow(1000, running);
  const sum = totalsOf(job);
  const { done, total } = ranksOf(job);
  return (
    <dl className="facts" aria-label="Figures">
      <div>
        <dt>Run time</dt>
        <dd>{runText(job, now)}</dd>
      </div>
      <div>
        <dt>Ranks done</dt>
        <dd>
          {done} of {total}
        </dd>
      </div>
      <div>
        <dt>Messages</dt>
        <dd>{count(sum.messages)}</dd>
      </div>
      <div>
        <dt>Data</dt>
        <dd>{bytes(sum.bytes)}</dd>
      </div>
      {accepts(job.protocol, 'checkpoints') && (
        <div>
          <dt>Checkpoints</dt>
          <dd>
            {count(sum.images)}
            {sum.imageBytes > 0 && <span className="muted"> · {bytes(sum.imageBytes)}</span>}
          </dd>
        </div>
      )}
      <div>
        <dt>Faults</dt>
        <dd>{faultsOf(job)}</dd>
      </div>
      <AtEnd key={job.id} job={job} />
    </dl>
  );
}

const WEBHOOK = { waiting: 'waiting', delivered: 'delivered', lost: 'lost after the last try' };

function About({ job }: { job: JobView }) {
  return (
    <details className="about">
      <summary>About this job</summary>
      <dl className="pairs">
        <dt>Id</dt>
        <dd className="mono">{job.id}</dd>
        {(job.parts ?? [{ first: 0, size: job.size, program: job.program, args: job.args }]).map((part, n) => (
          <Fragment key={part.first}>
            <dt>Program{job.parts && ` ${n}`}</dt>
            <dd className="mono">
              {part.program.entry} <span className="muted">({part.program.hash.slice(0, 12)}…)</span>
            </dd>
            {job.parts && (
              <>
                <dt>Its ranks</dt>
                <dd>{rankRange(part)}</dd>
              </>
            )}
            <dt>Arguments</dt>
            <dd className="mono">{part.args.length ? shownArguments(part.args) : '–'}</dd>
          </Fragment>
        ))}
        <dt>Ranks</dt>
        <dd>{plural(job.size, 'rank') + (job.spawned ? `, ${job.spawned} spawned` : '')}</dd>
        {(job.rooms ?? [{ code: job.room }]).map(({ code }, cluster) => (
          <Fragment key={cluster}>
            <dt>Room{job.rooms && ` of cluster ${cluster}`}</dt>
            <dd>{code ?? 'none'}</dd>
          </Fragment>
        ))}
        <dt>Protocol</dt>
        <dd>{manifests[job.protocol].texts.summary}</dd>
        <dt>Durability</dt>
        <dd>{durabilityText(job)}</dd>
        <dt>Submitted</dt>
        <dd>{dayAndClock(job.submittedAt)}</dd>
        {job.startedAt !== undefined && (
          <>
            <dt>Started</dt>
            <dd>{clock(job.startedAt)}</dd>
          </>
        )}
        {job.endedAt !== undefined && (
          <>
            <dt>Ended</dt>
            <dd>{clock(job.endedAt)}</dd>
          </>
        )}
        {job.webhook && (
          <>
            <dt>Webhook</dt>
            <dd>
              {job.webhook.host}: {WEBHOOK[job.webhook.state]}
              {job.webhook.tries > 0 && `, ${plural(job.webhook.tries, 'try', 'tries')}`}
              {job.webhook.error !== undefined && `; last error: ${job.webhook.error}`}
            </dd>
          </>
        )}
        {job.exitCode !== undefined && (
          <>
            <dt>Exit code</dt>
            <dd>{job.exitCode}</dd>
          </>
        )}
      </dl>
    </details>
  );
}
