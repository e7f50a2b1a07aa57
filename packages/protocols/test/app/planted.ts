/** Each undoes one rule of the membership service. */
import type { Contribution, FtModes, Incarnation, MemberNotice, TaskId } from '@mayfly/wire';
import { Membership, type Agreement } from '../../src/app/membership.ts';
import { Recovery, type StateOf } from '../../src/app/recovery.ts';
import { SlotWait } from '../../src/app/slot-wait.ts';

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

const withRecovery = (Core: typeof Recovery): typeof Membership =>
  class extends Membership {
    protected override newRecovery(modes: FtModes, tasks: number): Recovery {
      return new Core(modes.communicators, tasks);
    }
  };

const withSlotWait = (Core: typeof SlotWait): typeof Membership =>
  class extends Membership {
    protected override newSlotWait(limit: number): SlotWait {
      return new Core(limit);
    }
  };

/** Each undoes one rule of the recovery under FT-MPI's modes. */
export const PLANTED_IN_RECOVERY: Record<string, typeof Membership> = {
  'N8: a majority decides': withRecovery(
    class extends Recovery {
      protected override complete(stateOf: StateOf): boolean {
        return super.complete(stateOf) || this.asked.size > this.ranks.length / 2;
      }
    },
  ),
  'N8: a replacement is not waited for': withRecovery(
    class extends Recovery {
      protected override mayGoOn(task: TaskId, state: ReturnType<StateOf>): boolean {
        return state === 'lost' || super.mayGoOn(task, state);
      }
    },
  ),
  'N8: who asked for an earlier recovery has asked for this one': withRecovery(
    class extends Recovery {
      protected override forget(): void {
        // Nothing.
      }
    },
  ),
  'N9: a second loss is ignored while the first is recovered from': withRecovery(
    class extends Recovery {
      override lost(task: TaskId): boolean {
        return this.asked.size === 0 ? super.lost(task) : false;
      }
      protected override mayGoOn(task: TaskId, state: ReturnType<StateOf>): boolean {
        return super.mayGoOn(task, state === 'lost' ? 'ended' : state);
      }
    },
  ),
  'N9: decided before the notices of the loss': class extends Membership {
    protected override lose(task: TaskId): void {
      const told: [TaskId, MemberNotice][] = [];
      const tell = this.tell.bind(this);
      // The losses go out last.
      this.tell = (t, n) => (n.op === 'lost' ? void told.push([t, n]) : tell(t, n));
      super.lose(task);
      this.tell = tell;
      for (const [t, n] of told) tell(t, n);
    }
  },
  'N10: a lost replacement is not replaced': withRecovery(
    class extends Recovery {
      readonly #first = [...this.ranks];
      override lost(task: TaskId): boolean {
        return super.lost(task) && this.#first.includes(task);
      }
    },
  ),
  'N11: every recovery has the same context': withRecovery(
    class extends Recovery {
      protected override context(): number {
        return 100;
      }
    },
  ),
  'N12: the wait begins again with each tick': withSlotWait(
    class extends SlotWait {
      protected override since(before: number | undefined, now: number, idle: boolean): number | undefined {
        return super.since(undefined, now, idle);
      }
    },
  ),
  'N12: the time with a slot counts': withSlotWait(
    class extends SlotWait {
      protected override since(before: number | undefined, now: number, idle: boolean): number | undefined {
        return before ?? super.since(before, now, idle);
      }
    },
  ),
  'N12: only the first replacement has a limit': withSlotWait(
    class extends SlotWait {
      override replaces(task: TaskId, root: TaskId): void {
        if (this.waits.size === 0) super.replaces(task, root);
      }
    },
  ),
  'N12: no time is the limit, where the wait may last for ever': withSlotWait(
    class extends SlotWait {
      constructor(limit: number) {
        super(limit === 0 ? 1 : limit);
      }
    },
  ),
};
