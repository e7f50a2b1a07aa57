/**
 * When a job under FT-MPI's modes has recovered, and which task has which rank then (Fagg, Dongarra 2000; Chen et al.
 * 2005, section 2.2). A replacement is a new task with the rank of a lost one: so channels, fences and notices of tasks
 * need no second life, and what a lost task had sent cannot be taken for its replacement's.
 *
 * Owns: the ranks of MPI_COMM_WORLD, who has asked for the recovery under way. Does not own: who is lost
 * (membership.ts).
 *
 *  N8 A recovery is decided once: when each task of the world has asked for it, has ended, or is lost behind its fence;
 *     under REBUILD, when also the replacement of each lost task has asked.
 *  N9 All get the same epoch, ranks, failed ranks and context, behind the notices of all losses that it covers. It
 *     covers all losses that were told before.
 *  N10 Under REBUILD each lost task of the world is replaced once, a lost replacement too.
 *  N11 The context is the greatest that a task has offered for this recovery: no other making has it. So no message
 *     from before is taken for one from after.
 */
import { HOLE, type FtModes, type MemberNotice, type TaskId } from '@mayfly/wire';

export type Recovered = Omit<Extract<MemberNotice, { op: 'recovered' }>, 'op'>;
export type StateOf = (task: TaskId) => 'here' | 'fencing' | 'lost' | 'ended';

export class Recovery {
  #epoch = 0;
  /** Tasks by rank, the last known ones; undefined: a hole. */
  protected ranks: (TaskId | undefined)[];
  /** Who has asked, with what it offers as context. */
  protected readonly asked = new Map<TaskId, number>();
  /** Ranks that were lost since the last recovery. */
  protected failed: number[] = [];

  constructor(
    protected readonly mode: FtModes['communicators'],
    tasks: number,
  ) {
    this.ranks = Array.from({ length: tasks }, (_, t) => t as TaskId);
  }

  /** @returns whether the task is to be replaced (N10) */
  lost(task: TaskId): boolean {
    const rank = this.ranks.indexOf(task);
    if (rank < 0) return false;
    if (!this.failed.includes(rank)) this.failed.push(rank);
    this.asked.delete(task);
    return this.mode === 'rebuild';
  }

  replaced(lost: TaskId, by: TaskId): void {
    const rank = this.ranks.indexOf(lost);
    if (rank >= 0) this.ranks[rank] = by;
  }

  ask(task: TaskId, offer: number): void {
    if (this.ranks.includes(task)) this.asked.set(task, offer);
  }

  /** N8. @returns undefined: nothing is to be recovered from, or somebody is waited for */
  decide(stateOf: StateOf): Recovered | undefined {
    if (this.failed.length === 0 || this.asked.size === 0) return undefined;
    if (!this.complete(stateOf)) return undefined;
    const blank = this.ranks.map((t) => (t === undefined || stateOf(t) === 'lost' ? undefined : t));
    this.ranks = this.mode === 'shrink' ? blank.filter((t) => t !== undefined) : blank;
    const recovered = {
      epoch: ++this.#epoch,
      ranks: this.ranks.map((t) => t ?? HOLE),
      failed: this.failed,
      context: this.context(),
    };
    this.failed = [];
    this.forget();
    return recovered;
  }

  protected complete(stateOf: StateOf): boolean {
    return this.ranks.every((t) => t === undefined || this.mayGoOn(t, stateOf(t)));
  }

  protected mayGoOn(task: TaskId, state: ReturnType<StateOf>): boolean {
    if (state === 'lost') return this.mode !== 'rebuild';
    return state === 'ended' || (state === 'here' && this.asked.has(task));
  }

  /** N11. */
  protected context(): number {
    return Math.max(...this.asked.values());
  }

  protected forget(): void {
    this.asked.clear();
  }
}
