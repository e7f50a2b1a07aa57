/**
 * The time line of a job: one lane per rank, live, back to the start. Everything that the canvas shows can be had by
 * keyboard and in words: a cursor that arrows move, an inspector that says what it stands on, and a table.
 */
import { taskId, WORLD, type JobView } from '@mayfly/wire';
import { useEffect, useMemo, useRef, useState, useSyncExternalStore, type KeyboardEvent } from 'react';
import { bytes, duration, plural } from '../../../shared/format.ts';
import { useLive } from '../../context.tsx';
import { Problem } from '../../Problem.tsx';
import { faultCause } from '../../status-texts.ts';
import { ARROWS_SPAN, Chart } from './chart.ts';
import { hostOf } from './feed.ts';
import { KINDS } from './kinds.ts';
import { label } from './range.ts';
import { incarnationAt } from './sheet.ts';
import { pointers } from './pointers.ts';
import { eventText } from '../events.ts';
import { rollbackText, waveText } from '../waves/wave-texts.ts';
import { TraceButton } from './TraceButton.tsx';
import './kinds.css';
import './timeline.css';

/** What is said in words follows the canvas at this pace. */
const WORDS_MS = 250;

export function TimelineView({ job }: { job: JobView }) {
  const live = useLive();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [chart, setChart] = useState<Chart>();
  const words = useMemo(() => (void job.id, new Words()), [job.id]);
  useSyncExternalStore(words.subscribe, words.version);
  useEffect(() => {
    const el = canvas.current;
    if (!el) return;
    const { host, connect } = hostOf(live, job.id, (now) => words.changed(now));
    const c = new Chart(el, job.size, host);
    const off = connect(c);
    const stop = pointers(el, c);
    const sized = new ResizeObserver(([entry]) => entry && c.resize(Math.round(entry.contentRect.width)));
    sized.observe(el.parentElement!);
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    const again = () => c.draw();
    scheme.addEventListener('change', again);
    document.addEventListener('visibilitychange', again);
    setChart(c);
    return () => {
      sized.disconnect();
      stop();
      scheme.removeEventListener('change', again);
      document.removeEventListener('visibilitychange', again);
      c.close();
      off();
    };
  }, [live, job.id, job.size, words]);
  const clusters = job.waves?.clusters;
  useEffect(() => chart?.setClusters(clusters?.map((c) => c.ranks) ?? []), [chart, clusters]);
  return (
    <section className="stack timeline" aria-label="Timeline">
      <Bar chart={chart} />
      <div className="timeline-box" style={{ minHeight: heightFor(job.size) }}>
        <canvas
          ref={canvas}
          tabIndex={0}
          role="application"
          aria-label={
            `Timeline of ${plural(job.size, 'rank')}. Arrows move the cursor, plus and minus zoom, Page Up and ` +
            'Down move the time, brackets change the height of rows, Home, End and W show the start, the end ' +
            'and the whole.'
          }
          data-testid="timeline"
          data-known={chart?.known ? 'yes' : 'no'}
          style={{ height: heightFor(job.size) }}
          onKeyDown={(e) => chart && onKey(e, chart)}
        />
      </div>
      <Scrub chart={chart} />
      <Inspector chart={chart} job={job} />
      <Legend job={job} />
      <AsTable chart={chart} />
      <TraceButton job={job} disabled={!chart?.known} />
      <Remarks chart={chart} />
    </section>
  );
}

/** As in Chart, before there is one: nothing moves when it comes. */
const heightFor = (size: number): number => 23 + Math.ceil(Math.min(420, Math.max(1, Math.min(24, 420 / size)) * size));

/** Tells React at most every WORDS_MS that something has changed that is said in words. */
class Words {
  readonly #listeners = new Set<() => void>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #version = 0;
  changed(now = false): void {
    if (now) this.#tell();
    else this.#timer ??= setTimeout(() => this.#tell(), WORDS_MS);
  }
  #tell(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#version++;
    for (const f of this.#listeners) f();
  }
  readonly subscribe = (f: () => void): (() => void) => {
    this.#listeners.add(f);
    return () => this.#listeners.delete(f);
  };
  readonly version = (): number => this.#version;
}

function onKey(e: KeyboardEvent, c: Chart): void {
  const far = e.shiftKey ? 10 : 1;
  const keys: Record<string, () => void> = {
    ArrowLeft: () => c.moveCursor(-far, 0),
    ArrowRight: () => c.moveCursor(far, 0),
    ArrowUp: () => c.moveCursor(0, -far),
    ArrowDown: () => c.moveCursor(0, far),
    '+': () => c.zoomBy(0.5),
    '=': () => c.zoomBy(0.5),
    '-': () => c.zoomBy(2),
    PageUp: () => c.panBy(-c.span * 0.8),
    PageDown: () => c.panBy(c.span * 0.8),
    ']': () => c.zoomRows(1.6),
    '[': () => c.zoomRows(1 / 1.6),
    Home: () => c.show(c.run.since, c.run.since + c.span),
    End: () => c.setMode('live'),
    w: () => c.setMode('whole'),
    m: () => c.setArrows(!c.arrowsOn),
    Escape: () => c.setCursor(undefined),
  };
  const act = e.ctrlKey || e.metaKey || e.altKey ? undefined : keys[e.key];
  if (!act) return;
  e.preventDefault();
  act();
}

