/**
 * Everything that can happen around one gate in a small system: tasks, their connections to one Channel Memory, and a
 * wave. Every state that some interleaving of sends, images, consumption, pulls, arrivals at the Channel Memory and
 * broken connections leads to is visited, once.
 *
 *  Q1 The cut is consistent: no image has consumed a message that its sender's image has not sent.
 *  Q2 No message is lost: image and records of a receiver have exactly the messages before the cuts, in the order of
 *     each channel, and the bodies that the image lacks.
 *  Q10 (`pcl`) A task takes its image when everybody has marked and all that was sent before is here, and has consumed
 *     nothing until then that was sent after a mark.
 *  Q11 Wherever nothing more can happen, the wave is recorded and nobody is held back.
 */
import { taskId, type TaskId } from '@mayfly/wire';
import type { Freeze } from '../../src/coordinated/freeze.ts';
import type { Gate } from '../../src/coordinated/gate.ts';
import type { GateState } from '../../src/coordinated/gate-state.ts';
import { Wrong } from './wrong.ts';

export interface Space {
  readonly tasks: number;
  /** Messages that are sent in all. */
  readonly messages: number;
  /** Connections that break in all. */
  readonly breaks: number;
  /** Bodies stay at the Channel Memory until the receiver pulls them. */
  readonly pulls: boolean;
  readonly gate: new (tasks: number, home: (task: number) => boolean, state?: GateState) => Gate;
  /** Task 0 has another home, which hears of the wave before this gate does: the first word of it may be its CUT. */
  readonly late?: boolean;
  /** The wave may be abandoned. */
  readonly abandons?: boolean;
  /** `pcl`: freeze, mark, flush before the images. */
  readonly pcl?: (task: FrozenTask) => Freeze<Data>;
  /** Planted: CUT is sent again behind the messages. */
  readonly cutAfterData?: boolean;
  /** Planted (W): the comm worker reports what was consumed before it empties the ring. */
  readonly creditFirst?: boolean;
}

type Data = { readonly k: 'D'; readonly dst: number; readonly n: number };
/** On a connection: a message, MARK, CUT, credit, the end of a pull. */
type Up = Data | { readonly k: 'M' | 'C' } | { readonly k: 'K' | 'P'; readonly a: number };

interface Task {
  readonly sends: number[];
  readonly receives: number[];
  consumed: number;
  /** Arrivals whose bodies are at the Channel Memory. */
  held: number[];
  image?: { sends: number[]; receives: number[]; consumed: number; held: number[] };
  /** `pcl`: sends at its mark; what waits for the image; it may take it. */
  mark?: number[];
  frozen: Data[];
  flushed: boolean;
  up: Up[];
  /** Pushed and not consumed. */
  down: [number: number, src: number, n: number][];
  // at the Channel Memory
  log: { number: number; src: number; n: number }[];
  count: number;
  records: { number: number; src: number; n: number; body: boolean }[];
  recorded: boolean;
}
/** What of a task a planted freeze may look at. */
export type FrozenTask = Pick<Task, 'mark' | 'frozen' | 'image'>;

interface State {
  gate: GateState;
  tasks: Task[];
  begun: boolean;
  /** The gate has heard of the wave. */
  heard: boolean;
  over: boolean;
  left: number;
  breaks: number;
}

export interface Explored {
  readonly states: number;
  /** What is wrong, and how it came about; the first that was found. */
  readonly wrong?: string;
}

const homesOf =
  (o: Space) =>
  (task: number): boolean =>
    !o.late || task > 0;

export function explore(o: Space, most = 5_000_000): Explored {
  const first: State = {
    gate: new o.gate(o.tasks, homesOf(o)).state,
    tasks: Array.from({ length: o.tasks }, (_, q) => ({
      sends: new Array<number>(o.tasks).fill(0),
      receives: new Array<number>(o.tasks).fill(0),
      consumed: 0,
      held: [],
      frozen: [],
      flushed: false,
      up: [],
      down: [],
      log: [],
      count: 0,
      records: [],
      recorded: !homesOf(o)(q),
    })),
    begun: false,
    heard: false,
    over: false,
    left: o.messages,
    breaks: o.breaks,
  };
  const seen = new Set<string>();
  let open = [JSON.stringify(first)];
  for (let depth = 0; open.length > 0; depth++) {
    const next: string[] = [];
    for (const text of open) {
      const from = JSON.parse(text) as State;
      const moves = movesOf(from, o);
      try {
        if (!moves.some((m) => m[0] !== 'send')) atRest(from);
        for (const move of moves) {
          const to = JSON.parse(text) as State;
          apply(to, move, o);
          const key = JSON.stringify(to);
          if (seen.has(key)) continue;
          seen.add(key);
          next.push(key);
          if (seen.size > most) throw new Error(`more than ${most} states`);
        }
      } catch (e) {
        if (!(e instanceof Wrong)) throw e;
        return { states: seen.size, wrong: `${e.message}, after ${depth} steps` };
      }
    }
    open = next;
  }
  return { states: seen.size };
}

