/** Mistakes that the random test has to find: each undoes one rule of plan.ts or team.ts. */
import { planOf, type Share } from '../../src/ckpt/plan.ts';
import { Team, type Saved, type TeamEvent } from '../../src/ckpt/team.ts';
import { honest, type Kit } from './model.ts';

/** 46, C1: the paper's test, "the last round … has completed in all the old processes", whatever its number. */
class LastRound extends Team {
  override share(node: string, folder: string): Share {
    const s = super.share(node, folder);
    return s.done > 0 ? { ...s, round: s.done, held: s.held.filter(([n]) => n === s.done) } : s;
  }
  override offered(): Saved | undefined {
    const s = this.running && this.ready(this.running) ? this.running : this.whole;
    return s.round > 0 ? s : undefined;
  }
}
const unnumbered: Kit['plan'] = (shares, m) => {
  const round = Math.max(...shares.map((s) => s.round));
  const any = (s: Share): Share => ({ ...s, round, done: 0, held: s.held.map(([, ranks]) => [round, ranks]) });
  return planOf(
    shares.map((s) => (s.team === '' ? s : any(s))),
    m,
  );
};

/** 47, C2. */
class SingleBuffer extends Team {
  protected override here(e: Extract<TeamEvent, { type: 'here' }>): void {
    super.here(e);
    this.whole = { round: this.whole.round, own: undefined, copies: new Map() };
  }
  override share(node: string, folder: string): Share {
    const s = super.share(node, folder);
    return this.whole.own ? s : { ...s, round: s.done, held: s.held.filter(([n]) => n === s.done) };
  }
}

/** 48, C3: replacements get their data, and hold nothing. */
const notRestored: Kit['plan'] = (shares, m) => {
  const plan = planOf(shares, m);
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
    if (running && this.ready(running)) this.whole = { round: running.round, own: running.own, copies: running.copies };
    return out;
  }
}

export const PLANTED: Readonly<Record<string, Kit>> = {
  'round-unnumbered (46)': { team: LastRound, plan: unnumbered },
  'single-buffer (47)': { ...honest, team: SingleBuffer },
  'replicas-not-restored (48)': { ...honest, plan: notRestored },
  'replicas-on-one-node (49)': { team: OnOneNode, plan: (shares, m) => planOf(shares, m, ring) },
  'whole-alone (R1)': { ...honest, team: WholeAlone },
};
