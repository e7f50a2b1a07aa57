/** The report of a run as a page: reads without knowledge of Mayfly, and prints. */
import { Fragment } from 'react';
import type { JobReport } from '@mayfly/wire';
import { Differences } from '../shared/Differences.tsx';
import { Fact } from '../shared/Fact.tsx';
import { bytes, count, dayAndClock, duration, elapsed, plural, rankRange, shownArguments } from '../shared/format.ts';
import { Tag } from '../shared/Tag.tsx';
import { goesBackTogether, toleranceText } from '../dashboard/protocol-texts.ts';
import { Rollbacks, WaveTable } from '../dashboard/job/waves/Waves.tsx';
import { sumsLine } from '../dashboard/job/waves/wave-texts.ts';
import { comparisonLine, faultCause, jobWord, verdictOf } from '../dashboard/status-texts.ts';
import { Profile } from './Profile.tsx';
import './report.css';

export function Report({ report: r }: { report: JobReport }) {
  const { job, totals } = r;
  const start = job.startedAt ?? job.submittedAt;
  const all = totals.usefulMs + totals.replayedMs;
  const written = [...r.outputs.files, ...r.outputs.stdout, ...r.outputs.stderr];
  return (
    <div className="stack report" data-testid="report">
      <p>{story(r)}</p>
      {job.about !== undefined && <p className="break">Purpose, in the owner’s words: {job.about}</p>}
      {job.error && (
        <div className="notice tone-bad">
          <strong>{job.error.code}</strong>
          <p className="break lines">{job.error.message}</p>
        </div>
      )}
      <dl className="facts">
        <Fact name="State" value={<Tag tone={jobWord(job.state).tone}>{jobWord(job.state).text}</Tag>} />
        <Fact name="Ran for" value={job.startedAt === undefined ? '–' : duration(job.runMs)} />
        <Fact name="Ranks" value={count(job.size)} />
        <Fact name="Messages" value={`${count(totals.messages)} · ${bytes(totals.bytes)}`} />
        <Fact name="Checkpoints" value={`${count(totals.images)} · ${bytes(totals.imageBytes)}`} />
        <Fact name="Lost ranks" value={count(totals.faults)} />
        <Fact name="New work" value={all > 0 ? duration(totals.usefulMs) : '–'} />
        <Fact
          name="Repeated work"
          value={all > 0 ? `${duration(totals.replayedMs)} (${((100 * totals.replayedMs) / all).toFixed(1)} %)` : '–'}
        />
      </dl>
      <section className="stack">
        <h2>The program</h2>
        <dl className="pairs">
          {(job.parts ?? [{ first: 0, size: job.size, program: job.program, args: job.args }]).map((part, n) => (
            <Fragment key={part.first}>
              <dt>Program{job.parts && ` ${n}, ${rankRange(part)}`}</dt>
              <dd className="mono">{shownArguments([part.program.entry, ...part.args])}</dd>
              <dt>Hash (BLAKE3)</dt>
              <dd className="mono">{part.program.hash}</dd>
            </Fragment>
          ))}
          <dt>Seed of random draws</dt>
          <dd className="mono">{job.seed}</dd>
          <dt>Fault tolerance</dt>
          <dd>{toleranceText(job.options)}</dd>
          <dt>Submitted</dt>
          <dd>{dayAndClock(job.submittedAt)}</dd>
          {job.pausedMs > 0 && (
            <>
              <dt>Paused for</dt>
              <dd>{duration(job.pausedMs)}</dd>
            </>
          )}
          <dt>Server</dt>
          <dd>Mayfly {r.server.version}</dd>
        </dl>
      </section>
      <section className="stack">
        <h2>Where it ran</h2>
        {r.nodes.length === 0 ? (
          <p className="muted small">No longer known.</p>
        ) : (
          <ul className="plain">
            {r.nodes.map((n, i) => (
              <li key={i}>
                {n.name === undefined ? n.engine : `${n.name} (${n.engine})`}: {n.ranks.length === 1 ? 'rank' : 'ranks'}{' '}
                {listed(n.ranks)}
              </li>
            ))}
          </ul>
        )}
      </section>
      <section className="stack">
        <h2>Ranks that were lost</h2>
        {r.faults.length === 0 ? (
          <p className="muted small">None.</p>
        ) : (
          <Table
            label="Ranks that were lost"
            head={['After', 'Rank', 'What happened', 'New place', 'Start', 'Repeat', 'Back after']}
            rows={r.faults.map((f) => [
              elapsed(f.at - start),
              String(f.rank),
              f.error === undefined ? faultCause(f.cause) : `${faultCause(f.cause)}: ${f.error}`,
              ms(f.slotMs),
              ms(f.startMs),
              ms(f.replayMs),
              ms(f.recoveredAfterMs),
            ])}
          />
        )}
      </section>
      {r.waves && (
        <section className="stack" aria-label="Waves">
          <h2>Checkpoints of all ranks</h2>
          <p className="muted small num">{sumsLine(r.waves)}</p>
          {r.waves.recent.length > 0 && (
            <WaveTable rows={r.waves.recent.toReversed()} start={start} parity={r.job.options.parity !== undefined} />
          )}
          <Rollbacks waves={r.waves} start={start} />
        </section>
      )}
      <section className="stack">
        <h2>What it wrote</h2>
        {written.length === 0 ? (
          <p className="muted small">Nothing.</p>
        ) : (
          <>
            <p className="muted small">
              SHA-256, as <code>sha256sum</code> prints it: Two runs with the same hashes wrote the same bytes.
            </p>
            <Table
              label="What it wrote"
              head={['Name', 'Rank', 'Size', 'SHA-256']}
              rows={written.map((o) => [o.path, String(o.rank), bytes(o.bytes), o.sha256 ?? 'when it has ended'])}
            />
          </>
        )}
      </section>
      <Same report={r} />
      {r.profile !== undefined && r.profile.some((p) => Object.keys(p.ms).length > 0) && (
        <section className="stack" aria-label="Where the time went">
          <h2>Where the time went</h2>
          <Profile ranks={r.profile} />
        </section>
      )}
      <section className="stack">
        <h2>Ranks</h2>
        <Table
          label="Ranks"
          head={['Rank', 'Incarnations', 'Messages in', 'Messages out', 'Checkpoints', 'Exit code']}
          rows={r.ranks.map((t) => [
            String(t.rank),
            String(t.incarnations),
            `${count(t.messagesIn)} · ${bytes(t.bytesIn)}`,
            `${count(t.messagesOut)} · ${bytes(t.bytesOut)}`,
            String(t.images),
            t.exitCode === undefined ? '–' : String(t.exitCode),
          ])}
        />
      </section>
      <p className="muted small">
        Mayfly runs MPI programs, which are written for clusters, in browser tabs that volunteers open and close at any
        time. A <em>rank</em> is one of the program’s processes; when its tab goes away, {GONE[job.options.protocol]}{' '}
        Times are sums over all ranks.
      </p>
    </div>
  );
}

