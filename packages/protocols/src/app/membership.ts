/**
 * The membership service of one job under protocol `app`: who is lost, which communicators are revoked, and what the
 * members of a communicator have agreed on. After ULFM (Bland et al., "Post-failure recovery of MPI communication
 * capability"); there, processes agree among themselves, here the star decides.
 *
 * Owns: the state of each task, revoked communicators, agreements under way. Does not own: how a loss is detected (the
 * dispatcher), fences (the Channel Memories), what a process makes of a notice (packages/mpi/src/failure).
 *
 *  N1 A loss is told only behind its fence: when every Channel Memory refuses the lost incarnation. So everything that
 *     the lost task managed to send stands before the notice at each receiver, and nothing of it behind.
 *  N2 Every task that lives gets every notice of a loss once, and all get them in one order.
 *  N3 Notices of one step go to all their receivers before anything else happens. So whatever follows from a notice at
 *     one task finds it at each other task already.
 *  N4 (U3) A communicator is revoked once, and each member that lives is told.
 *  N5 (U4) An agreement is decided once: when each member has contributed, has ended or is lost behind its fence. All
 *     get the same value, in which only those count that live or have ended. Nothing later changes it.
 *  N6 (U4) Its answer stands behind the notices of all losses that it names.
 *  N7 (U5) The context id of a shrunk communicator is the greatest that a member has offered: no other
 *     making has it.
 *
 * Under FT-MPI's modes it also decides when the job has recovered (recovery.ts, N8 to N11), and how long a replacement
 * may wait for a slot (slot-wait.ts, N12).
 *
 * Nothing of this is durable: messages are relayed from the server's memory, so the job does not outlive the server.
 */
import type { Contribution, FtModes, Incarnation, MemberNotice, MemberRequest, TaskId } from '@mayfly/wire';
import { Recovery } from './recovery.ts';
import { SlotWait } from './slot-wait.ts';
import type {
  MembershipEffect,
  MembershipEvent,
  MembershipOptions,
  MembershipService,
} from '../contract/membership.ts';

interface Member {
  state: 'here' | 'fencing' | 'lost' | 'ended';
  above: Incarnation | undefined;
  /** Channel Memories that have not answered. */
  readonly waiting: Set<number>;
  told: number;
}

export interface Agreement {
  readonly members: readonly TaskId[];
  readonly context: number;
  readonly number: number;
  readonly contributions: Map<TaskId, Contribution>;
}

export class Membership implements MembershipService {
  readonly #channelMemories: number;
  protected readonly members: Member[] = [];
  readonly #revoked = new Set<string>();
  readonly #agreements = new Map<string, Agreement>();
  /** N5: number of the last decided agreement of each communicator. */
  protected readonly decided = new Map<string, number>();
  readonly #recovery: Recovery | undefined;
  readonly #slotWait: SlotWait;
  #out: MembershipEffect[] = [];

  constructor(options: MembershipOptions) {
    this.#channelMemories = options.channelMemories;
    if (options.ft) this.#recovery = this.newRecovery(options.ft, options.tasks);
    this.#slotWait = this.newSlotWait(options.slotMs);
    this.#grow(options.tasks);
  }

  protected newRecovery(modes: FtModes, tasks: number): Recovery {
    return new Recovery(modes.communicators, tasks);
  }

  protected newSlotWait(limit: number): SlotWait {
    return new SlotWait(limit);
  }

  /** Lost tasks, behind their fences. */
  get lost(): TaskId[] {
    return this.#tasks((m) => m.state === 'lost');
  }

  step(e: MembershipEvent): MembershipEffect[] {
    switch (e.type) {
      case 'grow':
        if (e.replaces !== undefined) {
          this.#recovery?.replaced(e.replaces, (e.tasks - 1) as TaskId);
          this.#slotWait.replaces((e.tasks - 1) as TaskId, e.replaces);
        }
        this.#grow(e.tasks);
        break;
      case 'dead':
        this.dead(e.task, e.above);
        break;
      case 'fenced':
        this.#fenced(e.task, e.incarnation, e.cm);
        break;
      case 'ended':
        this.#ended(e.task);
        break;
      case 'request':
        this.#request(e.task, e.request);
        break;
      case 'tick': {
        const error = this.#slotWait.tick(e.now, e.idle);
        if (error) this.#out.push({ type: 'failed', error });
        break;
      }
    }
    const out = this.#out;
    this.#out = [];
    return out;
  }

