/** Sentences of the paper, and its Figure 5 in three snapshots. */
import type { TaskId } from '@mayfly/wire';
import { expect, test } from 'vitest';
import { Federation } from '../../src/hc3i/federation.ts';
import { ClusterGates, type GateEffect } from '../../src/hc3i/gates.ts';
import type { Cuts, FederationEffect, FederationEvent } from '../../src/hc3i/records.ts';
import type { Stamped } from '../../src/hc3i/stamps.ts';

/** Clusters of a task each, whose CLCs take no time. */
class Clusters {
  readonly tasks: readonly TaskId[];
  readonly federation: Federation;
  readonly gates: ClusterGates;
  readonly #sends: Map<TaskId, number>[];
  readonly #receives: Map<TaskId, number>[];
  /** What each cluster received, as `sender:number`. */
  received: string[][];
  rolled: string[] = [];

  constructor(clusters: number) {
    this.tasks = Array.from({ length: clusters }, (_, i) => i as TaskId);
    const periodMs = this.tasks.map(() => Infinity);
    const tasks = this.tasks.map((t) => [t]);
    this.federation = new Federation({ job: 'j' as never, tasks, periodMs, retryMs: 0 }, 0);
    const start = this.federation.stored.map(([first]) => first!);
    this.gates = new ClusterGates(
      start,
      (t) => t,
      () => true,
    );
    this.#sends = this.tasks.map(() => new Map());
    this.#receives = this.tasks.map(() => new Map());
    this.received = this.tasks.map(() => []);
  }

  ddvs(cluster: number): string[] {
    return this.federation.stored[cluster]!.map(({ ddv }) => ddv.join(' '));
  }

  /** @returns the stamp */
  send(from: number, to: number): number {
    const [src, dst] = [from as TaskId, to as TaskId];
    const channel = (this.#sends[from]!.get(dst) ?? 0) + 1;
    this.#sends[from]!.set(dst, channel);
    const effects = this.gates.leaves({ src, dst, channel });
    this.#flow(effects);
    return effects[0]?.type === 'stamped' ? effects[0].message.interval : 0;
  }

  tell(e: { type: FederationEvent['type'] } & Record<string, unknown>): void {
    for (const effect of this.federation.step({ ...e, now: 1 } as FederationEvent)) this.#perform(effect);
  }

  /** A CLC that no message forces. */
  checkpoint(cluster: number): void {
    this.tell({ type: 'ask', cluster });
  }

  #perform(e: FederationEffect): void {
    switch (e.type) {
      case 'begin': {
        this.gates.begin(e.cluster, e.sn);
        const counts = { sends: [...this.#sends[e.cluster]!], receives: [...this.#receives[e.cluster]!] };
        const cuts: Cuts = [[e.cluster as TaskId, counts]];
        this.gates.cut(e.cluster, e.sn, e.cluster as TaskId, counts.sends);
        return this.tell({ type: 'complete', cluster: e.cluster, sn: e.sn, cuts });
      }
      case 'commit':
        return this.tell({ type: 'committed', commit: e.commit });
      case 'open':
        return this.#flow(this.gates.opened(e.record));
      case 'check':
        return this.tell({ type: 'checked', check: e.check, damaged: [] });
      case 'stable':
        return this.gates.trim(e.records);
      case 'goBack':
        for (const { cluster, to, alias } of e.rolled) {
          this.rolled.push(`${cluster + 1} to ${to}`);
          const [[, counts]] = alias.cuts as [Cuts[number]];
          this.#sends[cluster] = new Map(counts.sends);
          this.#receives[cluster] = new Map(counts.receives);
          this.received[cluster] = [];
        }
        this.#flow(this.gates.goBack(e.rolled, e.dead));
        for (const { cluster } of e.rolled) this.tell({ type: 'wentBack', cluster, epoch: e.epoch });
    }
  }

  #flow(effects: readonly GateEffect[]): void {
    for (const e of effects)
      if (e.type === 'stamped') this.#flow(this.gates.arrives(e.message));
      else if (e.type === 'force') this.tell({ ...e, type: 'force' });
      else if (e.type === 'push') this.#receive(e.message);
  }

  #receive({ src, dst, channel }: Stamped): void {
    this.#receives[dst]!.set(src, channel);
    this.received[dst]!.push(`${src + 1}:${channel}`);
  }
}