function Bar({ chart: c }: { chart: Chart | undefined }) {
  const off = !c?.known;
  const near = c !== undefined && c.span <= ARROWS_SPAN;
  return (
    <div className="row apart timeline-bar">
      <div className="row">
        <button
          className="button small"
          aria-pressed={c?.range.mode === 'whole'}
          disabled={off}
          onClick={() => c?.setMode('whole')}
        >
          Whole run
        </button>
        <button
          className="button small"
          aria-pressed={c?.range.mode === 'live'}
          disabled={off || c?.ended}
          onClick={() =>
            c?.range.mode === 'whole' ? c.zoomBy(Math.min(0.5, 60_000 / c.span), c.range.to) : c?.setMode('live')
          }
        >
          Follow
        </button>
        <span className="row nowrap join">
          <button
            className="button small"
            aria-label="Zoom out"
            disabled={off}
            onClick={() => c?.zoomBy(2, c.range.mode === 'fixed' ? undefined : c.range.to)}
          >
            −
          </button>
          <button
            className="button small"
            aria-label="Zoom in"
            disabled={off}
            onClick={() => c?.zoomBy(0.5, c.range.mode === 'fixed' ? undefined : c.range.to)}
          >
            +
          </button>
        </span>
        <label className="check">
          <input
            type="checkbox"
            disabled={off || c?.ended}
            checked={c?.arrowsOn ?? false}
            onChange={(e) => c?.setArrows(e.target.checked)}
          />
          <span>
            Messages as arrows <span className="muted">(while a job runs)</span>
          </span>
        </label>
      </div>
      <p className="muted small num" data-testid="timeline-range">
        {c?.known ? `${label(c.range.from - c.run.since)} to ${label(c.range.to - c.run.since, c.ended)}` : '\u00a0'}
        {c?.known &&
          c.arrowsOn &&
          (near
            ? c.oneIn > 1
              ? ` · shows 1 in ${c.oneIn} messages`
              : ' · shows all messages from now on'
            : ' · zoom in to 30 s or less for arrows')}
      </p>
    </div>
  );
}

/** Where the range stands in the run; dragging moves it. The same by keyboard: Page Up and Down on the lanes. */
function Scrub({ chart: c }: { chart: Chart | undefined }) {
  const box = useRef<HTMLDivElement>(null);
  const all = c ? Math.max(1, c.run.until - c.run.since) : 1;
  const left = c?.known ? Math.max(0, ((c.range.from - c.run.since) / all) * 100) : 0;
  const width = c?.known ? Math.min(100 - left, (c.span / all) * 100) : 100;
  const to = (clientX: number) => {
    const b = box.current?.getBoundingClientRect();
    if (!b || !c?.known) return;
    const at = c.run.since + ((clientX - b.left) / b.width) * all;
    c.panBy(at - (c.range.from + c.range.to) / 2);
  };
  return (
    <div
      className="scrub"
      ref={box}
      aria-hidden="true"
      onPointerDown={(e) => {
        e.currentTarget.setPointerCapture(e.pointerId);
        to(e.clientX);
      }}
      onPointerMove={(e) => e.currentTarget.hasPointerCapture(e.pointerId) && to(e.clientX)}
    >
      <i style={{ left: `${left}%`, width: `max(6px, ${width}%)` }} />
    </div>
  );
}

const share = (x: number): string => (x >= 0.995 ? '100 %' : x < 0.01 ? '< 1 %' : `${Math.round(100 * x)} %`);

function Inspector({ chart: c, job }: { chart: Chart | undefined; job: JobView }) {
  const text = c?.cursor && c.sheet ? sentence(c, job) : undefined;
  return (
    <p className="inspector small num" role="status" data-testid="timeline-cell">
      {text ?? (
        <span className="muted">Point at a lane, or focus it and use the arrow keys, to see what a rank did.</span>
      )}
    </p>
  );
}

