/**
 * Charts of a job's life: throughput, sizes of log and images, recovery times by phase. Plain SVG: steps of columns
 * that the server has already summed. Read by REST, as seldom as a column changes visibly, and only while this view is
 * shown.
 */
import type { ChartsView as Charts, Fault, JobView } from '@mayfly/wire';
import { useQuery } from '@tanstack/react-query';
import { useState, type KeyboardEvent, type PointerEvent } from 'react';
import { bytes, count, duration, elapsed } from '../../../shared/format.ts';
import { getCharts } from '../../api.ts';
import { Problem } from '../../Problem.tsx';
import { hasEnded } from '../../status-texts.ts';
import type { ViewProps } from '../view-props.ts';
import { Plot } from './Plot.tsx';
import { HEIGHT, lastKnown, maxOf, recoveriesOf, scaleOf, stepsOf } from './plot.ts';

const POLL_MS = 2000;
const BARS = 60;
/** As wide as a bar may be: one stands at the left. */
const LEAST_BARS = 8;
const TABLE_ROWS = 40;

const perSecond = (n: number): string => `${n >= 100 ? count(n) : Number(n.toPrecision(3))}/s`;
const SERIES = [
  { name: 'messages', title: 'Messages', unit: 'rate', say: perSecond, hint: 'per second, between ranks' },
  {
    name: 'bytes',
    title: 'Data',
    unit: 'bytes',
    say: (n: number) => `${bytes(n)}/s`,
    hint: 'per second, between ranks',
  },
  {
    name: 'logBytes',
    title: 'Log',
    unit: 'bytes',
    say: bytes,
    hint: 'of messages, on the server; checkpoints shorten it',
  },
  { name: 'imageBytes', title: 'Checkpoints', unit: 'bytes', say: bytes, hint: 'the newest of each rank' },
] as const;

export function ChartsView({ job }: ViewProps) {
  const ended = hasEnded(job.state);
  const { data, error } = useQuery({
    queryKey: ['charts', job.id, ended],
    queryFn: () => getCharts(job.id),
    placeholderData: (old) => old,
    refetchInterval: (q) => (ended ? false : Math.max(POLL_MS, (q.state.data?.widthMs ?? 0) / 2)),
  });
  /** Column that is read out. */
  const [at, setAt] = useState<number>();
  if (!data)
    return error ? (
      <Problem error={error} title="Could not load the charts" />
    ) : (
      <p className="muted">Loading the charts…</p>
    );
  if (data.columns === 0)
    return (
      <p className="muted small">
        {ended
          ? 'No data: the job ended before the first measurement, or the server no longer has the data.'
          : 'No data yet: charts start with the job.'}
      </p>
    );
  const last = data.columns - 1;
  const start = job.startedAt ?? data.from;
  // The last column may reach beyond the end of what is drawn.
  const width = Math.max(0.001, (data.until - data.from) / data.widthMs);
  const times = [
    elapsed(data.from - start),
    elapsed((data.from + data.until) / 2 - start),
    (ended ? duration : elapsed)(data.until - start),
  ] as const;
  const known = lastKnown(data.values.messages);
  const column = Math.min(at ?? Math.max(0, known), last);
  const onKeyDown = (e: KeyboardEvent) => {
    const to = {
      ArrowLeft: column - 1,
      ArrowRight: column + 1,
      Home: 0,
      End: last,
      PageUp: column - 10,
      PageDown: column + 10,
    }[e.key];
    if (to === undefined) return;
    e.preventDefault();
    setAt(Math.max(0, Math.min(last, to)));
  };
  const onPointer = (e: PointerEvent<HTMLDivElement>) => {
    const box = e.currentTarget.getBoundingClientRect();
    setAt(Math.max(0, Math.min(last, Math.floor(((e.clientX - box.left) / box.width) * width))));
  };
  return (
    <section className="stack" aria-label="Charts">
      <div>
        <h2>Charts</h2>
        {/* Said aloud when somebody moves, not whenever there is a new column. */}
        <p
          className="muted small num chart-reading"
          aria-live={at === undefined ? 'off' : 'polite'}
          data-testid="chart-reading"
        >
          {reading(
            data,
            column,
            start,
            column > known ? (ended ? 'the job had ended' : 'not known yet') : 'not known: the server was down',
          )}
        </p>
      </div>
      <div
        className="charts"
        role="group"
        tabIndex={0}
        aria-label="Charts; the arrow keys move through time"
        onKeyDown={onKeyDown}
        onPointerLeave={() => setAt(undefined)}
      >
        {SERIES.map((s) => {
          const values = data.values[s.name];
          const most = maxOf(values);
          const scale = scaleOf(most, s.unit);
          return (
            <Plot
              key={s.name}
              title={s.title}
              hint={s.hint}
              scale={scale}
              say={s.say}
              nothing={most > 0 ? undefined : ended ? 'none' : 'none so far'}
              times={times}
              axis="time since the start"
              onPointer={onPointer}
              label={`${s.title}, ${s.hint}: at most ${s.say(most)}`}
              width={width}
            >
              <path className="area" d={stepsOf(values, scale.max, true)} />
              <path className="line-path" d={stepsOf(values, scale.max)} />
              <Ticks job={job} data={data} />
              {at !== undefined && <rect className="cursor" x={column} width={1} y={0} height={HEIGHT} />}
            </Plot>
          );
        })}
        <RecoveryPlot job={job} start={start} />
      </div>
      <details className="about">
        <summary>As a table</summary>
        <Table data={data} start={start} />
      </details>
    </section>
  );
}

