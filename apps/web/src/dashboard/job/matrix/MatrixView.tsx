/**
 * Who sends how much to whom: sources down, destinations across, as logged at the Channel Memories. More than 64 ranks
 * stand in bins, into which one may zoom. A cell is read by pointer, by arrow keys, and in a table.
 */
import type { JobView } from '@mayfly/wire';
import { useMutation } from '@tanstack/react-query';
import { useEffect, useLayoutEffect, useMemo, useRef, useState, type KeyboardEvent, type MouseEvent } from 'react';
import { bytes, count, plural } from '../../../shared/format.ts';
import { getMatrix, saveBlob } from '../../api.ts';
import { useLive } from '../../context.tsx';
import { Problem } from '../../Problem.tsx';
import { useStableRows } from '../../useStableRows.ts';
import { hasEnded } from '../../status-texts.ts';
import { arrowTarget } from '../arrow-keys.ts';
import { Grid, cellsFrom, csvOf, type Metric } from './grid.ts';
import { cellPx, LABELS, paint, TOP } from './paint.ts';
import './matrix.css';

const BINS = 64;
/** Rows of the table. */
const LISTED = 100;
type Span = [number, number];
interface Shown {
  src: Span;
  dst: Span;
}

export function MatrixView({ job }: { job: JobView }) {
  const all: Shown = { src: [0, job.size - 1], dst: [0, job.size - 1] };
  const [shown, setShown] = useState<Shown>(all);
  const [begun] = useState(!hasEnded(job.state));
  const [metric, setMetric] = useState<Metric>('messages');
  const [cell, setCell] = useState<{ s: number; d: number }>();
  const { grid, version, error } = useGrid(job, shown);
  const save = useMutation({
    mutationFn: async () => {
      const m = await getMatrix(job.id, { ...all, bins: job.size });
      saveBlob(new Blob([csvOf(new Grid(m))], { type: 'text/csv' }), `${job.name}-messages.csv`);
    },
  });
  const zoomed =
    shown.src[0] !== 0 || shown.dst[0] !== 0 || shown.src[1] !== job.size - 1 || shown.dst[1] !== job.size - 1;
  const zoom = (s: number, d: number) => {
    if (!grid || grid.binned === 1) return;
    // As many ranks as give cells of half the bins at least, around the chosen one.
    const around = (of: 'src' | 'dst', bin: number): Span => {
      const [a, b] = grid.ranks(of, bin);
      const wide = Math.max(BINS, ((shown[of][1] - shown[of][0] + 1) / 4) | 0);
      const first = Math.max(0, Math.min(job.size - wide, Math.round((a + b + 1 - wide) / 2)));
      return [first, Math.min(job.size - 1, first + wide - 1)];
    };
    setShown({ src: around('src', s), dst: around('dst', d) });
    setCell(undefined);
  };
  return (
    <section className="stack matrix" aria-label="Messages">
      <div className="row apart">
        <div className="row">
          <label className="row small nowrap">
            <span className="muted">Show</span>
            <select className="in select" value={metric} onChange={(e) => setMetric(e.target.value as Metric)}>
              <option value="messages">number of messages</option>
              <option value="bytes">bytes</option>
            </select>
          </label>
          {zoomed && (
            <button className="button small" onClick={() => setShown(all)}>
              All ranks
            </button>
          )}
        </div>
        <button
          className="button small"
          disabled={save.isPending || !grid || grid.most('messages') === 0}
          onClick={() => save.mutate()}
        >
          Download as CSV
        </button>
      </div>
      <Problem error={save.error ?? error} title="Could not load the counts" />
      <div className="matrix-and-list">
        <div className="stack">
          {/* Kept beside an empty matrix, so that nothing moves when the first message comes. */}
          <Heat
            grid={grid}
            version={version}
            metric={metric}
            cell={cell}
            choose={setCell}
            zoom={zoom}
            size={job.size}
          />
          <p className="small num matrix-words" role="status" data-testid="matrix-cell">
            {grid && cell ? (
              words(grid, cell, job)
            ) : (
              <span className="muted">
                {grid && grid.most('messages') === 0
                  ? hasEnded(job.state)
                    ? 'The ranks sent each other no messages.'
                    : 'No messages between ranks yet.'
                  : 'Point at a cell or use the arrow keys to read it.'}
              </span>
            )}
          </p>
          <Scale most={grid?.most(metric) ?? 0} metric={metric} />
          {grid && grid.binned > 1 && (
            <p className="muted small">
              Each cell is {grid.binned} × {grid.binned} ranks. Click a cell or press Enter to zoom in.
            </p>
          )}
        </div>
        {grid && <List job={job} grid={grid} version={version} metric={metric} watched={begun} />}
      </div>
    </section>
  );
}

