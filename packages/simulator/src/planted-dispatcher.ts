/** The dispatcher, as production has it unless a planted bug concerns it alone. */
import {
  Dispatcher,
  protocols,
  type DispatcherEffect,
  type DispatcherEvent,
  type DispatcherSettings,
} from '@mayfly/protocols';
import { incarnation } from '@mayfly/wire';
import type { Simulation } from './simulation.ts';

/** …with the words of the dispatcher. */
const DISSOLVES = 'no node has room for ranks';
const IN_TEAMS = 'several nodes, ranks';
const MERGES = 'become a team';
const MOVES = 'share too few slots and move';
const STOPS = 'share too few slots and stop';

export class PlantedDispatcher extends Dispatcher {
  constructor(
    private readonly world: Simulation & { readonly wall: number },
    settings: Partial<DispatcherSettings>,
  ) {
    super(settings, { ...protocols, [world.setup.protocol]: world.protocol });
  }

  override step(e: DispatcherEvent): DispatcherEffect[] {
    const effects = this.planted(e);
    if (this.world.undone === 'moved-in-parts') this.parted(effects);
    for (const x of effects) {
      if (x.type === 'assign' && x.team?.[0] === x.task && this.core.find(x.job, x.task)!.oversubscribed)
        this.world.count('teams on too few slots');
      if (x.type === 'log' && x.message.includes(MERGES)) this.world.count('teams merged');
      if (x.type === 'checkpoint' && x.last) this.world.count('last images asked for');
      if (x.type === 'log' && x.message.includes(MOVES)) this.world.count('teams moved');
      if (x.type === 'log' && x.message.includes(STOPS)) this.world.count('teams that run stopped to be dissolved');
      if (x.type === 'log' && x.message.startsWith(DISSOLVES)) {
        this.world.count('teams dissolved');
        if (x.message.includes(IN_TEAMS)) this.world.count('…into smaller teams');
      }
    }
    return effects;
  }

  /** T8: of a team that moves, one member goes to another node with a free slot. */
  private parted(effects: readonly DispatcherEffect[]): void {
    for (const x of effects) {
      if (x.type !== 'log' || !x.message.includes(MOVES)) continue;
      const first = this.core.find(x.job!, x.task!)!;
      const t = first.job.tasks[first.team!.at(-1)!]!;
      const other = [...this.core.nodes.values()].find(
        (n) => n.id !== t.node && n.connection && n.tasks.size < n.slots,
      );
      if (!other || t.phase !== 'raising') continue;
      this.core.nodes.get(t.node!)!.tasks.delete(t);
      t.node = other.id;
      other.tasks.add(t);
    }
  }

  private planted(e: DispatcherEvent): DispatcherEffect[] {
    if (this.world.undone === 'survivors-keep-incarnation' && e.type === 'rollBack')
      for (const t of this.core.jobs.get(e.job)?.tasks ?? [])
        if (t.phase === 'running' && t.incarnation !== undefined) t.incarnation = incarnation(t.incarnation - 1);
    if (this.world.undone === 'credit-to-the-last-node' && e.type === 'exit') {
      const acting = this.core.find(e.job, e.task)?.incarnation ?? e.incarnation;
      return super.step({ ...e, incarnation: acting });
    }
    if (this.world.undone === 'counts-not-raised') return super.step(e).map(withoutCounts);
    if (this.world.undone === 'smaller-teams-not-heard') return super.step(e).map(withoutGroups);
    if (this.world.undone !== 'blame-kept') return super.step(e);
    const { reputations } = this.core;
    const before = new Map([...reputations].map(([id, r]) => [id, r.quarantinedUntil]));
    const effects = super.step(e);
    for (const [id, until] of before)
      if (until !== undefined && until > this.world.wall) reputations.get(id)!.quarantinedUntil ??= until;
    return effects;
  }
}

/** T9: what the members of teams that are dissolved had sent to each other is not told. */
function withoutCounts(e: DispatcherEffect): DispatcherEffect {
  if (e.type !== 'teams' || !e.dissolved) return e;
  const dissolved = e.dissolved.map((d) => ({ ...d, from: d.from.map((f) => ({ ...f, sends: [] })) }));
  return { ...e, dissolved };
}

/** D28: nobody hears of the smaller teams. */
function withoutGroups(e: DispatcherEffect): DispatcherEffect {
  if (e.type !== 'teams' || !e.dissolved) return e;
  const smaller = new Set(e.dissolved.flatMap(({ groups = [] }) => groups.map(String)));
  return { ...e, teams: e.teams.filter((t) => !smaller.has(String(t))) };
}
