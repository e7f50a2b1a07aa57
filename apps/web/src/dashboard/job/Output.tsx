/** What the ranks print: merged or one rank's, live, following the end unless the reader has scrolled up. */
import type { JobView } from '@mayfly/wire';
import { memo, useEffect, useLayoutEffect, useRef, useState, useSyncExternalStore } from 'react';
import { useMutation } from '@tanstack/react-query';
import { getStream, saveBlob } from '../api.ts';
import { Problem } from '../Problem.tsx';
import { findLines, neighbour, splitAt } from '../find-lines.ts';
import type { OutputLine } from '../output.ts';
import { hasEnded } from '../status-texts.ts';
import type { ViewProps } from './view-props.ts';

const SHOWN = 2000;
const SHOWN_PROVISIONAL = 200;

export function Output({ job, feed }: ViewProps) {
  useSyncExternalStore(feed.subscribe, feed.version);
  const [rank, setRank] = useState<number | undefined>(undefined);
  const [wanted, setWanted] = useState('');
  const [follow, setFollow] = useState(true);
  /** Line that the search stands at, by its number: lines that come do not move it. */
  const [at, setAt] = useState<number | undefined>(undefined);
  const lines = feed.log.lines(rank, SHOWN);
  const truncated = feed.log.truncated(rank, SHOWN);
  const provisional = feed.provisional.lines(rank, SHOWN_PROVISIONAL);
  const found = findLines(lines, wanted);
  const place = at === undefined ? -1 : found.indexOf(at);
  const save = useMutation({ mutationFn: () => download(job, rank) });
  /** What comes has its place; when nothing comes any more, the box is as high as its lines. */
  const live = !hasEnded(job.state);
  const step = (by: 1 | -1) => {
    const next = neighbour(found, at, by);
    if (next === undefined) return;
    setFollow(false);
    setAt(next);
  };
  return (
    <section className="stack" aria-label="Output">
      <div className="row apart">
        <h2>Output</h2>
        <div className="row">
          <label className="row small nowrap">
            <span className="muted">Show</span>
            <select
              className="in select"
              value={rank ?? 'all'}
              onChange={(e) => setRank(e.target.value === 'all' ? undefined : Number(e.target.value))}
            >
              <option value="all">all ranks</option>
              <RankOptions ranks={job.tasks.length} />
            </select>
          </label>
          <button
            className="button small"
            disabled={save.isPending || lines.length === 0}
            onClick={() => save.mutate()}
          >
            Download
          </button>
        </div>
      </div>
      {(live || lines.length > 0) && (
        <div className="row find" role="search" aria-label="Find in the output">
          <input
            className="in select"
            type="search"
            aria-label="Find in the lines that are shown"
            placeholder="Find"
            value={wanted}
            onChange={(e) => {
              setWanted(e.target.value);
              setAt(undefined);
            }}
            onKeyDown={(e) => {
              if (e.key !== 'Enter') return;
              e.preventDefault();
              step(e.shiftKey ? -1 : 1);
            }}
          />
          <button className="button small" disabled={found.length === 0} onClick={() => step(-1)}>
            Previous
          </button>
          <button className="button small" disabled={found.length === 0} onClick={() => step(1)}>
            Next
          </button>
          <span className="muted small num" role="status">
            {wanted === ''
              ? ''
              : found.length === 0
                ? 'not found'
                : place < 0
                  ? `${found.length} ${found.length === 1 ? 'line' : 'lines'}`
                  : `${place + 1} of ${found.length}`}
          </span>
          <label className="check small">
            <input type="checkbox" checked={follow} onChange={(e) => setFollow(e.target.checked)} /> Follow the end
          </label>
        </div>
      )}
      <Problem error={save.error} title="Could not download the output" />
      {lines.length === 0 && provisional.length === 0 && !live ? (
        <p className="muted small">The program printed nothing.</p>
      ) : (
        <Terminal
          lines={lines}
          provisional={provisional}
          truncated={truncated}
          ranks={rank === undefined && job.size > 1}
          width={String(job.size - 1).length}
          wanted={wanted}
          at={at}
          follow={follow}
          setFollow={setFollow}
          held={live}
        />
      )}
    </section>
  );
}

/** Of many ranks too many to be compared at each news. */
const RankOptions = memo(function RankOptions({ ranks }: { ranks: number }) {
  return Array.from({ length: ranks }, (_, rank) => (
    <option key={rank} value={rank}>
      rank {rank}
    </option>
  ));
});

interface TerminalProps {
  lines: OutputLine[];
  /** A loss takes them back. */
  provisional: OutputLine[];
  truncated: boolean;
  ranks: boolean;
  width: number;
  wanted: string;
  at: number | undefined;
  follow: boolean;
  setFollow: (on: boolean) => void;
  /** It has its height whatever is in it. */
  held: boolean;
}

/** Of more lines than this, those outside of the window are not laid out (`content-visibility` in job.css). */
const MANY = 200;

