/**
 * A small model of nodes, CMs, CS and registry around a dispatcher, for the seeded runs of random.test.ts. It knows
 * nothing of the dispatcher's state: it judges effects, by the numbers of the invariants.
 */
import { kindOf, PROGRAM_KINDS, type Hold, type JobId, type NodeId, type TaskId } from '@mayfly/wire';
import { expect } from 'vitest';
import {
  Dispatcher,
  nodeViews,
  type DispatcherEffect,
  type DispatcherEvent,
  type JobRecord,
  type TaskRecord,
} from '../../src/index.ts';
import { DissolvedTeams } from './model-dissolved.ts';
import { Images } from './model-images.ts';
import type { Volunteer } from './model-volunteer.ts';
import { J, job, N, NOTHING } from './stage.ts';

const CMS = 2;

export class Model {
  now = 1_000_000;
  dispatcher: Dispatcher;
  readonly registry = new Map<string, unknown>();
  /** Answers under way inside the server; lost when it dies. */
  answers: { event: DispatcherEvent; commit?: Extract<DispatcherEffect, { type: 'persist' }> }[] = [];
  readonly volunteers: Volunteer[] = [];
  /** Fences, by `${job}/${task}`: of the CS, of each CM. Lost at a crash, then set anew from the registry. */
  fences = new Map<string, number[]>();
  /** Exits in the logs of the CMs: durable. */
  readonly exits = new Map<string, Hold>();
  /** Every incarnation that was ever assigned: once each (D1). */
  readonly assigned = new Map<string, number>();
  readonly sizes = new Map<JobId, number>();
  readonly ended = new Set<JobId>();
  /** Asked to pause, and not to go on since. */
  readonly paused = new Set<JobId>();
  pauses = 0;
  readonly log: string[] = [];
  /** Answers per turn, at most this less one: a slow disk, or a fast one. */
  pace = 6;
  #connections = 0;
  #quota: number | undefined;
  #fresh = 0;
  #turns = 0;
  /** Of this life of the dispatcher: jobs whose teams it has shown, and members that were assigned in this step. */
  #shown = new Map<JobId, readonly (readonly TaskId[])[]>();
  #together = new Map<string, Extract<DispatcherEffect, { type: 'assign' }>[]>();
  /** Teams as they were formed: they stay (D24). */
  readonly #formed = new Map<string, string>();
  readonly #images = new Images();
  readonly dissolved = new DissolvedTeams(this.#images);
  teams = 0;
  moved = 0;
  merged = 0;
  /** Teams that ran and stopped to be dissolved. */
  stopped = 0;
  crowded = 0;
  again = 0;
  constructor(
    readonly below: (n: number) => number,
    readonly make: () => Dispatcher = () => new Dispatcher({ crashLimit: 10_000, moveAfterMs: 0, mergeAfterMs: 0 }),
    /** Jobs take long and have images, of which some are damaged: teams are merged. */
    readonly merges = false,
  ) {
    this.dispatcher = make();
    this.step({ type: 'recover', now: this.now, entries: [], images: [] });
  }

  /** Of each owner. */
  limit(quota = this.#quota): void {
    this.#quota = quota;
    this.step({ type: 'quotas', now: this.now, quotas: { each: quota, of: new Map() } });
  }

  step(e: DispatcherEvent): void {
    this.log.push(`→ ${JSON.stringify(e)}`);
    for (const effect of this.dispatcher.step(e)) {
      this.log.push(`   ${JSON.stringify(effect)}`);
      this.#perform(effect);
    }
    for (const [team, all] of this.#together) {
      expect(new Set(all.map((e) => e.node)).size, `D23: team ${team} begins on one node`).toBe(1);
      // Those that have ended may stay away (D25).
      const missing = all[0]!.team!.filter((t) => !all.some((e) => e.task === t));
      for (const t of missing)
        expect(this.#record(all[0]!.job, t)?.exit, 'D23: all members begin together').toBeDefined();
      this.teams++;
    }
    this.#together.clear();
  }

  /** D22, D24: of a commit. */
  #checkTeams(changes: readonly (readonly [key: string, value: unknown])[]): void {
    const raised = new Map<JobId, TaskId[]>();
    for (const [key, value] of changes) {
      const [kind, job, task] = key.split('/') as [string, JobId, string];
      if (kind === 'job')
        this.dissolved.commit(job, value as JobRecord | undefined, this.#formed, (t) => ({
          exit: this.#record(job, t)?.exit,
          fenced: this.#fence(job, t).every((f) => f >= this.#record(job, t)!.incarnation),
        }));
      if (kind === 'job')
        for (const team of (value as JobRecord | undefined)?.teams ?? [])
          for (const t of team) {
            expect(this.#formed.get(`${job}/${t}`) ?? String(team), 'D24: a team stays').toBe(String(team));
            this.#formed.set(`${job}/${t}`, String(team));
          }
      const record = value as TaskRecord | undefined;
      if (
        kind === 'task' &&
        record &&
        record.incarnation > (this.#record(job, Number(task) as TaskId)?.incarnation ?? -1)
      )
        raised.set(job, [...(raised.get(job) ?? []), Number(task) as TaskId]);
    }
    for (const [job, tasks] of raised)
      for (const t of tasks)
        for (const m of this.#formed.get(`${job}/${t}`)?.split(',') ?? [])
          expect(tasks, 'D22: all members are raised in one commit').toContain(Number(m));
  }

  #record(job: JobId, task: TaskId): TaskRecord | undefined {
    return this.registry.get(`task/${job}/${task}`) as TaskRecord | undefined;
  }

  #fence(job: JobId, task: TaskId): number[] {
    const key = `${job}/${task}`;
    if (!this.fences.has(key))
      this.fences.set(key, Array<number>(CMS + 1).fill(this.#record(job, task)?.incarnation ?? 0));
    return this.fences.get(key)!;
  }

  #perform(e: DispatcherEffect): void {
    const { now } = this;
    switch (e.type) {
      case 'persist':
        this.answers.push({ event: { type: 'persisted', now, token: e.token }, commit: e });
        return;
      case 'fenceCs':
      case 'fenceCm':
        expect(this.#record(e.job, e.task)?.incarnation, 'D2: durable before it is named').toBe(e.incarnation);
        this.dissolved.fenced(e.job, e.task);
        if (e.type === 'fenceCs')
          this.answers.push({
            event: {
              type: 'imageChosen',
              now,
              job: e.job,
              task: e.task,
              incarnation: e.incarnation,
              ...this.#images.chosen(e.job, e.task),
              ...(this.#record(e.job, e.task)?.exit && this.below(2) ? { ended: true } : {}),
            },
          });
        else
          this.answers.push({
            event: {
              type: 'fencedCm',
              now,
              job: e.job,
              task: e.task,
              incarnation: e.incarnation,
              cm: e.cm,
              sends: 0,
              consumed: 0,
              // Something behind an image: then a team stays one.
              logs: this.merges && this.below(6) === 0 ? { ...NOTHING, sent: [[9 as TaskId, 1]] } : NOTHING,
            },
          });
        return;
      case 'assign': {
        const key = `${e.job}/${e.task}`;
        const record = this.#record(e.job, e.task);
        expect(this.paused.has(e.job), 'D9').toBe(false);
        expect(record?.incarnation, 'D2').toBe(e.incarnation);
        expect(record?.node, 'given to the node of the record').toBe(e.node);
        expect(
          this.#fence(e.job, e.task).every((f) => f >= e.incarnation),
          'D1: everyone fences first',
        ).toBe(true);
        expect(this.assigned.get(key) ?? -1, 'D1, D2: every incarnation once, and rising').toBeLessThan(e.incarnation);
        const team = e.team ?? [];
        if (record?.exit) this.again++;
        if (record?.exit)
          expect(
            team.every((t) => this.#record(e.job, t)?.exit),
            'D6, D25: not all have ended',
          ).toBe(false);
        expect(String(team), 'D24').toBe(this.#formed.get(key) ?? '');
        if (e.team) {
          const of = `${e.job} ${String(team)}`;
          expect(this.#shown.get(e.job)?.map(String), 'D24: shown before').toContain(String(team));
          for (const t of team) {
            const at = this.#record(e.job, t)!.incarnation;
            expect(
              this.#fence(e.job, t).every((f) => f >= at),
              'D23: everyone has fenced all members',
            ).toBe(true);
          }
          this.#together.set(of, [...(this.#together.get(of) ?? []), e]);
        }
        expect((this.registry.get(`job/${e.job}`) as JobRecord).state, 'D6').toBe('running');
        this.#checkQuota(e.job);
        this.assigned.set(key, e.incarnation);
        const view = nodeViews(this.dispatcher).find((n) => n.id === e.node)!;
        if (view.busy > view.slots) {
          this.crowded++;
          expect(this.#crowds(e.node), 'D3: only with a team').toBe(true);
        }
        const runs = this.volunteers.find((v) => v.connection === e.connection)?.runs ?? PROGRAM_KINDS;
        expect(runs, 'D20').toContain(kindOf((this.registry.get(`job/${e.job}`) as JobRecord).spec.program.language));
        this.#deliver(e.connection, e);
        return;
      }
      case 'welcome':
      case 'revoke':
      case 'checkpoint':
        this.#deliver(e.connection, e);
        return;
      case 'close': {
        const v = this.volunteers.find((x) => x.connection === e.connection);
        if (v) v.connection = undefined;
        return;
      }
      case 'taskDone':
        for (const t of this.#formed.get(`${e.job}/${e.task}`)?.split(',') ?? [e.task])
          expect(this.#record(e.job, Number(t) as TaskId)?.exit, 'D6, D25').toBeDefined();
        return;
      case 'teams':
        this.#shown.set(e.job, e.teams);
        this.dissolved.shown(e.job, e.dissolved);
        return;
      case 'log':
        if (e.message.includes('share too few slots and move')) this.moved++;
        if (e.message.includes('share too few slots and stop')) this.stopped++;
        return void (e.message.includes('become a team') && this.merged++);
      case 'jobEnded':
        expect((this.registry.get(`job/${e.job}`) as JobRecord).state, 'D6').toBe(e.state);
        this.ended.add(e.job);
        return;
      default:
    }
  }

  /** D26 */
  #checkQuota(job: JobId): void {
    const ownerOf = (id: JobId) => (this.registry.get(`job/${id}`) as JobRecord | undefined)?.spec.owner;
    let slots = 0;
    for (const [id, size] of this.sizes)
      if (ownerOf(id) === ownerOf(job) && (this.registry.get(`job/${id}`) as JobRecord).state === 'running')
        for (let t = 0; t < size; t++) if (!this.#record(id, t as TaskId)?.exit) slots++;
    expect(slots, 'D26').toBeLessThanOrEqual(this.#quota ?? Infinity);
  }

  /** A member of a team is there, or will be with a commit under way. */
  #crowds(node: NodeId): boolean {
    const under = new Map(this.answers.flatMap((a) => a.commit?.changes ?? []));
    const at = (key: string): unknown => under.get(key) ?? this.registry.get(key);
    return [...this.#formed.keys()].some((key) => (at(`task/${key}`) as TaskRecord | undefined)?.node === node);
  }

  #deliver(connection: string, e: DispatcherEffect): void {
    this.volunteers.find((v) => v.connection === connection)?.inbox.push(e);
  }

  #write(key: string, value: unknown): void {
    if (value === undefined) this.registry.delete(key);
    else this.registry.set(key, structuredClone(value));
  }

  /** One answer of the server's own parts: commits in their order, everything else in any. */
  answerOne(): void {
    const commit = this.answers.findIndex((a) => a.commit);
    const at = this.below(this.answers.length);
    const index = this.answers[at]?.commit ? commit : at;
    const [a] = this.answers.splice(index, 1);
    if (!a) return;
    if (a.commit) this.#checkTeams(a.commit.changes);
    if (a.commit)
      for (const [k, v] of a.commit.changes) {
        const before = this.registry.get(k) as TaskRecord | undefined;
        if (k.startsWith('task/') && before && v)
          expect((v as TaskRecord).incarnation, 'D2: only rises').toBeGreaterThanOrEqual(before.incarnation);
        this.#write(k, v);
      }
    const e = a.event;
    if (e.type === 'imageChosen') {
      const f = this.#fence(e.job, e.task);
      f[CMS] = Math.max(f[CMS]!, e.incarnation);
    }
    if (e.type === 'fencedCm') {
      const f = this.#fence(e.job, e.task);
      f[e.cm] = Math.max(f[e.cm]!, e.incarnation);
    }
    this.step({ ...e, now: this.now });
  }

  submit(n: number, size: number): void {
    const program = {
      language: n % 2 === 0 || n % 8 === 5 ? ('typescript' as const) : ('c' as const),
      entry: 'main',
      hash: '0'.repeat(64),
    };
    const spec = job(size, {
      id: J(n),
      channelMemories: CMS,
      program,
      owner: n % 3 === 0 ? 'ada' : 'bob',
      ...(n % 2 === 1 ? { team: 2 + (n % 4 === 1 ? 1 : 0), mapBy: 'slot' as const } : {}),
      ...(n % 3 === 0 ? { graceMs: 500 + 1000 * this.below(6) } : {}),
    });
    this.sizes.set(spec.id, size);
    this.step({ type: 'submit', now: this.now, job: spec });
  }

  // --- what volunteers do ---

  connect(v: Volunteer): void {
    v.connection = `k${++this.#connections}`;
    v.inbox = [];
    this.step({
      type: 'hello',
      now: this.now,
      connection: v.connection,
      ...(v.id === undefined ? {} : { claimed: v.id }),
      fresh: N(++this.#fresh),
      session: `s${this.volunteers.indexOf(v)}.${v.session}`,
      name: 'v',
      engine: 'model',
      slots: v.slots,
      ...(v.runs ? { runs: v.runs } : {}),
      holds: v.workers.map(({ job: j, task, incarnation }) => ({ job: j, task, incarnation })),
      images: [],
    });
  }

  disconnect(v: Volunteer): void {
    const connection = v.connection;
    v.connection = undefined;
    v.inbox = [];
    if (connection !== undefined) this.step({ type: 'disconnected', now: this.now, connection });
  }

  live(v: Volunteer): void {
    if (v.frozen) return;
    const e = v.inbox.shift();
    if (e?.type === 'welcome') {
      v.id = e.node;
      v.workers = v.workers.filter(
        (w) => !e.drop.some((d) => d.job === w.job && d.task === w.task && d.incarnation === w.incarnation),
      );
    } else if (e?.type === 'assign')
      v.workers.push({
        job: e.job,
        task: e.task,
        incarnation: e.incarnation,
        started: false,
        left: this.merges ? 60 + this.below(100) : 3 + this.below(20),
      });
    else if (e?.type === 'revoke')
      v.workers = v.workers.filter((w) => !(w.job === e.job && w.task === e.task && w.incarnation === e.incarnation));
    else if (e?.type === 'checkpoint' && e.last !== false && this.below(e.last ? 8 : 3) > 0)
      this.#image(v, e.job, e.task, e.last);
    const takes = this.merges && this.below(12) === 0 ? v.workers[this.below(v.workers.length)] : undefined;
    if (takes?.started) this.#image(v, takes.job, takes.task);
    for (const w of v.workers) {
      w.started = true;
      if (w.left > 0 && !w.parked) w.left--;
      const fenced = this.#fence(w.job, w.task)
        .slice(0, CMS)
        .some((f) => f > w.incarnation);
      if (w.left === 0 && !fenced && !this.exits.has(`${w.job}/${w.task}`)) {
        this.exits.set(`${w.job}/${w.task}`, w);
        this.step({ type: 'exit', now: this.now, ...w, report: { code: 0 } });
      }
    }
    // One that runs again for its team ends again; its node has nothing to tell of that.
    v.workers = v.workers.filter((w) => w.left > 0 || !this.exits.has(`${w.job}/${w.task}`) || this.below(5) > 0);
  }

  #image(v: Volunteer, of: JobId, task: TaskId, last?: true): void {
    const serial = this.#images.begins(this.merges && this.below(4) === 0);
    const team = this.#formed.get(`${of}/${task}`)?.split(',').map(Number) ?? [task];
    for (const w of v.workers.filter((x) => x.job === of && team.includes(x.task))) {
      if (last) w.parked = true;
      if (this.#fence(w.job, w.task)[CMS]! > w.incarnation) continue;
      const image = this.#images.complete(w);
      this.step({ type: 'image', now: this.now, job: w.job, task: w.task, image, serial });
    }
  }

  heartbeat(v: Volunteer): void {
    if (v.connection === undefined || v.frozen || v.inbox.some((e) => e.type === 'welcome')) return;
    this.step({
      type: 'heartbeat',
      now: this.now,
      connection: v.connection,
      tasks: v.reports,
    });
  }

  pause(id: JobId): void {
    if (!this.sizes.has(id) || this.ended.has(id)) return;
    const { core } = this.dispatcher;
    if (core.jobs.get(id)?.ending !== undefined) return;
    this.pauses++;
    this.paused.add(id);
    this.step({ type: 'pause', now: this.now, job: id, waitMs: 100 * this.below(40) });
  }

  resume(id: JobId): void {
    this.paused.delete(id);
    this.step({ type: 'resume', now: this.now, job: id });
  }

  /** kill -9 of the server: commits under way are lost or not, from the first lost one on. */
  crash(): void {
    this.log.push('=== kill -9');
    const commits = this.answers.filter((a) => a.commit);
    for (const a of commits.slice(0, this.below(commits.length + 1)))
      for (const [k, v] of a.commit!.changes) this.#write(k, v);
    this.#formed.clear(); // those that were not durable are formed again
    for (const [k, v] of this.registry) if (k.startsWith('job/')) this.#checkTeams([[k, v]]);
    this.#shown.clear();
    this.dissolved.crash();
    this.answers = [];
    this.fences = new Map(); // the CMs take theirs from the registry
    for (const v of this.volunteers) {
      v.connection = undefined;
      v.inbox = [];
    }
    // A request that was not durable may be forgotten, or not: what the registry says holds.
    this.paused.clear();
    for (const [k, r] of this.registry)
      if (k.startsWith('job/') && (r as JobRecord).state === 'paused') this.paused.add((r as JobRecord).spec.id);
    this.now += this.below(3000);
    this.dispatcher = this.make();
    this.limit();
    this.step({
      type: 'recover',
      now: this.now,
      entries: [...this.registry].map(([k, x]) => [k, structuredClone(x)] as const),
      images: this.#images.known(),
    });
    // Whoever submitted a job got no answer before it was durable, and submits it again.
    for (const [id, size] of this.sizes) if (!this.registry.has(`job/${id}`)) this.submit(Number(id.slice(3)), size);
    for (const e of this.exits.values()) this.step({ type: 'exit', now: this.now, ...e, report: { code: 0 } });
  }

  turn(): void {
    this.now += 100;
    this.#turns++;
    for (const v of this.volunteers) {
      if (v.connection === undefined && !v.frozen && this.below(20) === 0) this.connect(v);
      this.live(v);
      if (this.#turns % 10 === 0) this.heartbeat(v);
    }
    for (let n = this.below(this.pace); n > 0; n--) this.answerOne();
    if (this.#turns % 3 === 0) this.step({ type: 'tick', now: this.now });
  }

  /** What there is to see of a run that does not end. */
  stuck(): string {
    const { core } = this.dispatcher;
    const tasks = [...core.jobs.values()].flatMap((j) =>
      j.tasks.map((t) => `${j.record.spec.id}.${t.task} ${j.record.state} ${t.phase} ${t.node ?? ''}`),
    );
    return [...tasks, ...nodeViews(this.dispatcher).map((n) => JSON.stringify(n))].join('\n');
  }

  quiet(): boolean {
    return this.ended.size === this.sizes.size && this.answers.length === 0;
  }
}
