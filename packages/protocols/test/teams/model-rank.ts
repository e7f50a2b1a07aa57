/**
 * A rank of the model: a program that a hash drives (its next operation follows from everything it has done and
 * consumed), over the cores of a rank. Every operation may be interrupted where memory that others read changes.
 */
import { WORLD, taskId, type Position, type TaskId } from '@mayfly/wire';
import { LIVE, type EndpointSnapshot, type EndpointStart, type Report } from '../../src/endpoint.ts';
import type { Line } from '../../src/pessimistic/position.ts';
import type { Carried } from '../../src/endpoint.ts';
import { TeamEndpoint } from '../../src/pessimistic/teams/endpoint.ts';
import { CarriedOver, type Batch } from '../../src/pessimistic/teams/carried-over.ts';
import { ImageCut, type InRing } from '../../src/pessimistic/teams/image-cut.ts';
import { PrologueCopies } from '../../src/pessimistic/teams/prologue.ts';
import { atHere } from '../../src/pessimistic/teams/rounds.ts';
import { Wrong } from '../coordinated/wrong.ts';
import { replayInTeam, startInTeam } from '../../src/pessimistic/teams/position.ts';
import type { Planted } from './planted.ts';

/** Operations of a program. */
const LENGTH = 34;
/** …of a script, which has an image only now and then. */
const SCRIPT_LENGTH = 60;

export interface Message {
  readonly n: number;
  readonly payload: number;
}
export type UpFrame =
  | { readonly k: 'data'; readonly src: TaskId; readonly dst: TaskId; readonly n: number; readonly payload: number }
  | { readonly k: 'determinants'; readonly src: TaskId };
type Done = readonly ['sent' | 'consumed', other: TaskId, n: number, payload: number];
type Step =
  | { readonly k: 'report' }
  | { readonly k: 'put'; readonly dst: TaskId; readonly item: InRing<Message> }
  | { readonly k: 'up'; readonly frame: UpFrame };

/** The program's own state. */
interface Program {
  /** A script's, where it called checkpoint.open: its prologue is over. */
  opened?: number;
  h: number;
  pc: number;
  history: Done[];
  exited: boolean;
}

export interface RankImage {
  /** The task had exited. */
  readonly done: boolean;
  readonly wave: number;
  readonly program: Program;
  readonly position: Position;
  readonly line: Line;
  readonly snapshot: EndpointSnapshot;
  readonly rings: ReadonlySet<TaskId>;
  readonly carried: Carried;
  /** Messages that a regrouping carried over and that are left. */
  readonly bodies: readonly Batch<Message>[];
  readonly channels: ReadonlyMap<TaskId, readonly Message[]>;
  /** A script's: what it received of teammates before checkpoint.open. */
  readonly copies: ReadonlyMap<TaskId, readonly Message[]>;
}

/** Teams of scripts: what a rank knows of the wave for which it is asked. */
export interface Script {
  /** 0: none. */
  asked: () => number;
  /** The call of checkpoint.here at which the images are taken. */
  at: () => number;
}

/** What a rank sees of its team and of its log. */
export interface Around {
  readonly tasks: number;
  readonly members: readonly TaskId[];
  readonly planted: Planted;
  /** How long a rank may pause. */
  readonly pauses: number;
  /** Of 100 images, so many are declined. */
  readonly declines: number;
  /** Most messages go to one neighbour: rings are created late. */
  readonly sparse: boolean;
  /** Nothing is left to chance any more: what can happen happens. */
  readonly calm: boolean;
  random: (below: number) => number;
  count: () => number;
  /** The ring from one teammate to another. */
  ring: (src: TaskId, dst: TaskId) => InRing<Message>[];
  arrival: (
    task: TaskId,
    number: number,
  ) => { readonly src: TaskId; readonly n: number; readonly payload: number } | undefined;
  /** The wave that the comm worker has requested. */
  wanted: () => number;
  /** Absent: images are transparent. */
  readonly script?: Script | undefined;
  /** T9: after its image a rank does nothing more. */
  stopped: () => boolean;
  imaged: (rank: ModelRank) => void;
  declined: (rank: ModelRank, wave: number) => void;
}

