/**
 * A stage for named scenarios: a short script of programs, faults that strike at a named step, and the transcript of it
 * all as text.
 */
import { run, type RunOptions, type ScriptStep, type Setup, type World } from '../src/index.ts';

export interface Scenario {
  /** What the scenario is about: a sentence of the paper or of the docs. */
  readonly says: string;
  /** Per task its program. */
  readonly programs: readonly (readonly ScriptStep[])[];
  /** `on`: part of a line of the transcript; `nth` of them, counted from 1. Each strikes once. */
  readonly faults: readonly {
    readonly on: string;
    readonly nth?: number;
    readonly after?: number;
    readonly what: string;
    readonly strike: (world: World) => void;
  }[];
  readonly prologue?: boolean;
  readonly setup?: Partial<Setup>;
  readonly spec?: RunOptions['spec'];
  /** Lines that this scenario does not need. */
  readonly hide?: RegExp;
}

/** One node per task and two spares, one slot each; no delay is longer than a millisecond. */
const CALM: Partial<Setup> = {
  channelMemories: 1,
  durability: 'behind',
  window: 1024,
  retainBytes: 1_000_000,
  checkpointMs: 0,
  graceMs: 300,
  briefGraceMs: undefined,
  maxDelay: 1,
  turnMs: 1,
  syncMs: 10,
  diskMs: 2,
  slots: 1,
  kind: 'typescript',
  others: 0,
  dispatcher: { restartGraceMs: 400, silentMs: 2500, startMs: 10_000, crashLimit: 1e6 },
};

export interface Played {
  readonly text: string;
  readonly lines: readonly string[];
  readonly outcome: string;
}

export function play(s: Scenario): Played {
  const lines: string[] = [];
  const seen = s.faults.map(() => 0);
  const trace = (world: World, line: string): void => {
    if (!(s.hide ?? /CREDIT|ACK task|synced/).test(line))
      lines.push(`${world.agenda.now.toFixed(1).padStart(7)} ${line}`);
    s.faults.forEach((f, i) => {
      if (!line.includes(f.on) || ++seen[i]! !== (f.nth ?? 1)) return;
      world.agenda.after(f.after ?? 0, () => {
        lines.push(`${world.agenda.now.toFixed(1).padStart(7)} *** ${f.what}`);
        f.strike(world);
      });
    });
  };
  const size = s.programs.length;
  const r = run(1, {
    faults: [],
    trace,
    setup: { ...CALM, nodes: size + 2, ...s.setup },
    spec: {
      size,
      seed: 5,
      ordered: false,
      prologueRounds: s.prologue ? 0 : undefined,
      storeBytes: 100_000,
      stdin: 0,
      maxBody: 0,
      rounds: 0,
      script: s.programs,
      ...s.spec,
    },
  });
  const outcome = r.violation ?? 'a correct answer: the world has all output once, and the run is a legal execution';
  const never = s.faults.filter((_, i) => seen[i]! < (s.faults[i]!.nth ?? 1)).map((f) => f.what);
  const programs = s.programs.map((p, t) => `  task ${t}: ${p.map(step).join('; ')}`);
  const text = [
    `"${s.says}"`,
    '',
    ...programs,
    '',
    ...lines,
    '',
    outcome,
    ...never.map((w) => `never struck: ${w}`),
    '',
  ].join('\n');
  return { text, lines, outcome };
}

function step(s: ScriptStep): string {
  switch (s.type) {
    case 'send':
      return `send ${s.bytes} bytes to ${s.dst} (tag ${s.tag})`;
    case 'output':
      return `write ${s.bytes} bytes`;
    case 'receive':
    case 'poll':
      return `${s.type} from ${s.src < 0 ? 'any' : s.src} (tag ${s.tag})`;
    default:
      return s.type;
  }
}