type Move = readonly [
  what: 'begin' | 'hear' | 'abandon' | 'mark' | 'send' | 'image' | 'deliver' | 'consume' | 'pull' | 'break',
  task: number,
  x?: number,
];

function movesOf(s: State, o: Space): Move[] {
  const moves: Move[] = [];
  const home = homesOf(o);
  if (s.begun && !s.heard) moves.push(['hear', 0]);
  if (!s.begun) moves.push(['begin', 0]);
  else if (o.abandons && !s.over && !s.tasks.every((t) => t.recorded)) moves.push(['abandon', 0]);
  s.tasks.forEach((t, q) => {
    if (s.left > 0) for (let p = 0; p < o.tasks; p++) if (p !== q && home(p)) moves.push(['send', q, p]);
    if (s.begun && (s.heard || !home(q)) && !s.over && !t.image) {
      if (!o.pcl || t.flushed || (!home(q) && s.tasks.every((other) => other.mark))) moves.push(['image', q]);
      else if (!t.mark) moves.push(['mark', q]);
    }
    if (t.up.length > 0) {
      moves.push(['deliver', q]);
      if (s.breaks > 0) moves.push(['break', q]);
    }
    if (t.down.length > 0) moves.push(['consume', q]);
    if (t.held.length > 0) moves.push(['pull', q]);
  });
  return moves;
}

function apply(s: State, [what, q, x]: Move, o: Space): void {
  const t = s.tasks[q]!;
  switch (what) {
    case 'begin':
      s.begun = true;
      if (!o.late) hears(s, o);
      return;
    case 'hear':
      return hears(s, o);
    case 'send':
      s.left--;
      return leaves(t, o, { k: 'D', dst: x!, n: ++t.sends[x!]! });
    case 'abandon':
      s.over = true;
      for (const each of s.tasks) {
        each.up.push(...thaw(each, o));
        delete each.image;
        delete each.mark;
      }
      if (s.heard) withGate(s, o, (g) => g.over(1));
      return;
    case 'mark':
      t.mark = [...t.sends];
      t.up.push({ k: 'M' });
      return;
    case 'image':
      t.image = { sends: [...t.sends], receives: [...t.receives], consumed: t.consumed, held: [...t.held] };
      if (o.pcl) mayTakeImage(s, q);
      t.up.push({ k: 'C' }, ...thaw(t, o));
      return;
    case 'consume': {
      const [number, src, n] = t.down.shift()!;
      if (!t.image && !s.over && n > (s.tasks[src]!.mark?.[q] ?? n))
        throw new Wrong(`Q10: task ${q} consumes message ${n} of ${src} before its image, sent after the mark`);
      t.receives[src]!++;
      t.consumed = number;
      if (o.pulls) t.held.push(number);
      credit(s, t, q, o);
      return;
    }
    case 'pull':
      t.up.push({ k: 'P', a: t.held.shift()! });
      return;
    case 'break':
      s.breaks--;
      return again(s, t, q, o);
    case 'deliver':
      return atCm(s, q, t.up.shift()!, o);
  }
}

/** Word of the wave comes to the gate; and that it is over, if it is. */
function hears(s: State, o: Space): void {
  s.heard = true;
  withGate(s, o, (g) => {
    g.begin(1, []);
    g.mark(1);
    if (s.over) g.over(1);
  });
}

/** `pcl`: what the comm worker does with a frame of the ring. */
function freezeOf(t: Task, o: Space): Freeze<Data> {
  const freeze = o.pcl!(t);
  if (t.mark && !t.image) freeze.mark(1);
  for (const f of t.frozen) freeze.holds(f, 1);
  return freeze;
}

function leaves(t: Task, o: Space, f: Data): void {
  if (o.pcl && freezeOf(t, o).holds(f, 1)) t.frozen.push(f);
  else t.up.push(f);
}

function thaw(t: Task, o: Space): Data[] {
  if (!o.pcl) return [];
  const freeze = o.pcl(t);
  freeze.mark(1);
  for (const f of t.frozen.splice(0)) freeze.holds(f, 1);
  return freeze.thaw();
}

/** Q10. */
function mayTakeImage(s: State, p: number): void {
  s.tasks.forEach((t, q) => {
    if (!t.mark) throw new Wrong(`Q10: task ${p} takes its image, and task ${q} has not marked`);
    if ((s.gate.seen[q + 2]![p] ?? 0) < t.mark[p]!)
      throw new Wrong(`Q10: task ${p} takes its image before message ${t.mark[p]} of ${q}`);
  });
}

function credit(s: State, t: Task, q: number, o: Space): void {
  if (o.creditFirst) atCm(s, q, { k: 'K', a: t.consumed }, o);
  else t.up.push({ k: 'K', a: t.consumed });
}