  #grow(tasks: number): void {
    for (let t = this.members.length; t < tasks; t++) {
      this.members.push({ state: 'here', above: undefined, waiting: new Set(), told: 0 });
      // Who comes later hears of earlier losses first (N2).
      const { lost } = this;
      if (lost.length > 0) this.tell(t as TaskId, { op: 'lost', tasks: lost });
    }
  }

  #tasks(which: (m: Member) => boolean): TaskId[] {
    return this.members.flatMap((m, t) => (which(m) ? [t as TaskId] : []));
  }

  protected tell(task: TaskId, notice: MemberNotice): void {
    this.#out.push({ type: 'tell', task, number: ++this.members[task]!.told, notice });
  }

  // ── losses ─────────────────────────────────────────────────────────────────────────────────────────────────────────

  protected dead(task: TaskId, above: Incarnation): void {
    const m = this.members[task];
    if (m?.state !== 'here') return;
    m.state = 'fencing';
    m.above = above;
    for (let cm = 0; cm < this.#channelMemories; cm++) m.waiting.add(cm);
    this.#out.push({ type: 'fence', task, incarnation: above });
  }

  #fenced(task: TaskId, incarnation: Incarnation, cm: number): void {
    const m = this.members[task];
    if (m?.state !== 'fencing' || m.above === undefined || incarnation < m.above) return;
    m.waiting.delete(cm);
    if (m.waiting.size === 0) this.lose(task); // N1
  }

  protected lose(task: TaskId): void {
    this.members[task]!.state = 'lost';
    this.#out.push({ type: 'lost', task });
    for (const t of this.listeners()) this.tell(t, { op: 'lost', tasks: [task] });
    if (this.#recovery?.lost(task)) this.#out.push({ type: 'replace', task });
    this.#decideAll(); // N6: behind the notices
  }

  /** Who lives; a task that is being fenced may still hear, and its notices are dropped with it. */
  protected listeners(): TaskId[] {
    return this.#tasks((m) => m.state === 'here' || m.state === 'fencing');
  }

  #ended(task: TaskId): void {
    const m = this.members[task];
    if (m?.state !== 'here') return;
    m.state = 'ended';
    this.#decideAll();
  }

  /** N8, N9: behind the notices of the losses. */
  #recover(): void {
    const recovered = this.#recovery?.decide((t) => this.members[t]!.state);
    if (!recovered) return;
    for (const t of recovered.ranks)
      if (t >= 0 && this.members[t]!.state === 'here') this.tell(t as TaskId, { op: 'recovered', ...recovered });
  }

  // ── requests ───────────────────────────────────────────────────────────────────────────────────────────────────────

  #request(task: TaskId, r: MemberRequest): void {
    const m = this.members[task];
    if (!m || m.state === 'lost') return;
    if (r.op === 'recover') {
      this.#recovery?.ask(task, r.offer);
      return this.#recover();
    }
    if (!this.#valid(task, r)) return;
    const comm = `${r.context}/${r.members.join()}`;
    if (r.op === 'revoke') this.#revoke(comm, r.context, r.members as TaskId[]);
    else this.contribute(comm, task, r);
  }

  /** What comes from a node: ascending members, all of the job, the sender among them. */
  #valid(task: TaskId, { members }: { readonly members: readonly number[] }): boolean {
    return (
      members.every((t, i) => t < this.members.length && (i === 0 || t > members[i - 1]!)) && members.includes(task)
    );
  }

  #revoke(comm: string, context: number, members: readonly TaskId[]): void {
    if (this.#revoked.has(comm)) return;
    this.#revoked.add(comm);
    for (const t of this.hearRevoke(members)) this.tell(t, { op: 'revoked', context });
  }

  protected hearRevoke(members: readonly TaskId[]): TaskId[] {
    const live = new Set(this.listeners());
    return members.filter((t) => live.has(t));
  }

  protected contribute(comm: string, task: TaskId, c: Contribution): void {
    if (c.number <= (this.decided.get(comm) ?? -1)) return; // N5
    const key = `${c.number}/${comm}`;
    const a = this.#agreements.get(key) ?? {
      members: c.members as TaskId[],
      context: c.context,
      number: c.number,
      contributions: new Map<TaskId, Contribution>(),
    };
    this.#agreements.set(key, a);
    if (!a.contributions.has(task)) a.contributions.set(task, c);
    this.#decide(key, comm, a);
  }

  #decideAll(): void {
    for (const [key, a] of [...this.#agreements]) this.#decide(key, key.slice(key.indexOf('/') + 1), a);
    this.#recover();
  }

  #decide(key: string, comm: string, a: Agreement): void {
    if (!this.complete(a)) return;
    this.#agreements.delete(key);
    this.decided.set(comm, Math.max(a.number, this.decided.get(comm) ?? -1));
    const lost = a.members.filter((t) => this.members[t]!.state === 'lost');
    const counted = [...a.contributions].filter(([t]) => this.counts(t)).map(([, c]) => c);
    let flag = -1;
    let offer = 0;
    for (const c of counted) {
      flag &= c.flag;
      offer = Math.max(offer, c.offer);
    }
    const acknowledged = counted.map((c) => new Set(c.acknowledged));
    const unacknowledged = lost.some((t) => !acknowledged.every((by) => by.has(t)));
    for (const t of a.contributions.keys())
      if (this.members[t]!.state === 'here')
        this.tell(t, { op: 'agreed', context: a.context, number: a.number, flag, offer, lost, unacknowledged });
  }

  protected counts(task: TaskId): boolean {
    return this.members[task]!.state !== 'lost';
  }

  /** Nobody is waited for any more. One that is being fenced is: what it has sent may still be on its way. */
  protected complete(a: Agreement): boolean {
    return a.members.every((t) => {
      const { state } = this.members[t]!;
      return state === 'lost' || state === 'ended' || (state === 'here' && a.contributions.has(t));
    });
  }
}
