/**
 * The time line in the Trace Event Format, which Perfetto (ui.perfetto.dev) and chrome://tracing open: a thread per
 * rank, slices, and instants for faults and images. Pure. The history knows shares of columns, not single calls: a
 * slice is a run of columns in which the same kind took most of what is known, its arguments are the shares, and the
 * file says so.
 */
import { LANE_KINDS, type TimelineView } from '@mayfly/wire';
import { Sheet } from './sheet.ts';

interface TraceEvent {
  name: string;
  ph: 'M' | 'X' | 'i';
  pid: number;
  tid: number;
  /** Microseconds since the history begins, as `dur`. */
  ts?: number;
  dur?: number;
  cat?: string;
  /** Of an instant: of its thread, or of the process. */
  s?: 't' | 'p';
  args?: Record<string, unknown>;
}

export interface Trace {
  displayTimeUnit: 'ms';
  otherData: Record<string, string>;
  traceEvents: TraceEvent[];
}

/**
 * Numbers that viewers give no meaning to. Perfetto takes thread 0 for the idle thread of the kernel, and a thread with
 * the number of its process for the main one; and it finds a thread's name by its number alone.
 */
const PID = 1 << 24;
const threadOf = (rank: number): number => rank + 1;

/** `bytes`: the shares of the view, inflated. */
export function traceOf(name: string, v: Omit<TimelineView, 'shares'>, bytes: Uint8Array): Trace {
  const sheet = new Sheet({
    from: v.from,
    widthMs: v.widthMs,
    columns: v.columns,
    first: v.first,
    last: v.last,
    shares: bytes,
  });
  // The last column may reach beyond the end.
  const us = (at: number): number => Math.round((Math.min(at, v.until) - v.since) * 1000);
  const traceEvents: TraceEvent[] = [{ name: 'process_name', ph: 'M', pid: PID, tid: PID, args: { name } }];
  for (let rank = v.first; rank <= v.last; rank++) {
    traceEvents.push(
      { name: 'thread_name', ph: 'M', pid: PID, tid: threadOf(rank), args: { name: `rank ${rank}` } },
      { name: 'thread_sort_index', ph: 'M', pid: PID, tid: threadOf(rank), args: { sort_index: rank } },
    );
    let begin = v.from;
    let most = -1;
    const close = (end: number): void => {
      if (most >= 0)
        traceEvents.push({
          name: LANE_KINDS[most]!,
          ph: 'X',
          cat: 'rank',
          pid: PID,
          tid: threadOf(rank),
          ts: us(begin),
          dur: us(end) - us(begin),
          args: percents(sheet.sharesOf(rank, begin, end).of),
        });
    };
    for (let c = 0; c <= v.columns; c++) {
      const at = v.from + c * v.widthMs;
      const { known, of } = c < v.columns ? sheet.sharesOf(rank, at, at + v.widthMs) : { known: 0, of: [] };
      const now = known === 0 ? -1 : of.indexOf(Math.max(...of));
      if (now === most) continue;
      close(at);
      [begin, most] = [at, now];
    }
  }
  for (const { at, kind, task, incarnation, cause, wave, ms, ranks, teams } of v.events)
    traceEvents.push({
      name: kind,
      ph: 'i',
      cat: 'event',
      pid: PID,
      tid: task === undefined ? PID : threadOf(task),
      ts: us(at),
      s: task === undefined ? 'p' : 't',
      args: Object.fromEntries(
        Object.entries({ incarnation, cause, wave, ms, ranks, teams }).filter(([, x]) => x !== undefined),
      ),
    });
  return {
    displayTimeUnit: 'ms',
    otherData: {
      columns: `${v.widthMs} ms`,
      slices: 'a run of columns in which the same kind took most of what is known; its arguments are the shares',
    },
    traceEvents,
  };
}

const percents = (of: readonly number[]): Record<string, string> =>
  Object.fromEntries(
    LANE_KINDS.map((k, i): [string, string] => [k, `${(100 * of[i]!).toFixed(1)} %`]).filter((_, i) => of[i]! > 0),
  );