function Terminal({ lines, provisional, truncated, ranks, width, wanted, at, follow, setFollow, held }: TerminalProps) {
  const box = useRef<HTMLDivElement>(null);
  const inner = useRef<HTMLDivElement>(null);
  const told = useRef(follow);
  const byHand = useRef(false);
  told.current = follow;
  useLayoutEffect(() => {
    const el = box.current;
    if (el && follow) el.scrollTop = el.scrollHeight;
  }, [lines, provisional, follow]);
  useEffect(() => {
    byHand.current = false;
    if (at !== undefined) box.current?.querySelector('[data-at]')?.scrollIntoView({ block: 'nearest' });
  }, [at]);
  useEffect(() => {
    const el = box.current;
    if (!el || !inner.current) return;
    // Lines that come into sight get their true height, and the end moves.
    const size = new ResizeObserver(() => {
      if (told.current) el.scrollTop = el.scrollHeight;
    });
    size.observe(inner.current);
    // Who scrolls up wants to read; who scrolls to the end wants to follow. What scrolls by itself wants nothing.
    const onHand = () => (byHand.current = true);
    let last = el.scrollTop;
    const onScroll = () => {
      const rest = el.scrollHeight - el.scrollTop - el.clientHeight;
      const up = el.scrollTop < last;
      last = el.scrollTop;
      if (!byHand.current) return;
      if (told.current && up && rest > 2) setFollow(false);
      else if (!told.current && !up && rest < 24) setFollow(true);
    };
    const hands = ['wheel', 'touchmove', 'pointerdown', 'keydown'] as const;
    for (const h of hands) el.addEventListener(h, onHand, { passive: true });
    el.addEventListener('scroll', onScroll, { passive: true });
    return () => {
      size.disconnect();
      for (const h of hands) el.removeEventListener(h, onHand);
      el.removeEventListener('scroll', onScroll);
    };
  }, [setFollow]);
  return (
    <div
      className={`terminal${held ? ' held' : ''}${lines.length > MANY ? ' long' : ''}`}
      ref={box}
      tabIndex={0}
      role="log"
      aria-live="off"
      aria-label="Output lines"
      data-testid="output"
    >
      {lines.length === 0 && provisional.length === 0 && <p className="muted">Nothing printed yet.</p>}
      <div ref={inner}>
        {truncated && <div className="line gap">… earlier lines are not shown here; the download has them …</div>}
        {lines.map((line) => (
          <Line key={line.seq} line={line} ranks={ranks} width={width} wanted={wanted} here={line.seq === at} />
        ))}
      </div>
      {provisional.length > 0 && (
        <div className="provisional" role="group" aria-label="Not final yet">
          <p>Not final yet: the next checkpoint waves make it final, a loss takes it back.</p>
          {provisional.map((line) => (
            <Line key={line.seq} line={line} ranks={ranks} width={width} wanted="" here={false} />
          ))}
        </div>
      )}
    </div>
  );
}

interface LineProps {
  line: OutputLine;
  ranks: boolean;
  width: number;
  wanted: string;
  here: boolean;
}

function Line({ line: l, ranks, width, wanted, here }: LineProps) {
  return (
    <div
      className={`line${l.stream === 'stderr' ? ' err' : ''}${l.kind === 'gap' ? ' gap' : ''}`}
      {...(here ? { 'data-at': '' } : {})}
    >
      {ranks && <span className="who">{String(l.task).padStart(width, '\u2007')}</span>}
      {l.stream === 'stderr' && <span className="visually-hidden">stderr: </span>}
      <span className="text">{l.text === '' ? '\u200b' : shown(l, wanted)}</span>
    </div>
  );
}

/** A line that has what is looked for shows where, the others their colours. */
function shown({ text, runs }: OutputLine, wanted: string) {
  const parts = wanted === '' ? [text] : splitAt(text, wanted);
  if (parts.length > 1) return parts.map((part, i) => (i % 2 === 1 ? <mark key={i}>{part}</mark> : part));
  return (
    runs?.map((r, i) =>
      r.style === '' ? (
        r.text
      ) : (
        <span key={i} className={r.style}>
          {r.text}
        </span>
      ),
    ) ?? text
  );
}

/**
 * One rank: its standard output, then its standard error. All: every rank's, one after the other, under a heading each.
 */
async function download(job: JobView, rank: number | undefined): Promise<void> {
  const tasks = rank === undefined ? job.tasks.map((t) => t.task as number) : [rank];
  const parts: (Blob | string)[] = [];
  for (const t of tasks) {
    for (const stream of ['stdout', 'stderr'] as const) {
      const content = await getStream(job.id, t, stream);
      if (content.size === 0) continue;
      if (rank === undefined || stream === 'stderr')
        parts.push(`${parts.length ? '\n' : ''}=== rank ${t}, ${stream} ===\n`);
      parts.push(content);
    }
  }
  saveBlob(new Blob(parts, { type: 'text/plain' }), `${job.name}-${rank === undefined ? 'all' : `rank${rank}`}.txt`);
}
