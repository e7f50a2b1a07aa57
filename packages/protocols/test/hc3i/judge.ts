/**
 * Judges runs of model.ts by what tasks sent and consumed. It knows no rule of the cores: intervals come from the
 * places of the tasks' cuts in their histories, dependencies from the messages themselves.
 */
import type { TaskId } from '@mayfly/wire';
import type { ClcRecord, Rolled } from '../../src/hc3i/records.ts';
import type { DeadIntervals } from '../../src/hc3i/intake.ts';
import type { Counts, Stamped } from '../../src/hc3i/stamps.ts';
import { Wrong } from '../coordinated/wrong.ts';

interface Step {
  readonly type: 'sent' | 'consumed';
  readonly peer: TaskId;
  /** Of the message; a message that is sent again has another one. */
  readonly id: number;
}
export interface Task {
  readonly id: TaskId;
  history: Step[];
  sends: Map<TaskId, number>;
  receives: Map<TaskId, number>;
}
interface Place {
  readonly length: number;
  readonly sends: Map<TaskId, number>;
  readonly receives: Map<TaskId, number>;
}
/** All its CLCs, those that garbage collection deleted as well. */
interface Full {
  readonly record: ClcRecord;
  /** By cluster, the highest interval that the past of this CLC knows of. */
  readonly knows: readonly number[];
}

export class Judge {
  readonly #tasks: readonly Task[];
  readonly #clusterOf: (task: TaskId) => number;
  readonly #places = new Map<string, Place>();
  readonly #full: Full[][];
  #knows: number[][];
  /** What a message knew when it was sent. */
  readonly #sent = new Map<number, readonly number[]>();
  readonly #failed = new Set<number>();
  /** Those whose line is being written. */
  readonly #drawn = new Set<number>();
  /** By cluster: older CLCs are deleted. */
  #oldest: number[];
  /** By task: no rollback may be shorter. */
  readonly #floor = new Map<TaskId, number>();
  #rolled: readonly Rolled[] = [];

  constructor(start: readonly ClcRecord[], tasks: readonly Task[], clusterOf: (task: TaskId) => number) {
    this.#tasks = tasks;
    this.#clusterOf = clusterOf;
    this.#full = start.map((record) => [{ record, knows: [...record.ddv] }]);
    this.#oldest = start.map(({ sn }) => sn);
    this.#knows = start.map(({ ddv }) => [...ddv]);
    for (const t of tasks) this.#places.set(`${t.id} 1`, { length: 0, sends: new Map(), receives: new Map() });
  }

  // ---- what happens ----

  send(task: Task, dst: TaskId, id: number): number {
    const channel = (task.sends.get(dst) ?? 0) + 1;
    task.sends.set(dst, channel);
    task.history.push({ type: 'sent', peer: dst, id });
    this.#sent.set(id, [...this.#knows[this.#clusterOf(task.id)]!]);
    return channel;
  }

  consume(task: Task, src: TaskId, id: number): void {
    task.receives.set(src, (task.receives.get(src) ?? 0) + 1);
    task.history.push({ type: 'consumed', peer: src, id });
    this.noOrphan();
  }

  cut(task: Task, sn: number): void {
    const place = { length: task.history.length, sends: new Map(task.sends), receives: new Map(task.receives) };
    this.#places.set(`${task.id} ${sn}`, place);
  }

  countsOf(task: TaskId, sn: number): Counts {
    const { sends, receives } = this.#places.get(`${task} ${sn}`)!;
    return { sends: [...sends], receives: [...receives] };
  }

  committed(record: ClcRecord): void {
    const { cluster, sn } = record;
    this.#knows[cluster]![cluster] = Math.max(sn, this.#knows[cluster]![cluster]!);
    this.#full[cluster]!.push({ record, knows: [...this.#knows[cluster]!] });
  }