export function mix(h: number, ...values: number[]): number {
  for (const x of values) {
    h = Math.imul(h ^ x, 0x9e3779b1);
    h = Math.imul(h ^ (h >>> 15), 0x85ebca6b);
    h ^= h >>> 13;
  }
  return h >>> 0;
}

export class ModelRank {
  readonly ep: TeamEndpoint;
  readonly cut: ImageCut<Message>;
  readonly program: Program;
  readonly bodies: CarriedOver<Message>;
  /** Beside the up ring: the comm worker reads them. */
  reports: Report[] = [];
  up: UpFrame[] = [];
  steps: Step[] = [];
  image: RankImage | undefined;
  readonly copies: PrologueCopies<Message>;
  /** Calls of checkpoint.here in this incarnation. */
  calls = 0;
  #called = -1;
  readonly #open: number;
  readonly #length: number;
  /** Planted: markers that stopped nothing. */
  #passed: [src: TaskId, marker: InRing<Message>][] = [];
  #poll: { left: number; took: number } | undefined;
  /** Turns for which it does nothing, or nothing but images: others are ahead of it. */
  #asleep = 0;
  #computes = 0;

  constructor(
    readonly task: TaskId,
    private readonly around: Around,
    start: EndpointStart,
    private readonly from: RankImage | undefined,
    wave: number,
  ) {
    const { planted, members, tasks } = around;
    const at = from ? replayInTeam(from.position) : startInTeam();
    this.ep = new (planted.endpoint ?? TeamEndpoint)(task, tasks, at, start, { members, carried: from?.carried ?? [] });
    const { script } = around;
    if (!script) this.ep.jump(from?.snapshot);
    this.cut = new (planted.cut ?? ImageCut)<Message>(members.length > 1 ? members : [], wave);
    this.copies = new (planted.copies ?? PrologueCopies)<Message>(from?.copies);
    // A script consumes it before it jumps, and the state of its channels after.
    if (script && from) this.cut.restore(from.copies);
    this.cut.restore(from?.channels ?? new Map());
    this.#open = 2 + (mix(9, task) % 7);
    this.#length = script ? SCRIPT_LENGTH : LENGTH;
    const p = script ? undefined : from?.program;
    this.program = p ? { ...p, history: [...p.history] } : { h: mix(7, task), pc: 0, history: [], exited: false };
    this.bodies = new CarriedOver(from?.bodies);
  }

  /** One step; false: it waits for others. */
  step(): boolean {
    const { around, cut } = this;
    if (!around.calm) {
      // Also between a report and what is published after it.
      if (around.random(this.steps.length > 0 ? 8 : 40) === 0) this.#asleep = around.random(around.pauses);
      if (around.random(60) === 0) this.#computes = around.random(5 * around.pauses);
      if (this.#asleep-- > 0) return false;
    }
    const next = this.steps.shift();
    if (next) {
      this.#perform(next);
      return true;
    }
    const moved = this.#stage();
    if (!this.#poll && around.script) {
      if (this.#ended(around.script)) return true;
    } else if (!this.#poll) {
      const wave = Math.max(
        cut.met,
        around.wanted() > cut.wave && (around.calm || around.random(around.pauses) < 6) ? around.wanted() : 0,
      );
      if (wave > cut.wave) {
        this.#takeImage(wave);
        return true;
      }
    }
    if (around.stopped() && cut.wave === around.wanted()) return moved;
    if (!around.calm && this.#computes-- > 0) return moved;
    return this.#operation() || moved || this.#isHeldBack();
  }

  // ---- scripts ----

  /** Its program is over: it has no image, but its rings have markers. */
  #ended({ asked }: Script): boolean {
    const wave = this.around.wanted();
    if (!this.program.exited || wave <= this.cut.wave) return false;
    if (asked() >= wave) this.#decline(wave);
    else this.#takeImage(wave);
    return true;
  }

  /** It waits, and something stands behind a marker. It cannot take its image where it is. */
  #isHeldBack(): boolean {
    const { cut, around } = this;
    if (!around.script || cut.met === 0 || (!around.calm && around.random(5 * around.pauses) > 0)) return false;
    this.#decline(cut.met);
    return true;
  }

  #decline(wave: number): void {
    this.cut.decline(wave);
    this.around.declined(this, wave);
  }

