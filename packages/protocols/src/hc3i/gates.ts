/**
 * The messages between the clusters of a job, as one Channel Memory has them: stamps of those that leave, intake of
 * those that arrive. It carries the scheduler's effects to both sides in the order that they need.
 */
import type { TaskId } from '@mayfly/wire';
import { Intake, type DeadIntervals, type IntakeEffect } from './intake.ts';
import type { ClcRecord, Rolled } from './records.ts';
import { Stamps, type Counts, type Leaving, type Stamped } from './stamps.ts';

/** `arrives` is to be called for it, at once or when a network has carried it. */
export type GateEffect = { readonly cluster: number } & (
  IntakeEffect | { readonly type: 'stamped'; readonly message: Stamped }
);

export class ClusterGates {
  readonly stamps: readonly Stamps[];
  readonly intakes: readonly Intake[];
  readonly #clusterOf: (task: TaskId) => number;
  readonly #serves: (task: TaskId) => boolean;

  /**
   * @param start the CLC of each cluster at the start of the program
   * @param serves whether messages to a task come here
   */
  constructor(start: readonly ClcRecord[], clusterOf: (task: TaskId) => number, serves: (task: TaskId) => boolean) {
    this.#clusterOf = clusterOf;
    this.#serves = serves;
    this.stamps = start.map(({ cluster, sn }) => this.newStamps(cluster, sn));
    this.intakes = start.map(({ ddv }) => this.newIntake(ddv));
  }

  protected newStamps(cluster: number, sn: number): Stamps {
    return new Stamps(cluster, sn);
  }

  protected newIntake(ddv: readonly number[]): Intake {
    return new Intake(ddv);
  }

  /** A message to another cluster is here, the next of its channel. */
  leaves(m: Leaving): GateEffect[] {
    const cluster = this.#clusterOf(m.src);
    const stamped = this.stamps[cluster]!.comes(m);
    return stamped ? [{ cluster, type: 'stamped', message: stamped }] : [];
  }

  /** A stamped message is at its receiver's cluster. */
  arrives(m: Stamped): GateEffect[] {
    const cluster = this.#clusterOf(m.dst);
    return of(cluster, this.intakes[cluster]!.comes(m));
  }

  begin(cluster: number, sn: number): void {
    this.stamps[cluster]!.begin(sn);
  }

  cut(cluster: number, sn: number, task: TaskId, sends: Counts['sends']): void {
    this.stamps[cluster]!.cut(sn, task, sends);
  }

  /** S2. @param tasks of the cluster */
  complete(cluster: number, tasks: readonly TaskId[]): boolean {
    return this.stamps[cluster]!.complete(tasks, (dst) => this.#serves(dst) && this.#clusterOf(dst) !== cluster);
  }

  opened({ cluster, sn, ddv }: ClcRecord): GateEffect[] {
    const stamped = this.stamps[cluster]!.committed(sn);
    return [...sent(cluster, stamped), ...of(cluster, this.intakes[cluster]!.committed(ddv))];
  }

  over(cluster: number): GateEffect[] {
    return sent(cluster, this.stamps[cluster]!.over());
  }

  /** First every intake drops what was never sent, then those that go back receive again. */
  goBack(rolled: readonly Rolled[], dead: readonly DeadIntervals[]): GateEffect[] {
    for (const intake of this.intakes) intake.declareDead(dead);
    for (const { cluster, to, alias } of rolled) {
      this.stamps[cluster]!.wentBack(to, alias.sn, alias.cuts);
      const cuts = new Map(alias.cuts);
      this.intakes.forEach((intake, i) => i !== cluster && intake.senderWentBack(cluster, cuts));
    }
    return rolled.flatMap(({ cluster, alias }) =>
      of(cluster, this.intakes[cluster]!.wentBack(alias.ddv, new Map(alias.cuts))),
    );
  }

  /** @param stable the oldest kept CLC of each cluster */
  trim(stable: readonly ClcRecord[]): void {
    for (const { cluster, sn, cuts } of stable) {
      this.stamps[cluster]!.forget(sn);
      this.intakes[cluster]!.trim(new Map(cuts));
    }
  }
}

const of = (cluster: number, effects: readonly IntakeEffect[]): GateEffect[] => effects.map((e) => ({ ...e, cluster }));
const sent = (cluster: number, stamped: readonly Stamped[]): GateEffect[] =>
  stamped.map((message) => ({ cluster, type: 'stamped', message }));