  /** A message is in the receiver's log: what its sender knew is in the past of what follows. */
  arrived(m: Stamped & { id: number }): void {
    const knows = this.#knows[this.#clusterOf(m.dst)]!;
    const from = this.#clusterOf(m.src);
    this.#sent.get(m.id)!.forEach((interval, i) => (knows[i] = Math.max(knows[i]!, interval)));
    knows[from] = Math.max(knows[from]!, this.#intervalOf(m) ?? 0);
  }

  /** Where a message is in the history of its sender; undefined: that has gone back behind it. */
  #intervalOf({ src, id }: Stamped & { id: number }): number | undefined {
    const index = this.#tasks[src]!.history.findIndex((s) => s.type === 'sent' && s.id === id);
    if (index < 0) return undefined;
    const full = this.#full[this.#clusterOf(src)]!;
    return full.findLast(({ record }) => this.#places.get(`${src} ${record.images}`)!.length <= index)!.record.sn;
  }

  lost(clusters: readonly number[]): void {
    for (const c of clusters) this.#failed.add(c);
  }

  damage(cluster: number): void {
    this.#failed.add(cluster);
    this.#full[cluster]!.pop();
  }

  /** The line of what has failed so far is being written. */
  drawn(): void {
    for (const f of this.#failed) this.#drawn.add(f);
    this.#failed.clear();
  }

  /** The server was killed: what counts is what the registry has. */
  restarted(records: readonly ClcRecord[], dead: readonly DeadIntervals[]): void {
    this.#drawn.clear();
    this.#full.forEach((full, cluster) => {
      this.#failed.add(cluster);
      const own = records.filter((r) => r.cluster === cluster).sort((a, b) => a.sn - b.sn);
      // A line was durable, and nobody had heard of it.
      this.#oldest[cluster] = Math.max(this.#oldest[cluster]!, own[0]!.sn);
      const undone = dead.filter((d) => d.cluster === cluster);
      const kept = full.filter(({ record: { sn } }) => !undone.some((d) => d.from <= sn && sn < d.until));
      const missing = own.filter((r) => r.sn > (kept.at(-1)?.record.sn ?? 0));
      const knows = this.#knows[cluster]!;
      full.splice(0, Infinity, ...kept, ...missing.map((record) => ({ record, knows: [...knows] })));
    });
  }