  /** True: the program was at checkpoint.open or checkpoint.here. */
  #calls(script: Script): boolean {
    const { program: p, cut, from } = this;
    if (p.opened === undefined && p.pc >= this.#open) {
      if (from) {
        if (from.program.opened !== p.h) throw new Wrong(`T6: task ${this.task} does not repeat its prologue`);
        this.ep.jump(from.snapshot);
        Object.assign(p, from.program, { history: [...from.program.history] });
        this.#called = p.pc;
      } else {
        this.ep.openPrologue();
        this.copies.opened();
        p.opened = p.h;
      }
      return true;
    }
    if (p.opened === undefined || p.pc % 2 > 0 || p.pc >= this.#length || this.#called === p.pc) return false;
    this.#called = p.pc;
    const what = script.asked() > cut.wave ? atHere(++this.calls, script.at()) : (this.calls++, 'later');
    if (what === 'image') this.#takeImage(script.asked());
    else if (what === 'decline') this.#decline(script.asked());
    return true;
  }

  #perform(s: Step): void {
    if (s.k === 'report') this.report();
    else if (s.k === 'up') this.up.push(s.frame);
    else this.around.ring(this.task, s.dst).push(s.item);
  }

  report(): void {
    const r = this.ep.report(this.around.count);
    if (r) this.reports.push(r);
  }

  /** Moves what lies in the rings into the unexpected queue. */
  #stage(): boolean {
    const { around, cut } = this;
    let moved = false;
    for (const src of around.members) {
      const ring = around.ring(src, this.task);
      while (ring.length > 0 && (around.calm || around.random(3) > 0)) {
        const next = ring.shift()!;
        if (around.planted.passesMarkers && 'marker' in next && next.marker > cut.wave) this.#passed.push([src, next]);
        else cut.stage(src, next);
        moved = true;
      }
    }
    return moved;
  }

  // ---- T6 ----

  #takeImage(wave: number): void {
    const { ep, cut, program, around } = this;
    if (!around.calm && around.random(100) < around.declines && !around.stopped()) return this.#decline(wave);
    this.report();
    this.up.push({ k: 'determinants', src: this.task });
    const rings = new Set(cut.rings);
    for (const dst of cut.cut(wave)) this.steps.push({ k: 'put', dst, item: { marker: wave } });
    for (const [src, marker] of this.#passed.splice(0)) cut.stage(src, marker);
    this.image = {
      wave,
      done: program.exited,
      program: { ...program, history: [...program.history] },
      position: ep.position([]),
      line: ep.line(),
      snapshot: ep.snapshot(),
      rings,
      carried: ep.carried(),
      bodies: this.bodies.state,
      channels: cut.state,
      copies: this.copies.all!,
    };
    around.imaged(this);
  }

  // ---- the program ----

  #operation(): boolean {
    const { program: p, around } = this;
    if (this.#poll) return this.#polls();
    if (around.script && this.#calls(around.script)) return true;
    if (p.pc >= this.#length) {
      if (p.exited) return false;
      p.exited = true;
      this.#send(WORLD);
      return true;
    }
    const c = mix(p.h, 1) % 100;
    if (c < 42) this.#send(this.#receiver());
    else if (c < 52) this.#send(WORLD);
    else if (c < 58)
      p.h = mix(
        p.h,
        3,
        this.ep.clock(() => around.random(1e6)),
      );
    else if (c < 80) {
      if (!this.#consume()) return false;
    } else {
      this.#carried();
      this.#poll = { left: this.ep.pollBegin(), took: 0 };
      return this.#polls();
    }
    p.pc++;
    return true;
  }

  #receiver(): TaskId {
    const { sparse, tasks } = this.around;
    const d = mix(this.program.h, 2);
    return taskId((sparse && d % 8 > 0 ? this.task + 1 : d >>> 3) % tasks);
  }

  #polls(): boolean {
    const poll = this.#poll!;
    if (poll.left === LIVE)
      for (let more = 2; more > 0 && this.around.random(3) > 0 && this.#consume(); more--) poll.took++;
    else
      while (poll.took < poll.left) {
        if (!this.#consume()) return false;
        poll.took++;
      }
    this.ep.pollEnd();
    this.#poll = undefined;
    const { program } = this;
    program.h = mix(program.h, 4, poll.took);
    program.pc++;
    return true;
  }

  #send(dst: TaskId): void {
    const { ep, program: p, task, cut, around } = this;
    const repeating = ep.repeating;
    const n = ep.beginSend(dst);
    const number = n > 0 ? n : ep.sent().find(([d]) => d === dst)![1];
    const payload = mix(p.h, 5, dst, number);
    p.history.push(['sent', dst, number, payload]);
    p.h = mix(p.h, 6);
    if (n === 0 || (around.planted.suppressesLocal && ep.isLocal(dst) && repeating)) return;
    const out: Step[] = [{ k: 'report' }];
    if (!ep.isLocal(dst)) out.push({ k: 'up', frame: { k: 'data', src: task, dst, n, payload } });
    else {
      const marker = cut.writes(dst);
      if (marker > 0) out.push({ k: 'put', dst, item: { marker } });
      out.push({ k: 'put', dst, item: { message: { n, payload } } });
      if (around.planted.publishesFirst) out.push(out.shift()!);
    }
    this.steps.push(...out);
  }

  /** Consumes one message, from where it may come. */
  #consume(): boolean {
    const { ep, cut, around, task } = this;
    if (this.#carried()) return true;
    const choice = ep.choice();
    const local = (src: TaskId): boolean => {
      const m = cut.head(src);
      return m !== undefined && ep.isNext(src, m.n);
    };
    const arrival = around.arrival(task, ep.consumed + 1);
    const from: (TaskId | undefined)[] =
      choice.from === 'ring' ? [choice.src].filter(local) : choice.from === 'any' ? around.members.filter(local) : [];
    if (choice.from !== 'ring' && arrival) from.push(undefined);
    if (from.length === 0) return false;
    const src = from[around.random(from.length)];
    if (src === undefined) {
      ep.consume(ep.consumed + 1, arrival!.src);
      this.#eat(arrival!.src, arrival!);
    } else {
      const m = cut.head(src)!;
      cut.take(src);
      ep.consumeLocal(src, m.n);
      if (around.script) this.copies.consumed(src, 8, () => m);
      this.#eat(src, m);
    }
    if (this.#poll) this.#carried();
    return true;
  }

  /** T9: as soon as its place has come, also in the middle of a poll, whose record does not count it. */
  #carried(): boolean {
    let any = false;
    for (let c = this.ep.choice(); c.from === 'carried'; c = this.ep.choice()) {
      const { src, message: m } = this.bodies.take()!;
      if (src !== c.src) throw new Wrong(`T9: of task ${c.src}, and ${src} is next`);
      this.ep.consumeCarried(c.src, m.n);
      this.#eat(c.src, m);
      any = true;
    }
    return any;
  }

  #eat(src: TaskId, { n, payload }: Message): void {
    const { program: p } = this;
    p.history.push(['consumed', src, n, payload]);
    p.h = mix(p.h, 8, src, n, payload);
  }
}
