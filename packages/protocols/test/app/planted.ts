/** Each undoes one rule of the membership service. */
import type { Contribution, Incarnation, TaskId } from '@mayfly/wire';
import { Membership, type Agreement } from '../../src/app/membership.ts';

export const PLANTED: Record<string, typeof Membership> = {
  'N1: the notice goes out before the fence': class extends Membership {
    protected override dead(task: TaskId, above: Incarnation): void {
      super.dead(task, above);
      if (this.members[task]?.state === 'fencing') this.lose(task);
    }
  },
  'N2: a task that is alone on its Channel Memory is not told': class extends Membership {
    protected override listeners(): TaskId[] {
      return super.listeners().filter((t) => t !== 3);
    }
  },
  'N4: a revoke misses who has not called anything yet': class extends Membership {
    readonly #spoke = new Set<TaskId>();
    protected override contribute(comm: string, task: TaskId, c: Contribution): void {
      this.#spoke.add(task);
      super.contribute(comm, task, c);
    }
    protected override hearRevoke(members: readonly TaskId[]): TaskId[] {
      return super.hearRevoke(members).filter((t) => this.#spoke.has(t));
    }
  },
  'N5: who is being fenced is not waited for': class extends Membership {
    protected override complete(a: Agreement): boolean {
      return a.members.every((t) => this.members[t]!.state !== 'here' || a.contributions.has(t));
    }
  },
  'N5: a majority decides': class extends Membership {
    protected override complete(a: Agreement): boolean {
      return super.complete(a) || a.contributions.size > a.members.length / 2;
    }
  },
  'N5: what comes after the decision decides again': class extends Membership {
    protected override contribute(comm: string, task: TaskId, c: Contribution): void {
      super.contribute(comm, task, c);
      this.decided.delete(comm);
    }
    protected override complete(a: Agreement): boolean {
      return a.members.every((t) => this.members[t]!.state !== 'here' || a.contributions.has(t));
    }
  },
  'N5: a lost contribution counts': class extends Membership {
    protected override counts(): boolean {
      return true;
    }
  },
};