/** `unknown`: what is said where there is no value. */
const reading = (d: Charts, c: number, start: number, unknown: string): string =>
  `after ${elapsed(d.from + c * d.widthMs - start)}: ` +
  (d.values.messages[c] === null || d.values.messages[c] === undefined
    ? unknown
    : SERIES.map((s) => `${s.title.toLowerCase()} ${s.say(d.values[s.name][c] ?? 0)}`).join(' · '));

/** Where ranks were lost, on the axis of each chart. */
function Ticks({ job, data }: { job: JobView; data: Charts }) {
  const at = new Set(job.faults.map((f) => Math.round(((f.at - data.from) / data.widthMs) * 2) / 2));
  return <path className="ticks" d={[...at].map((x) => `M${x} ${HEIGHT}v-9`).join('')} />;
}

const PHASES = [
  { name: 'place', title: 'new place', what: 'until the old incarnation was fenced and a slot was found' },
  { name: 'start', title: 'start', what: 'until its checkpoint was loaded and it had started' },
  { name: 'repeat', title: 'repeat', what: 'until it had repeated its old work and did something new' },
] as const;

function RecoveryPlot({ job, start }: { job: JobView; start: number }) {
  const bars = recoveriesOf(job, BARS);
  const most = bars.reduce((m, b) => Math.max(m, b.place + b.start + b.repeat), 0);
  const scale = scaleOf(most, 'time');
  const n = bars.reduce((sum, b) => sum + b.faults.length, 0);
  const who = (f: Fault | undefined): string => (f ? `rank ${f.task} · ${elapsed(f.at - start)}` : '');
  const hint = (
    <>
      of lost ranks, by phase:{' '}
      {PHASES.map((p, i) => (
        <span key={p.name} className={`key phase-${i}`} title={p.what}>
          {p.title}
        </span>
      ))}
    </>
  );
  return (
    <Plot
      title="Recovery"
      hint={hint}
      scale={scale}
      say={duration}
      nothing={bars.length > 0 ? undefined : job.faults.length === 0 ? 'no ranks were lost' : 'none has recovered yet'}
      times={[who(bars[0]?.faults[0]), n > 1 ? who(bars.at(-1)?.faults.at(-1)) : '']}
      axis="lost ranks, in the order of their losses"
      width={Math.max(LEAST_BARS, bars.length)}
      label={`Recovery times of ${n} lost ranks, by phase`}
    >
      {bars.map((b, x) => {
        let y = HEIGHT;
        const said = PHASES.map((p) => `${p.title} ${duration(b[p.name])}`).join(', ');
        return (
          <g key={x}>
            <title>{`${b.faults.length > 1 ? `mean of ${b.faults.length} ranks` : who(b.faults[0])}: ${said}`}</title>
            {PHASES.map((p, i) => {
              const height = (HEIGHT * b[p.name]) / scale.max;
              y -= height;
              return <rect key={p.name} className={`phase phase-${i}`} x={x + 0.1} width={0.8} y={y} height={height} />;
            })}
          </g>
        );
      })}
    </Plot>
  );
}

function Table({ data, start }: { data: Charts; start: number }) {
  const every = Math.ceil(data.columns / TABLE_ROWS);
  const rows = Array.from({ length: Math.ceil(data.columns / every) }, (_, i) => i * every);
  return (
    <div className="card scroll-x list kept" tabIndex={0} role="group" aria-label="Charts as a table">
      <table className="table num fixed chart-table" data-testid="chart-table">
        <thead>
          <tr>
            <th className="c-after">After</th>
            {SERIES.map((s) => (
              <th key={s.name} className="right">
                {s.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((c) => (
            <tr key={c}>
              <td>{elapsed(data.from + c * data.widthMs - start)}</td>
              {SERIES.map((s) => {
                const v = data.values[s.name][c];
                return (
                  <td key={s.name} className="right">
                    {v === null || v === undefined ? '–' : s.say(v)}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