/** A new connection: CUT if there is one, then what the Channel Memory lacks. */
function again(s: State, t: Task, q: number, o: Space): void {
  const data: Up[] = [];
  t.sends.forEach((n, dst) => {
    for (let k = (s.gate.seen[q + 2]![dst] ?? 0) + 1; k <= n; k++)
      if (!t.frozen.some((f) => f.dst === dst && f.n === k)) data.push({ k: 'D', dst, n: k });
  });
  const pulled = t.up.filter((f) => f.k === 'P');
  const cut: Up[] = [...(t.mark ? [{ k: 'M' } as const] : []), ...(t.image ? [{ k: 'C' } as const] : [])];
  t.up = o.cutAfterData ? [...data, ...cut, ...pulled] : [...cut, ...data, ...pulled];
  t.up.push({ k: 'K', a: t.consumed });
}

const pairs = (counts: number[]): [TaskId, number][] => counts.map((n, task) => [taskId(task), n]);

/** A frame reaches the Channel Memory. */
function atCm(s: State, q: number, f: Up, o: Space): void {
  const t = s.tasks[q]!;
  withGate(s, o, (g) => {
    if (f.k === 'D') {
      if (!g.comes(taskId(q), taskId(f.dst), f.n)) number(s, g, f.dst, q, f.n);
    } else if (f.k === 'M') {
      if (t.mark) g.frozen(1, taskId(q), pairs(t.mark));
    } else if (f.k === 'C') {
      if (!t.image) return; // abandoned: the number is not used again
      const { sends, receives, consumed, held } = t.image;
      g.cut(1, taskId(q), { arrivals: consumed, sends: pairs(sends), receives: pairs(receives), held });
    } else if (f.k === 'K') {
      if (!homesOf(o)(q)) return;
      g.consumed(taskId(q), f.a);
      t.log = t.log.filter((a) => a.number > f.a || o.pulls);
    } else if (f.k === 'P') t.log = t.log.filter((a) => a.number !== f.a);
  });
}

function number(s: State, g: Gate, dst: number, src: number, n: number): void {
  const d = s.tasks[dst]!;
  const arrival = ++d.count;
  d.log.push({ number: arrival, src, n });
  d.down.push([arrival, src, n]);
  g.numbered(taskId(dst), arrival, taskId(src), n);
}

/** Lets the gate act, and does what it says. */
function withGate(s: State, o: Space, act: (g: Gate) => void): void {
  const g = new o.gate(o.tasks, homesOf(o), s.gate);
  act(g);
  for (let effects = g.take(); effects.length > 0; effects = g.take())
    for (const e of effects) {
      const d = s.tasks[e.dst]!;
      if (e.type === 'release') number(s, g, e.dst, e.message.src, e.message.channel);
      else if (e.type === 'record') {
        const record = d.log.find((a) => a.number === e.number);
        if (!record) throw new Wrong(`Q2: arrival ${e.number} is to be recorded, and it is gone`);
        d.records.push({ ...record, body: e.body });
        g.synced(e.dst, 1, d.records.length);
      } else if (e.type === 'flushed') d.flushed = true;
      else {
        d.recorded = true;
        if (s.tasks.every((t) => t.recorded)) whole(s);
      }
    }
}

/** Q1, Q2. */
function whole(s: State): void {
  s.tasks.forEach((t, p) => {
    const i = t.image!;
    s.tasks.forEach((sender, q) => {
      const [received, sent] = [i.receives[q]!, sender.image!.sends[p]!];
      if (received > sent)
        throw new Wrong(`Q1: task ${p} has consumed message ${received} of ${q}, which has sent ${sent}`);
      const recorded = t.records.filter((r) => r.src === q && !r.body).map((r) => r.n);
      const lacking = Array.from({ length: sent - received }, (_, k) => received + 1 + k);
      if (recorded.join() !== lacking.join())
        throw new Wrong(
          `Q2: of ${q} → ${p}, messages ${lacking.join()} are in the channel, ${recorded.join()} are recorded`,
        );
    });
    const bodies = t.records.filter((r) => r.body).map((r) => r.number);
    if (bodies.join() !== i.held.join())
      throw new Wrong(`Q2: the image of task ${p} lacks the bodies ${i.held.join()}, ${bodies.join()} are recorded`);
  });
}

/** Q11. */
function atRest(s: State): void {
  s.tasks.forEach((t, p) => {
    if (!t.recorded && !s.over) throw new Wrong(`Q11: the channels of task ${p} are never recorded`);
    if ((s.gate.doors[p]?.late.length ?? 0) > 0) throw new Wrong(`Q11: a message to task ${p} is held back for ever`);
    t.sends.forEach((n, q) => {
      if (s.tasks[q]!.receives[p] !== n) throw new Wrong(`Q11: task ${q} never gets message ${n} of ${p}`);
    });
  });
}
