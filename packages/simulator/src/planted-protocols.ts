/**
 * Planted bugs that are other rows of the table of V-protocols: each breaks one rule of pessimistic logging, or of
 * coordinated checkpointing (planted-coordinated.ts) or of clusters (planted-clusters.ts). The cores know nothing of
 * them.
 */
import {
  LoggedEndpoint,
  protocols,
  replayOf,
  type EndpointStart,
  type Line,
  type LogPolicy,
  type ReplayFrom,
  type VProtocol,
  type Regrouped,
} from '@mayfly/protocols';
import { decodeTeamBlock, teamHeads, type Position, type ProtocolName, type TaskId } from '@mayfly/wire';
import { CLUSTERS } from './planted-clusters.ts';
import { COORDINATED } from './planted-coordinated.ts';
import { RECOVERING } from './planted-recovering.ts';
import type { Rule } from './planted.ts';

const { pessimistic } = protocols;
const withLog = (log: Partial<LogPolicy>): VProtocol => ({ ...pessimistic, log: { ...pessimistic.log, ...log } });

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
  'base-says-unsynced': () => withLog({ baseWaits: () => false, outlives: (source) => source.evidence }),
  'trimmed-before-base': () => withLog({ trimsBehind: () => 0 }),
  'mates-heads-only': () =>
    withLog({
      carried: (s, source, bytes, v, o, length, mates = []) =>
        pessimistic.log.carried(s, source, bytes, v, o, length, decodeTeamBlock(teamHeads(mates))),
    }),
  'dissolved-anywhere': () => {
    const { recovery } = pessimistic;
    return { ...pessimistic, recovery: { ...recovery, endsAt: (position) => recovery.endsAt!(position, []) } };
  },
  'merged-anywhere': () => {
    const { recovery } = pessimistic;
    return { ...pessimistic, recovery: { ...recovery, endsAt: (position) => recovery.endsAt!(position, []) } };
  },
  'opened-forgotten': () => {
    const { images } = pessimistic;
    const forgets = (p: Position): Position =>
      p.version === 2
        ? { ...p, at: Object.fromEntries(Object.entries(p.at as object).filter(([k]) => k !== 'opened')) }
        : p;
    const regrouped: typeof images.regrouped = (position, ...more) => images.regrouped!(forgets(position), ...more);
    return { ...pessimistic, images: { ...images, regrouped } };
  },
  'merge-without-gate': () => withRegrouped((at) => ({ ...at, gate: 0 })),
  'merge-without-places': () => withRegrouped((at) => ({ ...at, place: 0 })),
  ...COORDINATED,
  ...CLUSTERS,
  ...RECOVERING,
};

/** T9: the Checkpoint Server and nodes hear something else of a regrouping. */
function withRegrouped(planted: (at: Regrouped) => Regrouped): VProtocol {
  const { images } = pessimistic;
  const regrouped: typeof images.regrouped = (position, team, at) =>
    images.regrouped!(position, team, at?.gate === undefined ? at : planted(at));
  return { ...pessimistic, images: { ...images, regrouped } };
}

/** What the run's participants ask: its protocol, or the row that is planted in its place. */
export const protocolOf = (name: ProtocolName, undone: Rule | undefined): VProtocol =>
  undone && ROWS[undone] ? ROWS[undone]() : protocols[name];