test('Figure 5: "When receiving m1 … this forces cluster 2 to take a CLC before delivering m1"', () => {
  const c = new Clusters(3);
  // "Cluster 1 sends message m1 to cluster 2, it sends its SN (1) along with m1."
  expect(c.send(0, 1)).toBe(1);
  expect(c.ddvs(1)).toEqual(['0 1 0', '1 2 0']);
  expect(c.received[1]).toEqual(['1:1']);
  // "When receiving m2 from cluster 1, cluster 2 does not have to initiate a CLC, the received SN (1) is equal"
  c.send(0, 1);
  expect(c.ddvs(1)).toHaveLength(2);
  // "As for m1, we see that m3, m4 and m5 force CLCs respectively on clusters 3, 3 and 1."
  c.send(1, 2); // m3
  c.checkpoint(1);
  c.send(1, 2); // m4
  c.checkpoint(2);
  c.checkpoint(0);
  c.send(2, 0); // m5
  expect(c.federation.stored.map((_, i) => c.ddvs(i))).toEqual([
    ['1 0 0', '2 0 0', '3 0 4'],
    ['0 1 0', '1 2 0', '1 3 0'],
    ['0 0 1', '0 2 2', '0 3 3', '0 3 4'],
  ]);
  // "When a fault is detected in cluster 2, the whole cluster rolls back to its last stored CLC, its new SN is 3 …
  // cluster 3 has to rollback to the first CLC that has … greater than or equal … Cluster 3 sends an alert with its new
  // SN, 3 … Cluster 1 has to rollback to its last CLC which has 4 in cluster 3's entry. It sends a rollback alert with
  // its new SN (3) but no cluster has to rollback anymore"
  c.tell({ type: 'lost', clusters: [1] });
  expect(c.rolled).toEqual(['1 to 3', '2 to 3', '3 to 3']);
  // Ours: numbers are never used twice, and an alias takes the place of the CLC that it is.
  expect(c.federation.stored.map((_, i) => c.ddvs(i))).toEqual([
    ['1 0 0', '2 0 0', '4 0 4'],
    ['0 1 0', '1 2 0', '1 4 0'],
    ['0 0 1', '0 2 2', '0 3 5'],
  ]);
  // m3 forced CLC 2 of cluster 3 and is in its CLC 3; m4 forced CLC 3 and was never sent.
  expect(c.received).toEqual([[], [], []]);
});

test('"acknowledged with a SN greater than the alert one … will then be resent" would lose m1 of Figure 5', () => {
  const c = new Clusters(2);
  c.send(0, 1);
  expect(c.ddvs(1)).toEqual(['0 1', '1 2']);
  c.tell({ type: 'lost', clusters: [1] });
  expect(c.rolled).toEqual(['2 to 2']);
  expect(c.received[1]).toEqual(['1:1']);
});

test('"forcing CLC3 is useless: cluster 1 has not stored any CLC between its two message sending" (section 3.2)', () => {
  const c = new Clusters(2);
  c.send(0, 1);
  c.send(0, 1);
  expect(c.ddvs(1)).toHaveLength(2);
  c.checkpoint(0);
  c.send(0, 1);
  expect(c.ddvs(1)).toEqual(['0 1', '1 2', '2 3']);
});

test('"If the sender of a message does not rollback while the receiver does, the sender\'s cluster does not need to be forced to rollback" (section 3.3)', () => {
  const c = new Clusters(2);
  c.send(0, 1);
  c.checkpoint(1);
  c.send(0, 1);
  c.tell({ type: 'lost', clusters: [1] });
  expect(c.rolled).toEqual(['2 to 3']);
  expect(c.received[1]).toEqual(['1:2']);
});

test('"Each node removes the CLCs which have their cluster DDV entry smaller than the smallest SN" (section 3.5)', () => {
  const c = new Clusters(2);
  for (let i = 0; i < 5; i++) {
    c.checkpoint(0);
    c.send(0, 1);
  }
  expect(c.ddvs(1)).toHaveLength(6);
  c.tell({ type: 'collect' });
  // Cluster 0 may fall back to its CLC 5: the first CLC of cluster 1 that depends on it is its CLC 5.
  expect(c.federation.stored.map((own) => own.map(({ sn }) => sn))).toEqual([
    [5, 6],
    [5, 6],
  ]);
  expect(c.gates.intakes[1]!.log.map((m) => m.channel)).toEqual([4, 5]);
});
