/**
 * One wave of faults on a running job: the first at its moment, each other one while those before it are not over (a
 * rank is killed during a recovery, nodes go together, the server dies while a node is silent). What it must show
 * stands in campaign.ts.
 *
 * Which loss is whose: a rank is lost where it was, so the node of each loss in the job's history must be a victim, and
 * its cause one that stands for what was done to this node.
 */
import { MAX_TEAM, type Fault, type JobView } from '@mayfly/wire';
import { ApiError, progressOf, type Client } from '../client.ts';
import type { VolunteerNode } from '../nodes/node.ts';
import { BrowserTab } from '../nodes/tab.ts';
import type { Served } from '../server.ts';
import { kindOf, type Kind, type Scene } from './kinds.ts';
import type { PlannedFault, PlannedWave } from './plan.ts';
import type { Pool } from './pool.ts';

export class Wrong extends Error {}
export function must(holds: boolean, says: string): asserts holds {
  if (!holds) throw new Wrong(says);
}

export const LIMIT_MS = 300_000;
/** Nodes that go before a fault is missed. */
const MOVES = 4;
/** A victim of a later fault of a wave must show itself within this time, or the fault is missed. */
const VICTIM_MS = 30_000;

export interface Struck {
  kind: string;
  job: number;
  example: string;
  victim: string;
  /** Ranks that were lost by it. */
  lost: number[];
  causes: string[];
  /** The longest of their recoveries. */
  recoveredAfterMs: number;
  /** The program still computed; else it was held at its end. */
  midway: boolean;
  /** Another fault of its wave was not over when it struck. */
  overlaps: boolean;
  /** Teams that were lost by it, and what their restarts were like. */
  teams: TeamRestarts;
}

export interface TeamRestarts {
  lost: number;
  /** With more ranks than their new node has slots. */
  oversubscribed: number;
  /** From a tab to a headless node or back. */
  moved: number;
}

export interface Stage {
  readonly client: Client;
  readonly server: Served;
  readonly pool: Pool;
  /** The job, its number in the campaign, and its example. */
  readonly id: string;
  readonly job: number;
  readonly example: string;
  /** What each rank sent and received in the undisturbed run. */
  readonly messages: readonly number[];
  /**
   * One node may still be missing when a wave begins. Else all are there, so that a rank which is lost goes to the
   * newest, and ranks stay spread over all kinds of nodes.
   */
  readonly hurried: boolean;
  draw(): number;
  say(line: string): void;
}

/** The program has come to its end and waits for the line. */
const atEnd = (j: JobView): boolean => j.tasks[0]?.activity?.call === 'stdin';
export const over = (j: JobView): boolean => j.endedAt !== undefined;
const whole = (j: JobView): boolean =>
  j.tasks.every((t) => t.state === 'running') && j.faults.every((f) => f.recoveredAfterMs !== undefined);
/**
 * No rank is at these nodes. One that was only on its way there is no loss: it had not begun, and nothing is in the
 * job's history.
 */
const away = (j: JobView, nodes: ReadonlySet<string>): boolean => j.tasks.every((t) => !nodes.has(t.node ?? ''));
/** Each of these ranks runs again: all ranks went back together, perhaps for a loss elsewhere. */
const allNew = (j: JobView, held: ReadonlyMap<number, number>): boolean =>
  [...held].every(([task, incarnation]) => (j.tasks[task]?.incarnation ?? 0) > incarnation);
const running = (j: JobView): void => must(!over(j), `the job ended too early, ${j.state}: ${JSON.stringify(j.error)}`);

/** Pool names its nodes by what they are. */
const inTab = (name: string | undefined): boolean => name?.startsWith('tab') === true;

const strikes = (kind: Kind, node: VolunteerNode): boolean =>
  (kind.on === 'any' || kind.on === node.kind) && !(kind.drives && node instanceof BrowserTab && !node.driven);

interface Strike {
  readonly kind: Kind;
  readonly victim: string;
  /** Ids of the nodes that it may cost ranks. */
  readonly nodes: ReadonlySet<string>;
  readonly overlaps: boolean;
  /** Ranks that were at these nodes, and their incarnations. */
  readonly held: ReadonlyMap<number, number>;
  readonly done: Promise<void>;
  over: boolean;
}

export class Wave {
  private readonly strikes: Strike[] = [];
  /** Names of nodes to which something was done: what is done to one stays one fault. */
  private readonly hit = new Set<string>();
  /** Faults of the job before this wave. */
  private at = 0;
  private seen!: JobView;

  constructor(
    private readonly stage: Stage,
    private readonly planned: PlannedWave,
  ) {}

  private fresh(j: JobView): Fault[] {
    return j.faults.slice(this.at);
  }