/** Only what was compared is said; nothing where nothing was. */
function Same({ report: r }: { report: JobReport }) {
  const runs = r.comparisons ?? [];
  if (runs.length === 0) return null;
  const verdict = verdictOf(runs);
  const { stdout, files } = r.outputs;
  return (
    <section className="stack" data-testid="same">
      <h2>Is the answer the same?</h2>
      <div className={`notice tone-${verdict.tone}`}>
        <strong>{verdict.text}</strong>
      </div>
      <p className="muted small">
        The same program ran again with the same input and the same seed of random draws. Compared by SHA-256: how it
        ended, {stdout.length === 0 ? 'that nothing was printed' : 'standard output of each rank'},{' '}
        {files.length === 0 ? 'that no file was written' : plural(files.length, 'result file')}.
      </p>
      <ul className="plain">
        {runs.map((c, i) => (
          <li key={i}>
            {runs.length > 1 ? `Run ${i + 1}: ` : 'The other run: '}
            {comparisonLine(r.totals.faults, c)}
            <Differences of={c.differences} />
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The run in a sentence or two. */
function story({ job, totals, faults }: JobReport): string {
  const what = `“${job.name}”`;
  const processes = plural(job.size, 'process', 'processes');
  if (job.startedAt === undefined) return `${what} has ${processes} and has not begun.`;
  const back = faults.filter((f) => f.recoveredAfterMs !== undefined).length;
  const times = totals.faults === 1 ? 'once' : `${count(totals.faults)} times`;
  const again = back === totals.faults ? (back === 1 ? 'It' : 'Each time it') : `${count(back)} times it`;
  const lost =
    totals.faults === 0
      ? 'No process was lost on the way.'
      : goesBackTogether(job.options.protocol)
        ? `On the way a process was lost ${times}. Each time all processes went back to their last checkpoint.`
        : `On the way a process was lost ${times}. ${again} was started again, and came back to where it had been.`;
  const how = HOW[job.state];
  return how === undefined
    ? `${what} has run on ${processes} for ${duration(job.runMs)} so far. ${lost}`
    : `${what} ran on ${processes} and ${how} ${duration(job.runMs)}. ${lost}`;
}

const INCARNATION = (
  <>
    it is started again in another one as its next <em>incarnation</em>
  </>
);
const TOGETHER = (
  <>
    {INCARNATION}, and all ranks go back to the last <em>checkpoint</em> that they took together and repeat the work
    since then.
  </>
);
/** What follows when the tab of a rank goes away. */
const GONE = {
  pessimistic: (
    <>
      {INCARNATION}: it resumes from its last <em>checkpoint</em> and repeats the work since then, with the messages
      from its log.
    </>
  ),
  vcl: TOGETHER,
  pcl: TOGETHER,
  hc3i: (
    <>
      {INCARNATION}, and the ranks of its <em>cluster</em> go back to the last checkpoint that they took together. Other
      clusters go back only as far as they depend on what is undone.
    </>
  ),
  app: <>the other ranks learn of it, and the program decides how to go on.</>,
  none: <>this job ends, because nothing is kept to restart a rank from.</>,
};

const HOW: Partial<Record<string, string>> = {
  done: 'finished in',
  failed: 'failed after',
  cancelled: 'was cancelled after',
};

function Table({ label, head, rows }: { label: string; head: string[]; rows: string[][] }) {
  return (
    <div className="card scroll-x" tabIndex={0} role="group" aria-label={label}>
      <table className="table num">
        <thead>
          <tr>
            {head.map((h) => (
              <th key={h}>{h}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells, i) => (
            <tr key={i}>
              {cells.map((c, k) => (
                <td key={k} className={/^[0-9a-f]{64}$/.test(c) ? 'mono hash' : c.length > 40 ? 'long' : ''}>
                  {c}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const ms = (n: number | undefined): string => (n === undefined ? '–' : duration(n));
const listed = (n: readonly number[]): string =>
  n.length > 24 ? `${n.slice(0, 24).join(', ')} and ${n.length - 24} more` : n.join(', ');
