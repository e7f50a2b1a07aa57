/**
 * Planted bugs that are other rows of the table of V-protocols: each breaks one rule of pessimistic logging or of
 * coordinated checkpointing, and the cores know nothing of them.
 */
import {
  Gate,
  LoggedEndpoint,
  Waves,
  protocols,
  replayOf,
  type EndpointStart,
  type Line,
  type LogPolicy,
  type ReplayFrom,
  type VProtocol,
} from '@mayfly/protocols';
import { WorldMode, type ProtocolName, type TaskId } from '@mayfly/wire';
import type { Rule } from './planted.ts';

const { pessimistic, vcl } = protocols;
const withLog = (log: Partial<LogPolicy>): VProtocol => ({ ...pessimistic, log: { ...pessimistic.log, ...log } });

type GateRule = new (...args: ConstructorParameters<typeof Gate>) => Gate;
const withGate = (Wrong: GateRule): VProtocol => ({
  ...vcl,
  log: { ...vcl.log, waves: { ...vcl.log.waves!, gate: (tasks, home) => new Wrong(tasks, home) } },
});

/** G1 broken: a receiver may get what its sender's image has not sent. */
class HoldsNothing extends Gate {
  protected override holds(): boolean {
    return false;
  }
}
/** G2 broken: what was in the channels is in no image. */
class RecordsNothing extends Gate {
  protected override records(): boolean {
    return false;
  }
}
/** G3 broken: what is recorded counts before it is durable. */
class CountsAtOnce extends Gate {
  protected override settle(dst: TaskId): void {
    this.state.doors[dst]!.durable = Infinity;
    super.settle(dst);
  }
}
/** W3 broken: what a wave covers is shown when it is committed. */
class ShowsTheNewest extends Waves {
  protected override stable(...[kept]: Parameters<Waves['stable']>): ReturnType<Waves['stable']> {
    return kept.at(-1);
  }
}

/** An arrival without a record of its place. */
const NOT_WHOLE = -2;

/** C3 broken: a message gets its arrival number at its first chunk. */
function numberedAtFirstChunk(): VProtocol {
  const reserved = new WeakMap<object, Map<TaskId, number>>();
  return withLog({
    number(d, src, offset, whole) {
      const mine = reserved.get(d) ?? new Map<TaskId, number>();
      reserved.set(d, mine);
      if (whole) {
        const number = mine.get(src) ?? d.index.count + 1;
        mine.delete(src);
        return number;
      }
      if (offset === 0) mine.set(src, d.index.add(NOT_WHOLE, 0));
      return 0;
    },
  });
}

/**
 * The single counter of the paper's Figure 4, in place of a limit per channel: as many messages are suppressed as all
 * Channel Memories together have logged.
 */
export class SingleCounterEndpoint extends LoggedEndpoint {
  readonly #numbers = new Map<TaskId, number>();
  readonly #image: Line;
  readonly #logged: number;
  #sent = 0;

  constructor(task: TaskId, size: number, replay: ReplayFrom, start: EndpointStart) {
    super(task, size, replay, start);
    this.#image = replay.image;
    this.#logged = start.limits.reduce((sum, [, n]) => sum + n, 0);
  }

  override beginSend(dst: TaskId): number {
    super.beginSend(dst);
    const n = (this.#numbers.get(dst) ?? 0) + 1;
    this.#numbers.set(dst, n);
    return ++this.#sent <= this.#logged ? 0 : n;
  }

  override jump(...snapshot: Parameters<LoggedEndpoint['jump']>): void {
    const moves = this.inPrologue;
    super.jump(...snapshot);
    if (!moves) return;
    this.#numbers.clear();
    for (const [dst, n] of this.#image.sends) this.#numbers.set(dst, n);
    this.#sent = this.#image.sends.reduce((sum, [, n]) => sum + n, 0);
  }
}

const ROWS: Partial<Record<Rule, () => VProtocol>> = {
  'single-counter': () => ({
    ...pessimistic,
    rank: (task, size, position, start) => new SingleCounterEndpoint(task, size, replayOf(position), start),
  }),
  'numbered-at-first-chunk': numberedAtFirstChunk,
  'duplicates-logged': () => withLog({ repeated: () => false }),
  'restart-answered-before-sync': () => withLog({ waitsForSync: () => false }),
  'no-fence-at-cm': () => withLog({ outranks: () => false }),
  'late-reports-believed': () => withLog({ givenBack: () => undefined }),
  'trimmed-before-base': () => withLog({ trimsBehind: () => 0 }),
  'late-not-held': () => withGate(HoldsNothing),
  'channels-not-recorded': () => withGate(RecordsNothing),
  'records-not-synced': () => withGate(CountsAtOnce),
  'output-at-once': () => ({ ...vcl, log: { ...vcl.log, shows: (_w, _n, mode) => mode !== WorldMode.EXIT } }),
  'exit-at-once': () => ({
    ...vcl,
    log: { ...vcl.log, shows: (w, n, mode) => mode === WorldMode.EXIT || n <= w.stable },
  }),
  'output-at-the-commit': () => ({ ...vcl, scheduler: (o) => new ShowsTheNewest(o) }),
};

/** What the run's participants ask: its protocol, or the row that is planted in its place. */
export const protocolOf = (name: ProtocolName, undone: Rule | undefined): VProtocol =>
  undone && ROWS[undone] ? ROWS[undone]() : protocols[name];
