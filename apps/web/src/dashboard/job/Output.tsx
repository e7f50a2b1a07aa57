/** What the ranks print: merged or one rank's, live, following the end unless the reader has scrolled up. */
import type { JobView } from '@mayfly/wire';
import { useEffect, useLayoutEffect, useRef, useState, useSyncExternalStore } from 'react';
import { useMutation } from '@tanstack/react-query';
import { getStream, saveBlob } from '../api.ts';
import { Problem } from '../Problem.tsx';
import type { OutputLine } from '../output.ts';
import { hasEnded } from '../words.ts';
import type { ViewProps } from './views.tsx';

const SHOWN = 2000;

export function Output({ job, feed }: ViewProps) {
  useSyncExternalStore(feed.subscribe, feed.version);
  const [rank, setRank] = useState<number | undefined>(undefined);
  const [wanted, setWanted] = useState('');
  const all = feed.log.lines(rank, SHOWN);
  const lines = wanted === '' ? all : all.filter((l) => l.text.toLowerCase().includes(wanted.toLowerCase()));
  const truncated = feed.log.truncated(rank, SHOWN);
  const save = useMutation({ mutationFn: () => download(job, rank) });
  return (
    <section className="stack" aria-label="Output">
      <div className="row apart">
        <h2>Output</h2>
        <div className="row">
          <input className="in small" type="search" aria-label="Search the lines that are shown" placeholder="Search" value={wanted} onChange={(e) => setWanted(e.target.value)} />
          <label className="row small nowrap">
            <span className="muted">Show</span>
            <select className="in select" value={rank ?? 'all'} onChange={(e) => setRank(e.target.value === 'all' ? undefined : Number(e.target.value))}>
              <option value="all">all ranks</option>
              {job.tasks.map((t) => (
                <option key={t.task} value={t.task}>
                  rank {t.task}
                </option>
              ))}
            </select>
          </label>
          <button className="button small" disabled={save.isPending || all.length === 0} onClick={() => save.mutate()}>
            Download
          </button>
        </div>
      </div>
      <Problem error={save.error} title="The output could not be downloaded" />
      {lines.length === 0 ? (
        <p className="muted small">{all.length > 0 ? 'No line that is shown has this.' : hasEnded(job.state) ? 'Nothing was printed.' : 'Nothing printed yet.'}</p>
      ) : (
        <Terminal lines={lines} truncated={truncated} ranks={rank === undefined && job.size > 1} width={String(job.size - 1).length} />
      )}
    </section>
  );
}

function Terminal({ lines, truncated, ranks, width }: { lines: OutputLine[]; truncated: boolean; ranks: boolean; width: number }) {
  const box = useRef<HTMLDivElement>(null);
  const follow = useRef(true);
  useLayoutEffect(() => {
    const el = box.current;
    if (el && follow.current) el.scrollTop = el.scrollHeight;
  }, [lines]);
  useEffect(() => {
    const el = box.current;
    if (!el) return;
    const onScroll = () => (follow.current = el.scrollHeight - el.scrollTop - el.clientHeight < 24);
    el.addEventListener('scroll', onScroll, { passive: true });
    return () => el.removeEventListener('scroll', onScroll);
  }, []);
  return (
    <div className="terminal" ref={box} tabIndex={0} role="log" aria-live="off" aria-label="Lines that were printed" data-testid="output">
      {truncated && <div className="line gap">… earlier lines are not shown here; the download has them …</div>}
      {lines.map((l) => (
        <div key={l.seq} className={`line${l.stream === 'stderr' ? ' err' : ''}${l.kind === 'gap' ? ' gap' : ''}`}>
          {ranks && <span className="who">{String(l.task).padStart(width, '\u2007')}</span>}
          {l.stream === 'stderr' && <span className="visually-hidden">stderr: </span>}
          <span className="text">{l.text === '' ? '\u200b' : l.text}</span>
        </div>
      ))}
    </div>
  );
}

/** One rank: its standard output, then its standard error. All: every rank's, one after the other, under a heading each. */
async function download(job: JobView, rank: number | undefined): Promise<void> {
  const tasks = rank === undefined ? job.tasks.map((t) => t.task as number) : [rank];
  const parts: (Blob | string)[] = [];
  for (const t of tasks) {
    for (const stream of ['stdout', 'stderr'] as const) {
      const content = await getStream(job.id, t, stream);
      if (content.size === 0) continue;
      if (rank === undefined || stream === 'stderr') parts.push(`${parts.length ? '\n' : ''}=== rank ${t}, ${stream} ===\n`);
      parts.push(content);
    }
  }
  saveBlob(new Blob(parts, { type: 'text/plain' }), `${job.name}-${rank === undefined ? 'all' : `rank${rank}`}.txt`);
}