  /** Returns what struck, and the faults that found no victim. */
  async run(): Promise<{ struck: Struck[]; missed: PlannedFault[] }> {
    const { client, pool, id, messages } = this.stage;
    const { task, share, faults } = this.planned;
    const wanted = Math.floor(share * messages[task]!);
    await pool.ready(this.stage.hurried ? 1 : 0);
    const before = await client.until(
      id,
      `whole again and at ${wanted} messages of rank ${task}`,
      (j) => over(j) || (whole(j) && (progressOf(j.tasks[task]!) >= wanted || atEnd(j))),
      LIMIT_MS,
    );
    running(before);
    this.seen = before;
    await this.move(kindOf(faults[0]!.kind));
    this.at = this.seen.faults.length;
    const missed: PlannedFault[] = [];
    try {
      for (const fault of faults) {
        if (this.strikes.length > 0) await this.pause(fault.after);
        const found = await this.victim(kindOf(fault.kind), fault.victims);
        if (found) this.strikes.push(await this.strike(kindOf(fault.kind), found.node, found.task));
        else missed.push(fault);
      }
    } finally {
      await Promise.allSettled(this.strikes.map((s) => s.done));
    }
    for (const s of this.strikes) await s.done;
    const after = await client.until(
      id,
      `recovered from ${this.strikes.map((s) => `${s.kind.name} of ${s.victim}`).join(', ')}`,
      (j) =>
        over(j) ||
        (whole(j) &&
          this.strikes.every(
            (s) =>
              !s.kind.loses ||
              this.fresh(j).some((f) => s.nodes.has(f.node ?? '')) ||
              (s.over && (away(j, s.nodes) || allNew(j, s.held))),
          )),
      LIMIT_MS,
    );
    running(after);
    const struck = this.account(before, this.fresh(after));
    await this.whereTo(before, after, struck);
    return { struck, missed };
  }

  /** Where the teams are that were lost in this wave: together, all of them. */
  private async whereTo(before: JobView, after: JobView, struck: readonly Struck[]): Promise<void> {
    if (after.tasks.every((t) => t.team === undefined)) return;
    const nodes = await this.stage.client.nodes();
    for (const first of after.tasks) {
      if (first.team !== first.task) continue;
      const members = after.tasks.filter((t) => t.team === first.task);
      must(
        members.every((m) => m.node === first.node),
        `the team of ranks ${members.map((m) => m.task).join(', ')} is not on one node: ${members.map((m) => m.nodeName).join(', ')}`,
      );
      const by = struck.find((s) => s.lost.includes(first.task));
      if (!by) continue;
      by.teams.lost++;
      if (members.length > (nodes.find((n) => n.id === first.node)?.slots ?? MAX_TEAM)) by.teams.oversubscribed++;
      if (inTab(before.tasks[first.task]?.nodeName) !== inTab(first.nodeName)) by.teams.moved++;
    }
  }

  /**
   * Ranks may all have gone to nodes of one sort (who comes first after all were killed gets two), and a rank that is
   * killed there begins there again: the node has its image. So one of these nodes goes, and its ranks with it to
   * whoever has slots, before another one comes in its place.
   */
  private async move(kind: Kind): Promise<void> {
    const { client, pool, id, say } = this.stage;
    for (let tries = 0; tries < MOVES; tries++) {
      const { tasks, faults } = this.seen;
      const can = pool.nodes.filter((n) => strikes(kind, n)).map((n) => n.name);
      if (can.length === 0 || tasks.some((t) => can.includes(t.nodeName ?? ''))) break;
      const node = tasks.map((t) => pool.find(t.nodeName)).find((n) => n !== undefined);
      must(node !== undefined, 'no rank runs on a node of the campaign');
      await pool.drop(node);
      this.seen = await client.until(
        id,
        `whole without ${node.name}`,
        (j) =>
          over(j) || (j.faults.length > faults.length && whole(j) && j.tasks.every((t) => t.nodeName !== node.name)),
        LIMIT_MS,
      );
      running(this.seen);
      say(`  (killed ${node.name}, so that a rank moves to a place where ${kind.name} can strike)`);
    }
    await pool.ready(this.stage.hurried ? 1 : 0);
  }

  private async pause(after: PlannedFault['after']): Promise<void> {
    if (after !== 'loss') return new Promise((r) => setTimeout(r, after));
    const since = this.fresh(this.seen).length;
    const end = Date.now() + LIMIT_MS;
    while (this.fresh(await this.look()).length === since && !this.strikes.every((s) => s.over)) {
      if (Date.now() > end) throw new Error(`no rank was lost within ${LIMIT_MS} ms`);
      await new Promise((r) => setTimeout(r, 50));
    }
  }

  /** The job as it is, or as it was last seen while the server is away. */
  private async look(): Promise<JobView> {
    const { client, id } = this.stage;
    this.seen = await client.job(id).catch((e: unknown) => (e instanceof ApiError ? Promise.reject(e) : this.seen));
    running(this.seen);
    return this.seen;
  }