  /** Q12: whichever cluster fails, and falls back behind its newest CLC, finds what its line needs. */
  stable(records: readonly ClcRecord[]): void {
    this.#full.forEach((full, failed) => {
      // Of a cluster that went back to its oldest CLC, there is none before it.
      const oldest = full.findIndex(({ record }) => record.sn >= this.#oldest[failed]!);
      for (const [cluster, index] of this.#greatest(new Map([[failed, Math.max(oldest, full.length - 2)]]))) {
        const { sn } = this.#full[cluster]![index]!.record;
        if (sn < records[cluster]!.sn) throw new Wrong(`Q12: CLC ${sn} of cluster ${cluster} is deleted and needed`);
      }
    });
    this.#oldest = records.map(({ sn }) => sn);
    for (const { cluster, images } of records)
      for (const t of this.#tasks)
        if (this.#clusterOf(t.id) === cluster)
          this.#floor.set(t.id, Math.max(this.#floor.get(t.id) ?? 0, this.#places.get(`${t.id} ${images}`)!.length));
  }

  // ---- what must hold ----

  /** Q14: a CLC that has the sender's interval is committed before the message is received. */
  pushed(m: Stamped & { id: number }): void {
    this.arrived(m); // again, after a rollback
    const [from, to] = [this.#clusterOf(m.src), this.#clusterOf(m.dst)];
    const interval = this.#intervalOf(m);
    // Its sender has gone back, so it must not be consumed, which is Q3; or its receiver is about to go back.
    if (interval === undefined || this.#failed.has(to) || this.#drawn.has(to)) return;
    const has = this.#full[to]!.at(-1)!.record.ddv[from]!;
    if (has < interval)
      throw new Wrong(`Q14: cluster ${to} receives of interval ${interval} of ${from}, its newest CLC knows of ${has}`);
  }

  /** Q15, Q13, Q12, Q5: the line, from all CLCs there ever were. */
  line(rolled: readonly Rolled[]): void {
    const [before, failed] = [this.#knows.map((k) => [...k]), [...this.#drawn]];
    const newest = this.#full.map((full) => full.at(-1)!.record.sn);
    const expected = this.#greatest(new Map(failed.map((f) => [f, this.#full[f]!.length - 1])));
    const got = rolled.map(({ cluster, to }) => `${cluster}: ${to}`).join(', ');
    const wanted = [...expected].map(([c, k]) => `${c}: ${this.#full[c]![k]!.record.sn}`);
    if (got !== wanted.sort().join(', ')) throw new Wrong(`Q15: the line is ${got}, not ${wanted.join(', ')}`);
    for (const { cluster, to, alias } of rolled) {
      const full = this.#full[cluster]!;
      const target = full.find((f) => f.record.sn === to)!;
      // Q13: what goes back behind its newest CLC, or has not failed, depends on what another cluster lost.
      const alone = failed.includes(cluster) && target === full.at(-1);
      if (!alone && !failed.some((f) => f !== cluster && before[cluster]![f]! >= newest[f]!))
        throw new Wrong(`Q13: cluster ${cluster} goes back to ${to}, and depends on nothing that was lost`);
      full.splice(full.indexOf(target), Infinity, { record: alias, knows: target.knows });
      this.#knows[cluster] = [...target.knows];
      this.#knows[cluster]![cluster] = alias.sn;
    }
    this.#drawn.clear();
    this.#rolled = rolled;
  }

  /**
   * The greatest consistent choice. The state at CLC k has received what CLC k − 1 names; the state now has received
   * what the newest names.
   */
  #greatest(start: ReadonlyMap<number, number>): Map<number, number> {
    const choice = new Map(start);
    for (let changed = true; changed;) {
      changed = false;
      this.#full.forEach((own, j) => {
        const at = choice.get(j) ?? own.length;
        const received = at === 0 ? [] : own[at - 1]!.record.ddv;
        for (const [i, k] of [...choice])
          if (i !== j && (received[i] ?? 0) >= this.#full[i]![k]!.record.sn) {
            choice.set(j, at - 1);
            changed = true;
            return;
          }
      });
    }
    return choice;
  }

  /** Brings a task to its place in the last line. */
  restore(task: Task): void {
    const { images } = this.#rolled.find(({ cluster }) => cluster === this.#clusterOf(task.id))!.alias;
    const { length, sends, receives } = this.#places.get(`${task.id} ${images}`)!;
    if (length < (this.#floor.get(task.id) ?? 0))
      throw new Wrong(`Q5: rank ${task.id} goes back behind what was shown`);
    task.history = task.history.slice(0, length);
    task.sends = new Map(sends);
    task.receives = new Map(receives);
  }

  /** Q3. */
  noOrphan(): void {
    const sent = new Set(this.#tasks.flatMap((t) => t.history.filter((s) => s.type === 'sent').map((s) => s.id)));
    for (const t of this.#tasks)
      for (const s of t.history)
        if (s.type === 'consumed' && !sent.has(s.id))
          throw new Wrong(`Q3: rank ${t.id} has consumed a message that rank ${s.peer} has not sent`);
  }

  /** Q2, at the end: each message that was sent is consumed once, in the order of its channel. */
  nothingLost(): void {
    this.noOrphan();
    for (const from of this.#tasks)
      for (const to of this.#tasks) {
        const ids = (t: Task, type: Step['type'], peer: TaskId): string =>
          t.history
            .filter((s) => s.type === type && s.peer === peer)
            .map((s) => s.id)
            .join(' ');
        const [sent, consumed] = [ids(from, 'sent', to.id), ids(to, 'consumed', from.id)];
        if (sent !== consumed) throw new Wrong(`Q2: rank ${from.id} sent ${sent} to ${to.id}, which has ${consumed}`);
      }
  }
}
