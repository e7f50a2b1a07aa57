/**
 * The board of a room: what those who gave a name (and a team) have given in it, as far as the server saw it.
 *
 * Owns the registry keys `board/<room or ->/<key>`. Does not own: who is in a room, and which rank is where (the
 * dispatcher says so).
 *  B1  Counted is what a node says in its heartbeats of ranks that it was given, and never more than the server's own
 *      clock allows between two of them. What a rank does after its last heartbeat is not counted, nor what the last
 *      FLUSH_MS before a crash of the server saw.
 *  B2  Bounded: at most MOST_NAMES names in a room and MOST_BOARDS rooms; who comes beyond them is summed with those
 *      who gave no name.
 *  B3  A name belongs to nobody: whoever gives the same one (and team) adds to the same sum.
 */
import type { Registry } from '@mayfly/storage/ports';
import type { BoardEntry, BoardView, Heartbeat, Incarnation, JobId, NodeId, TaskId } from '@mayfly/wire';
import { SPENT, boardKey, type BoardName } from '@mayfly/wire';

const FLUSH_MS = 5000;
const MOST_NAMES = 500;
const MOST_BOARDS = 1001;
/** Entries of one answer. */
const SHOWN = 100;
/** A job is counted once for a name as long as it is among its last so many. */
const RECENT_JOBS = 16;
const ANONYMOUS = '';
const REPLAYING = SPENT.indexOf('replaying');
const RESTING = SPENT.indexOf('resting');

interface Sum {
  name: string;
  team?: string;
  usefulMs: number;
  replayedMs: number;
  finished: number;
  jobs: number;
  recent: JobId[];
  /** When it was first counted. */
  since: number;
}

interface Node {
  room: string;
  key: string;
  who: BoardName | undefined;
}

interface Seen {
  node: NodeId;
  incarnation: Incarnation;
  usefulMs: number;
  replayedMs: number;
  at: number;
}

const roomKey = (room: string | undefined): string => room ?? '-';

export class Board {
  readonly #registry: Registry;
  readonly #rooms: Map<string, Map<string, Sum>>;
  readonly #nodes = new Map<NodeId, Node>();
  /** Per `job/task`: what has been counted of the incarnation that is there. */
  readonly #seen = new Map<string, Seen>();
  readonly #dirty = new Map<string, Sum | undefined>();
  readonly #timer: NodeJS.Timeout;
  #flushing: Promise<unknown> = Promise.resolve();

  private constructor(registry: Registry, rooms: Map<string, Map<string, Sum>>) {
    this.#registry = registry;
    this.#rooms = rooms;
    this.#timer = setInterval(() => void this.flush(), FLUSH_MS).unref();
  }

  static async open(registry: Registry): Promise<Board> {
    const rooms = new Map<string, Map<string, Sum>>();
    for (const [path, value] of await registry.entries('board/')) {
      const [, room, key] = path.split('/');
      if (!rooms.has(room!)) rooms.set(room!, new Map());
      rooms.get(room!)!.set(decodeURIComponent(key ?? ''), value as Sum);
    }
    return new Board(registry, rooms);
  }

  /** The node said Hello. */
  came(node: NodeId, room: string | undefined, who: BoardName | undefined): void {
    this.#nodes.set(node, { room: roomKey(room), key: who ? boardKey(who) : ANONYMOUS, who });
  }

  left(node: NodeId): void {
    this.#nodes.delete(node);
  }

  /** The incarnation was given to the node: its time is counted from here. */
  given(node: NodeId, job: JobId, task: TaskId, incarnation: Incarnation, now: number): void {
    this.#seen.set(`${job}/${task}`, { node, incarnation, usefulMs: 0, replayedMs: 0, at: now });
  }