  /** undefined: none of the nodes with ranks is one where this kind can strike. */
  private async victim(
    kind: Kind,
    order: readonly number[],
  ): Promise<{ node: VolunteerNode; task: number } | undefined> {
    const { pool } = this.stage;
    for (const end = Date.now() + VICTIM_MS; ;) {
      const job = await this.look();
      for (const task of order) {
        const node = pool.find(job.tasks[task]!.nodeName);
        if (!node || !strikes(kind, node)) continue;
        if (kind.gone === 'server' || !this.hit.has(node.name)) return { node, task };
      }
      // Ranks on their way to a node will be somewhere.
      if (this.strikes.length === 0 || whole(job) || Date.now() > end) return undefined;
      await new Promise((r) => setTimeout(r, 50));
    }
  }

  private async strike(kind: Kind, node: VolunteerNode, task: number): Promise<Strike> {
    const { client, server, pool, id, draw } = this.stage;
    const own = this.seen.tasks[task]!.node!;
    const victims = kind.gone === 'all' ? [...pool.nodes] : [node];
    const ids =
      kind.gone === 'all'
        ? (await client.nodes()).filter((n) => victims.some((v) => v.name === n.name)).map((n) => n.id as string)
        : kind.gone === 'server'
          ? []
          : [own];
    if (kind.gone !== 'server') for (const v of victims) this.hit.add(v.name);
    const at = this.seen.faults.length;
    const scene: Scene = {
      client,
      server,
      draw,
      task,
      job: id,
      node: own,
      nodes: victims,
      lost: async () =>
        void (await client.until(
          id,
          'lost',
          (j) => over(j) || j.faults.slice(at).some((f) => f.node === own) || away(j, new Set([own])),
          LIMIT_MS,
        )),
    };
    const overlaps = this.strikes.some((s) => !s.over) || !whole(this.seen);
    const run = async (): Promise<void> => {
      const gone = kind.gone === 'victim' || kind.gone === 'all' ? victims.map((v) => pool.lose(v)) : [];
      try {
        await (kind.run as (victim: VolunteerNode, scene: Scene) => Promise<void>)(node, scene);
      } finally {
        strike.over = true;
        for (const forget of gone) await forget();
      }
    };
    const strike: Strike = {
      kind,
      victim: kind.gone === 'all' ? 'all' : kind.gone === 'server' ? 'the server' : node.name,
      nodes: new Set(ids),
      held: new Map(
        this.seen.tasks.flatMap((t) => (ids.includes(t.node ?? '') ? [[t.task, t.incarnation ?? 0] as const] : [])),
      ),
      overlaps,
      over: false,
      done: Promise.resolve().then(run),
    };
    // Looked at in run(); an error before that is no unhandled one.
    strike.done.catch(() => undefined);
    return strike;
  }

  /** Points 2: which fault cost which ranks. */
  private account(before: JobView, faults: readonly Fault[]): Struck[] {
    const { stage } = this;
    const serverToo = this.strikes.some((s) => s.kind.gone === 'server');
    const names = this.strikes.map((s) => `${s.kind.name} of ${s.victim}`).join(', ');
    const whose = new Map<Fault, Strike | undefined>();
    faults.forEach((f, i) => {
      const strike = this.strikes.find((s) => s.nodes.has(f.node ?? ''));
      // A server that was killed meanwhile may have given a lost rank to a node that never heard of it.
      const passing =
        serverToo &&
        faults.slice(0, i).some((e) => e.task === f.task) &&
        ['reloaded', 'restart', 'disconnected'].includes(f.cause);
      must(
        strike !== undefined || passing,
        `${names} cost rank ${f.task} (${f.cause}) on node ${f.node ?? '–'}, which was not a victim`,
      );
      // Its teammate is the one that the fault took.
      const withTeam =
        f.cause === 'team' && faults.some((e) => e.task !== f.task && e.node === f.node && e.cause !== 'team');
      must(
        !strike ||
          passing ||
          withTeam ||
          strike.kind.causes.includes(f.cause) ||
          (serverToo && strike.kind.loses && f.cause === 'restart'),
        `${strike?.kind.name} of ${strike?.victim} cost rank ${f.task} by '${f.cause}'`,
      );
      whose.set(f, strike);
    });
    const { task } = this.planned;
    const midway = !atEnd(before);
    const moment = midway
      ? `at ${progressOf(before.tasks[task]!)} of ${stage.messages[task]} messages of rank ${task}`
      : 'at the end';
    const struck = this.strikes.map((s): Struck => {
      const own = faults.filter((f) => whose.get(f) === s);
      return {
        kind: s.kind.name,
        job: stage.job,
        example: stage.example,
        victim: s.victim,
        lost: own.map((f) => f.task),
        causes: own.map((f) => f.cause),
        recoveredAfterMs: Math.max(0, ...own.map((f) => f.recoveredAfterMs ?? 0)),
        midway,
        overlaps: s.overlaps,
        teams: { lost: 0, oversubscribed: 0, moved: 0 },
      };
    });
    const told = struck.map(
      (s) =>
        `${s.kind} of ` +
        `${s.victim}${s.lost.length === 0 ? '' : ` (lost rank ${s.lost.join(', ')}, recovered in ${s.recoveredAfterMs} ms)`}`,
    );
    if (told.length > 0) stage.say(`  job ${stage.job} ${stage.example} ${moment}: ${told.join('; ')}`);
    return struck;
  }
}