/** What the cursor stands on, in words. */
function sentence(c: Chart, job: JobView): string {
  const { rank, at } = c.cursor!;
  const w = c.sheet!.widthMs;
  const from = c.run.since + Math.floor((at - c.run.since) / w) * w;
  const { known, of } = c.sheet!.sharesOf(rank, from, from + w);
  const shares = KINDS.map((k, i) => ({ label: k.label, x: of[i]! }))
    .filter((s) => s.x > 0)
    .sort((a, b) => b.x - a.x)
    .map((s) => `${s.label} ${share(s.x)}`);
  const incarnation = incarnationAt(c.events, rank, from + w);
  const parts = [
    `Rank ${rank}, ${label(from - c.run.since)} to ` +
      `${label(Math.min(from + w, c.ended ? c.run.until : Infinity) - c.run.since, c.ended)}`,
    known < 0.02 ? 'no data' : shares.join(', '),
  ];
  if (incarnation !== undefined) parts.push(`incarnation ${incarnation}`);
  for (const e of c.events)
    if (e.task === rank && e.at >= from && e.at < from + w)
      if (e.kind === 'fault') parts.push(`fault: ${faultCause(e.cause ?? '')}`);
      else if (e.kind === 'image') parts.push('checkpoint complete');
      else if (e.kind === 'done') parts.push('ended');
  // A line is as narrow as a pixel.
  const near = Math.max(w, (4 / c.plot.width) * c.span);
  for (const e of c.events)
    if (Math.abs(e.at - at) <= near)
      if (e.kind === 'wave') parts.push(waveText(e));
      else if (e.kind === 'rollback') parts.push(rollbackText(e));
      else if (e.ranks?.includes(taskId(rank))) parts.push(eventText(e));
  const arrow = c.arrowAt(c.cursor!);
  if (arrow) parts.push(`message ${name(arrow[1])} → ${name(arrow[2])}, ${bytes(arrow[3])}, tag ${arrow[4]}`);
  const state = job.tasks[rank]?.nodeName;
  if (state !== undefined && at > c.run.until - 3000) parts.push(`on ${state}`);
  return parts.join(' · ');
}
const name = (rank: number): string => (rank === WORLD ? 'world' : String(rank));

function Legend({ job }: { job: JobView }) {
  return (
    <div className="stack legend-box">
      <ul className="kinds small" aria-label="What the colours mean">
        {KINDS.map((k) => (
          <li key={k.kind} title={k.title}>
            <i
              className={`swatch${k.hatch ? ` hatch-${k.hatch}` : ''}`}
              style={{ ['--light' as string]: k.light, ['--dark' as string]: k.dark }}
            />
            {k.label}
          </li>
        ))}
        <li title="an incarnation was lost">
          <b className="mark-fault">✕</b>fault
        </li>
        <li title="a checkpoint is complete">
          <b>◇</b>checkpoint
        </li>
        <li title="an incarnation was assigned to a node">
          <b>|</b>assigned
        </li>
        {job.teamChanges && (
          <li title="a team was dissolved, made of others, or moved to another node">
            <b>I</b>team
          </li>
        )}
        {job.waves && (
          <>
            <li title="a checkpoint of all ranks together is committed">
              <b className="mark-wave">│</b>wave
            </li>
            <li title={`all ranks ${job.waves.clusters ? 'of a cluster ' : ''}went back to a wave`}>
              <b className="mark-fault">▼</b>rollback
            </li>
            {job.waves.clusters && (
              <li title="from a cluster that went back to one that depends on what this undoes, and goes back as well">
                <b className="mark-fault">→</b>alert
              </li>
            )}
          </>
        )}
      </ul>
    </div>
  );
}

/** What comes with the data stands last: nothing that one may click on moves when it arrives. */
function Remarks({ chart: c }: { chart: Chart | undefined }) {
  return (
    <>
      {c?.known && (c.leftOut > 0 || c.events.some((e) => e.kind === 'server')) && (
        <p className="muted small">
          {c.events.some((e) => e.kind === 'server') &&
            'The server restarted at the dashed line. Data that it had not saved before the restart is missing. '}
          {c.leftOut > 0 &&
            `${plural(c.leftOut, 'older mark')} about checkpoints and assignments ` +
              `${c.leftOut === 1 ? 'was' : 'were'} not kept.`}
        </p>
      )}
      <Problem error={c?.error} title="Could not load the history" />
    </>
  );
}

/** The same for those who do not see the canvas: shares of each kind by rank, of the range that is shown. */
function AsTable({ chart: c }: { chart: Chart | undefined }) {
  const [open, setOpen] = useState(false);
  return (
    <details className="about" onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary>As a table</summary>
      {open && c?.sheet && (
        <div className="card scroll-x" tabIndex={0} role="region" aria-label="Shares of time by rank">
          <table className="table num small fixed lane-table" data-testid="timeline-table">
            <caption className="muted small">
              Shares of the time from {label(c.range.from - c.run.since)} to {label(c.range.to - c.run.since, c.ended)}
            </caption>
            <thead>
              <tr>
                <th scope="col" className="c-rank">
                  Rank
                </th>
                {KINDS.map((k) => (
                  <th key={k.kind} scope="col" className="right">
                    {k.label}
                  </th>
                ))}
                <th scope="col" className="right">
                  known
                </th>
                <th scope="col" className="right">
                  faults
                </th>
              </tr>
            </thead>
            <tbody>
              {Array.from({ length: c.sheet.rows }, (_, i) => c.sheet!.first + i).map((rank) => {
                const { known, of } = c.sheet!.sharesOf(rank, c.range.from, c.range.to);
                return (
                  <tr key={rank}>
                    <th scope="row">{rank}</th>
                    {of.map((x, k) => (
                      <td key={KINDS[k]!.kind} className="right">
                        {x === 0 ? '–' : share(x)}
                      </td>
                    ))}
                    <td className="right">{duration(known * c.span)}</td>
                    <td className="right">
                      {c.events.filter(
                        (e) => e.kind === 'fault' && e.task === rank && e.at >= c.range.from && e.at <= c.range.to,
                      ).length || '–'}
                    </td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        </div>
      )}
    </details>
  );
}