  /** B1. `isHere`: the dispatcher's word on who has which incarnation. */
  heard(
    node: NodeId,
    tasks: Heartbeat['tasks'],
    isHere: (job: JobId, task: TaskId, incarnation: Incarnation) => boolean,
    now: number,
  ): void {
    for (const t of tasks) {
      if (!t.spent || !isHere(t.job, t.task, t.incarnation)) continue;
      const all = t.spent.reduce((a, b) => a + b, 0);
      const replayedMs = t.spent[REPLAYING] ?? 0;
      const usefulMs = all - replayedMs - (t.spent[RESTING] ?? 0);
      const key = `${t.job}/${t.task}`;
      const before = this.#seen.get(key);
      this.#seen.set(key, { node, incarnation: t.incarnation, usefulMs, replayedMs, at: now });
      // After a restart of the server: counted from here on.
      if (before?.node !== node || before.incarnation !== t.incarnation) continue;
      const useful = Math.max(0, usefulMs - before.usefulMs);
      const replayed = Math.max(0, replayedMs - before.replayedMs);
      if (useful + replayed === 0) continue;
      const part = Math.min(1, Math.max(0, now - before.at) / (useful + replayed));
      this.#add(node, t.job, now, (s) => {
        s.usefulMs += useful * part;
        s.replayedMs += replayed * part;
      });
    }
  }

  /** A rank has ended well. */
  done(job: JobId, task: TaskId, now: number): void {
    const seen = this.#seen.get(`${job}/${task}`);
    this.#seen.delete(`${job}/${task}`);
    if (seen) this.#add(seen.node, job, now, (s) => void s.finished++);
  }

  jobEnded(job: JobId): void {
    for (const key of this.#seen.keys()) if (key.startsWith(`${job}/`)) this.#seen.delete(key);
  }

  #add(node: NodeId, job: JobId, now: number, change: (s: Sum) => void): void {
    const n = this.#nodes.get(node);
    if (!n) return;
    let room = this.#rooms.get(n.room);
    if (!room) {
      if (this.#rooms.size >= MOST_BOARDS) return;
      this.#rooms.set(n.room, (room = new Map()));
    }
    // B2
    const names = room.size - (room.has(ANONYMOUS) ? 1 : 0);
    const key = room.has(n.key) || names < MOST_NAMES ? n.key : ANONYMOUS;
    let sum = room.get(key);
    if (!sum) {
      const who = key === ANONYMOUS ? undefined : n.who;
      room.set(
        key,
        (sum = {
          name: who?.name ?? '',
          ...(who?.team ? { team: who.team } : {}),
          usefulMs: 0,
          replayedMs: 0,
          finished: 0,
          jobs: 0,
          recent: [],
          since: now,
        }),
      );
    }
    change(sum);
    if (!sum.recent.includes(job)) {
      sum.jobs++;
      sum.recent = [...sum.recent, job].slice(-RECENT_JOBS);
    }
    this.#dirty.set(`board/${n.room}/${encodeURIComponent(key)}`, sum);
  }

  /** A closed room takes its board along. */
  closeRoom(room: string): void {
    for (const key of this.#rooms.get(room)?.keys() ?? [])
      this.#dirty.set(`board/${room}/${encodeURIComponent(key)}`, undefined);
    this.#rooms.delete(room);
    void this.flush();
  }

  /** `who`: whose place is asked for. */
  view(room: string | undefined, who: BoardName | undefined): BoardView {
    const sums = this.#rooms.get(roomKey(room)) ?? new Map<string, Sum>();
    const here = new Set([...this.#nodes.values()].filter((n) => n.room === roomKey(room)).map((n) => n.key));
    const named = [...sums]
      .filter(([key]) => key !== ANONYMOUS)
      .sort(([, a], [, b]) => total(b) - total(a) || (a.name < b.name ? -1 : 1));
    const entries = named.map(([key, s], i): BoardEntry => ({
      place: i + 1,
      name: s.name,
      ...(s.team === undefined ? {} : { team: s.team }),
      ...figures(s),
      here: here.has(key),
    }));
    const teams = new Map<string, BoardView['teams'][number]>();
    for (const [, s] of named) {
      if (s.team === undefined) continue;
      const t = teams.get(s.team) ?? { team: s.team, names: 0, usefulMs: 0, replayedMs: 0, finished: 0 };
      teams.set(s.team, {
        team: s.team,
        names: t.names + 1,
        usefulMs: t.usefulMs + Math.round(s.usefulMs),
        replayedMs: t.replayedMs + Math.round(s.replayedMs),
        finished: t.finished + s.finished,
      });
    }
    const you = who && entries[named.findIndex(([key]) => key === boardKey(who))];
    const anonymous = sums.get(ANONYMOUS);
    const since = [...sums.values()].reduce((least, s) => Math.min(least, s.since), Infinity);
    return {
      ...(Number.isFinite(since) ? { since } : {}),
      names: entries.length,
      entries: entries.slice(0, SHOWN),
      ...(you ? { you } : {}),
      teams: [...teams.values()].sort((a, b) => total(b) - total(a)).slice(0, SHOWN),
      anonymous: anonymous ? figures(anonymous) : { usefulMs: 0, replayedMs: 0, finished: 0, jobs: 0 },
    };
  }

  flush(): Promise<unknown> {
    if (this.#dirty.size === 0) return this.#flushing;
    const changes = [...this.#dirty].map(([key, sum]): [string, unknown] => [key, sum && { ...sum }]);
    this.#dirty.clear();
    // Statistics: what cannot be written now is written with the next round, unless it has changed since.
    return (this.#flushing = this.#flushing
      .then(() => this.#registry.commit(changes))
      .catch(() => {
        for (const [key, sum] of changes) if (!this.#dirty.has(key)) this.#dirty.set(key, sum as Sum | undefined);
      }));
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.flush();
  }
}

const total = (s: { usefulMs: number; replayedMs: number }): number => s.usefulMs + s.replayedMs;
const figures = (s: Sum) => ({
  usefulMs: Math.round(s.usefulMs),
  replayedMs: Math.round(s.replayedMs),
  finished: s.finished,
  jobs: s.jobs,
});
