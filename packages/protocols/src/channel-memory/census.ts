/** What a Channel Memory has, counted: for views, reports and bounds. Changes nothing. */
import { WorldMode, type TaskId } from '@mayfly/wire';
import { slotOf, type State } from './state.ts';
import type { World } from './tasks.ts';

/** Messages of a task that are logged whole here, to the world too. */
export function sendsOf(s: State, task: TaskId): number {
  let sends = s.worlds[task]?.channel.count ?? 0;
  for (const d of s.destinations) sends += d?.channels[slotOf(s, task)]?.count ?? 0;
  return sends;
}

/**
 * For the deadlock report. `bodiesUnderWay`: messages to the task of which only a part has come, and its own to the
 * world that are not out.
 */
export function observe(
  s: State,
  task: TaskId,
): { arrivalsLogged: number; sendsLogged: number; bodiesUnderWay: number } {
  const d = s.destinations[task];
  return {
    arrivalsLogged: d?.index.count ?? 0,
    sendsLogged: sendsOf(s, task),
    bodiesUnderWay: (d?.channels.filter((c) => c?.partial).length ?? 0) + waitingFor(s, task),
  };
}

/**
 * Messages of the task to the world that are not out, and those for it that a stage keeps back. Where output can be
 * undone, it may wait for long: then only what the task waits for counts.
 */
function waitingFor(s: State, task: TaskId): number {
  const waiting = s.worlds[task]?.waiting ?? [];
  const kept = s.stages.reduce((n, stage) => n + (stage.keepsBack?.(task) ?? 0), 0);
  return kept + (s.policy.goesBack ? waiting.filter((m) => m.mode === WorldMode.REQUEST) : waiting).length;
}

/** What tasks have written that the world has not seen. `output`: without exits; `requests`: to the file service. */
export function unshown(s: State): { messages: number; output: number; bytes: number; requests: number } {
  const all = s.worlds.flatMap((w) => w?.waiting ?? []);
  const output = all.filter((m) => m.mode !== WorldMode.EXIT);
  return {
    messages: all.length,
    output: output.length,
    bytes: output.reduce((n, m) => n + m.body.length, 0),
    requests: output.filter((m) => m.mode === WorldMode.REQUEST).length,
  };
}

/** Output of one stream of a task that a loss can still take back. */
export interface Provisional {
  readonly task: TaskId;
  readonly stream: 'stdout' | 'stderr';
  /** Bytes of it before {@link parts}, which are left out. */
  readonly omitted: number;
  /** One after the other its last bytes; whole messages. */
  readonly parts: readonly Uint8Array[];
  /** It changes with each change of what waits. */
  readonly version: string;
}

/** Of each stream the last messages that have at least `bytes` bytes together, or all that wait. */
export function provisional(s: State, bytes: number): Provisional[] {
  if (!s.policy.goesBack) return [];
  return s.worlds
    .flatMap((w) =>
      w === undefined || w.waiting.length === 0
        ? []
        : [provisionalOf(w, 'stdout', WorldMode.STDOUT, bytes), provisionalOf(w, 'stderr', WorldMode.STDERR, bytes)],
    )
    .filter((p) => p !== undefined);
}

function provisionalOf(w: World, stream: Provisional['stream'], mode: number, bytes: number): Provisional | undefined {
  const all = w.waiting.filter((m) => m.mode === mode);
  const last = all.at(-1);
  if (!last) return undefined;
  let [first, length] = [all.length, 0];
  // What is not in memory is not shown early (world.ts, W1), nor what lies before it.
  while (first > 0 && length < bytes && all[first - 1]!.body instanceof Uint8Array) length += all[--first]!.body.length;
  return {
    task: w.channel.src,
    stream,
    omitted: all.slice(0, first).reduce((n, m) => n + m.body.length, 0),
    parts: all.slice(first).flatMap((m) => (m.body instanceof Uint8Array ? [m.body] : [])),
    // Places in the task's log are not used twice, numbers of messages are.
    version: `${w.channel.src}:${all[0]!.channel}:${last.lsn}`,
  };
}

/**
 * What it holds in memory: bodies that wait (messages to the world until durable, parts of them, input for a closed
 * log, messages that wait for their receiver's cut, of which there are `heldBack`), index entries, questions about
 * images.
 */
export function memoryOf(s: State): { bytes: number; heldBack: number; records: number; covers: number } {
  const length = (list: readonly { length: number }[]): number => list.reduce((n, b) => n + b.length, 0);
  let [bytes, records, heldBack] = [s.worldBytes, 0, 0];
  for (const stage of s.stages) {
    const memory = stage.memory?.();
    bytes += memory?.bytes ?? 0;
    heldBack += memory?.held ?? 0;
  }
  for (const w of s.worlds) {
    if (!w) continue;
    records += w.index.held;
  }
  for (const d of s.destinations) {
    if (!d) continue;
    bytes += length(d.heldWorld.map((m) => m.body));
    records += d.index.held;
  }
  for (const source of s.sources) records += source.records.length;
  return { bytes, heldBack, records, covers: [...s.covers.values()].reduce((n, l) => n + l.length, 0) };
}
