/** Mistakes that the random test has to find: each undoes one rule of plan.ts or team.ts. */
import { planOf, type Share } from '../../src/ckpt/plan.ts';
import { Team, savedOf, type Saved, type TeamEvent } from '../../src/ckpt/team.ts';
import { honest, type Kit } from './model.ts';

/** 46, C1: the paper's test, "the last round … has completed in all the old processes", whatever its number. */
class LastRound extends Team {
  override share(node: string, folder: string): Share {
    const s = super.share(node, folder);
    return s.done > 0
      ? {
          ...s,
          round: s.done,
          held: s.held.filter(([n]) => n === s.done),
          sums: (s.sums ?? []).filter(([n]) => n === s.done),
        }
      : s;
  }
  override offered(): Saved | undefined {
    const s = this.running && this.ready(this.running) ? savedOf(this.running) : this.whole;
    return s.round > 0 ? s : undefined;
  }
}
const unnumbered: Kit['plan'] = (shares, m, o) => {
  const round = Math.max(...shares.map((s) => s.round));
  const any = (s: Share): Share => ({
    ...s,
    round,
    done: 0,
    held: s.held.map(([, ranks]) => [round, ranks]),
    sums: (s.sums ?? []).map(([, names]) => [round, names]),
  });
  return planOf(
    shares.map((s) => (s.team === '' ? s : any(s))),
    m,
    o,
  );
};

/** 47, C2. */
class SingleBuffer extends Team {
  protected override here(e: Extract<TeamEvent, { type: 'here' }>): void {
    super.here(e);
    this.whole = { round: this.whole.round, own: undefined, copies: new Map(), sums: [] };
  }
  override share(node: string, folder: string): Share {
    const s = super.share(node, folder);
    return this.whole.own
      ? s
      : {
          ...s,
          round: s.done,
          held: s.held.filter(([n]) => n === s.done),
          sums: (s.sums ?? []).filter(([n]) => n === s.done),
        };
  }
}

/** 48, C3: replacements get their data, and hold nothing. */
const notRestored: Kit['plan'] = (shares, m, o) => {
  const plan = planOf(shares, m, o);
  return plan.error === undefined ? { ...plan, transfers: plan.transfers.filter((t) => t.of === t.to) } : plan;
};

/** 49: a ring of ranks. */
const ring = (nodes: readonly string[], rank: number, m: number): number[] =>
  Array.from({ length: Math.min(m, nodes.length - 1) }, (_, d) => (rank + d + 1) % nodes.length);
class OnOneNode extends Team {
  protected override holders(rank: number): number[] {
    return ring(this.options.nodes, rank, this.options.m);
  }
}

/** R1: a round is whole where its copies are, without asking the others. */
class WholeAlone extends Team {
  override step(e: TeamEvent): ReturnType<Team['step']> {
    const out = super.step(e);
    const { running } = this;
    if (running && this.ready(running)) this.whole = savedOf(running);
    return out;
  }
}

/** C3 under a code: nobody adds up again what was lost. */
const sumsNotRestored: Kit['plan'] = (shares, m, o) => {
  const plan = planOf(shares, m, o);
  return plan.error === undefined ? { ...plan, sums: [] } : plan;
};

/** Z1: groups of neighbours, wherever they are. */
const neighbours: Kit['sums'] = (nodes, c) =>
  nodes.flatMap((_, r) => {
    const n = nodes.length;
    const size = Math.min(2, n - c);
    if (r % size !== 0) return [];
    const ranks = [r, r + 1].slice(0, Math.min(size, n - r));
    return Array.from({ length: c }, (__, index) => ({
      name: { code: 'exact' as const, ranks, members: ranks.length, checksums: c, index },
      by: (r + ranks.length + index) % n,
    }));
  });

export const PLANTED: Readonly<Record<string, Kit>> = {
  'round-unnumbered (46)': { ...honest, team: LastRound, plan: unnumbered },
  'single-buffer (47)': { ...honest, team: SingleBuffer },
  'replicas-not-restored (48)': { ...honest, plan: notRestored },
  'replicas-on-one-node (49)': {
    ...honest,
    team: OnOneNode,
    plan: (shares, m, o) => planOf(shares, m, { ...o, holders: ring }),
  },
  'sums-not-restored (C3)': { ...honest, plan: sumsNotRestored },
  'members-on-one-node (Z1)': { ...honest, sums: neighbours },
  'whole-alone (R1)': { ...honest, team: WholeAlone },
};