/** Counters of what is shown: read once, then corrected by news while the job runs. */
function useGrid(job: JobView, shown: Shown): { grid: Grid | undefined; version: number; error: Error | undefined } {
  const live = useLive();
  const grid = useRef<Grid>(undefined);
  const [version, setVersion] = useState(0);
  const [error, setError] = useState<Error>();
  const ended = hasEnded(job.state);
  const key = `${shown.src.join()}.${shown.dst.join()}`;
  useEffect(() => {
    let over = false;
    const read = (): void =>
      void getMatrix(job.id, { ...shown, bins: BINS }).then(
        (m) => {
          if (over) return;
          grid.current = new Grid(m);
          setError(undefined);
          setVersion((v) => v + 1);
        },
        (e: unknown) => over || setError(e as Error),
      );
    read();
    // Also of a job that has ended meanwhile: what was sent last is in the news, or is read again.
    const off = live.look(
      { job: job.id, matrix: { src: shown.src as never, dst: shown.dst as never, bins: BINS } },
      {
        matrix: (n) => {
          const part = { src: n.src, dst: n.dst, binned: n.binned, cells: cellsFrom(n.cells) };
          if (grid.current?.take(part)) setVersion((v) => v + 1);
        },
        again: read,
      },
    );
    return () => {
      over = true;
      off();
    };
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [live, job.id, ended, key]);
  return { grid: grid.current, version, error };
}

const ranks = ([a, b]: Span): string => (a === b ? `rank ${a}` : `ranks ${a} to ${b}`);
/** The ranks of the cell exchange their messages in the memory of their node. */
const isLocal = (g: Grid, { s, d }: { s: number; d: number }, job: JobView): boolean => {
  const team = job.tasks[g.ranks('src', s)[0]]?.team;
  return g.binned === 1 && team !== undefined && job.tasks[g.ranks('dst', d)[0]]?.team === team;
};

function words(g: Grid, cell: { s: number; d: number }, job: JobView): string {
  const { s, d } = cell;
  const v = g.at(s, d);
  const [from, to] = [ranks(g.ranks('src', s)), ranks(g.ranks('dst', d))];
  return v.messages === 0 && v.bytes === 0
    ? `From ${from} to ${to}: nothing`
    : `From ${from} to ${to}: ${plural(v.messages, 'message')}, ${bytes(v.bytes)}` +
        (isLocal(g, cell, job) ? ', in the memory of their node' : '');
}

const SIDE = 520;

interface HeatProps {
  grid: Grid | undefined;
  version: number;
  metric: Metric;
  cell: { s: number; d: number } | undefined;
  choose: (c: { s: number; d: number } | undefined) => void;
  zoom: (s: number, d: number) => void;
  size: number;
}

function Heat({ grid, version, metric, cell, choose, zoom, size }: HeatProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [dark, setDark] = useState(() => matchMedia('(prefers-color-scheme: dark)').matches);
  const [side, setSide] = useState(SIDE);
  // Before it is first seen: what stands below does not move.
  useLayoutEffect(() => setSide(Math.min(SIDE, canvas.current!.parentElement!.clientWidth)), []);
  useEffect(() => {
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    const on = () => setDark(scheme.matches);
    scheme.addEventListener('change', on);
    const sized = new ResizeObserver(([e]) => e && setSide(Math.min(SIDE, Math.round(e.contentRect.width))));
    sized.observe(canvas.current!.parentElement!);
    return () => {
      scheme.removeEventListener('change', on);
      sized.disconnect();
    };
  }, []);
  useEffect(() => {
    if (canvas.current && grid) paint(canvas.current, grid, metric, cell, dark, side);
  }, [grid, version, metric, cell, dark, side]);
  const at = (e: MouseEvent): { s: number; d: number } | undefined => {
    const b = canvas.current!.getBoundingClientRect();
    const px = cellPx(grid, side);
    const d = Math.floor((e.clientX - b.left - LABELS) / px);
    const s = Math.floor((e.clientY - b.top - TOP) / px);
    return grid && s >= 0 && d >= 0 && s < grid.high && d < grid.wide ? { s, d } : undefined;
  };
  const onKey = (e: KeyboardEvent) => {
    if (!grid) return;
    const index = cell ? cell.s * grid.wide + cell.d : 0;
    const to = cell
      ? arrowTarget(e.key, index, grid.wide * grid.high, grid.wide)
      : e.key.startsWith('Arrow')
        ? 0
        : undefined;
    if (to !== undefined) {
      e.preventDefault();
      choose({ s: Math.floor(to / grid.wide), d: to % grid.wide });
    } else if (e.key === 'Enter' && cell) zoom(cell.s, cell.d);
    else if (e.key === 'Escape') choose(undefined);
  };
  return (
    <div className="heat">
      <p className="muted small" aria-hidden="true">
        sender ↓ receiver →
      </p>
      <canvas
        ref={canvas}
        tabIndex={0}
        role="application"
        aria-label={
          `Messages between ${plural(size, 'rank')}: senders down, receivers across. Arrow keys move, Enter ` + 'zooms.'
        }
        data-testid="matrix"
        style={{ width: side, height: side }}
        onMouseMove={(e) => choose(at(e))}
        onMouseLeave={() => choose(undefined)}
        onClick={(e) => {
          const c = at(e);
          choose(c);
          if (c) zoom(c.s, c.d);
        }}
        onKeyDown={onKey}
      />
    </div>
  );
}

function Scale({ most, metric }: { most: number; metric: Metric }) {
  const say = metric === 'bytes' ? bytes : count;
  return (
    <p className="row small muted num scale">
      <span>{metric === 'bytes' ? '1 B' : '1'}</span>
      <i aria-hidden="true" />
      <span>
        {say(most)} {metric === 'messages' && 'messages'} (logarithmic)
      </span>
    </p>
  );
}

type Pair = ReturnType<Grid['list']>[number];
const idOf = (c: Pair): string => `${c.s}.${c.d}`;

interface ListProps {
  job: JobView;
  grid: Grid;
  version: number;
  metric: Metric;
  watched: boolean;
}

function List({ job, grid, version, metric, watched }: ListProps) {
  const things = useMemo(() => {
    void version;
    const all = grid.list(metric);
    return { all, listed: all.slice(0, LISTED), id: idOf };
  }, [grid, version, metric]);
  // Counts grow past each other: pairs stand in the order in which they stood when it was asked for.
  const { rows } = useStableRows(things, { join: true, chosen: `${metric} ${grid.src.join()} ${grid.dst.join()}` });
  const more = things.all.length - LISTED;
  const say = (span: Span): string => (span[0] === span[1] ? String(span[0]) : `${span[0]}–${span[1]}`);
  return (
    <div
      className={`card scroll-x matrix-list${watched ? ' kept' : ''}`}
      tabIndex={0}
      role="region"
      aria-label="Pairs of ranks by what was sent"
    >
      <table className="table num small fixed" data-testid="matrix-table">
        <thead>
          <tr>
            <th scope="col" className="c-span">
              From
            </th>
            <th scope="col" className="c-span">
              To
            </th>
            <th scope="col" className="right">
              Messages
            </th>
            <th scope="col" className="right">
              Bytes
            </th>
            <th scope="col" className="right c-local" title="in the memory of their node">
              Local
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, LISTED).map(({ id, item: c }) => (
            <tr key={id}>
              <td>{say(grid.ranks('src', c.s))}</td>
              <td>{say(grid.ranks('dst', c.d))}</td>
              <td className="right">{count(c.messages)}</td>
              <td className="right">{bytes(c.bytes)}</td>
              <td className="right muted">{isLocal(grid, c, job) && 'local'}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {more > 0 && <p className="muted small more">{plural(more, 'more pair')}: in the download.</p>}
    </div>
  );
}
