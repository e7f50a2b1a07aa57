/**
 * Planted bugs of programs that recover themselves (`app`): each is another row of the table of V-protocols, with one
 * rule of the membership service undone.
 */
import {
  Membership,
  Recovery,
  SlotWait,
  memberService,
  protocols,
  type StateOf,
  type VProtocol,
} from '@mayfly/protocols';
import type { FtModes, TaskId } from '@mayfly/wire';
import { plant } from './plant.ts';

const withMembership = (Wrong: typeof Membership): VProtocol => ({
  ...protocols.app,
  service: memberService((options) => new Wrong(options)),
});
const withRecovery = (Wrong: typeof Recovery): VProtocol =>
  withMembership(
    class extends Membership {
      protected override newRecovery({ communicators }: FtModes, tasks: number): Recovery {
        return new Wrong(communicators, tasks);
      }
    },
  );
const withSlotWait = (Wrong: typeof SlotWait): VProtocol =>
  withMembership(
    class extends Membership {
      protected override newSlotWait(limit: number): SlotWait {
        return new Wrong(limit);
      }
    },
  );

/** Mistake 42. A fence takes no time here, so there is none. */
class UnfencedLoss extends Membership {
  protected override dead(task: TaskId): void {
    if (this.members[task]?.state === 'here') this.lose(task);
  }
}

class SomeHearNothing extends Membership {
  protected override listeners(): TaskId[] {
    return super.listeners().filter((t) => t !== 1);
  }
}

/** Mistake 43: here a world has no state at the Channel Memories, and what may be early is a replacement. */
class WithoutTheReplacement extends Recovery {
  protected override mayGoOn(task: TaskId, state: ReturnType<StateOf>): boolean {
    return state === 'lost' || super.mayGoOn(task, state);
  }
}

class AMajorityDecides extends Recovery {
  protected override complete(stateOf: StateOf): boolean {
    return super.complete(stateOf) || this.asked.size > this.ranks.length / 2;
  }
}

/** Mistake 44. */
class SecondLossIgnored extends Recovery {
  override lost(task: TaskId): boolean {
    return this.asked.size === 0 ? super.lost(task) : false;
  }
  protected override mayGoOn(task: TaskId, state: ReturnType<StateOf>): boolean {
    return super.mayGoOn(task, state === 'lost' ? 'ended' : state);
  }
}

/** Mistake 45. */
class ContextOfBefore extends Recovery {
  protected override context(): number {
    return 0;
  }
}

class ReplacedOnce extends Recovery {
  readonly #first = [...this.ranks];
  override lost(task: TaskId): boolean {
    return super.lost(task) && this.#first.includes(task);
  }
}

class WaitsForEver extends SlotWait {
  override tick(): undefined {
    return undefined;
  }
}

class SlotCounts extends SlotWait {
  protected override since(before: number | undefined, now: number, idle: boolean): number | undefined {
    return before ?? super.since(before, now, idle);
  }
}

export const RECOVERING = {
  'unfenced-loss': () => withMembership(UnfencedLoss),
  'some-hear-nothing': () => withMembership(SomeHearNothing),
  'without-the-replacement': () => withRecovery(WithoutTheReplacement),
  'a-majority-decides': () => withRecovery(AMajorityDecides),
  'second-loss-ignored': () => withRecovery(SecondLossIgnored),
  'context-of-before': () => withRecovery(ContextOfBefore),
  'replaced-once': () => withRecovery(ReplacedOnce),
  'waits-for-ever': () => withSlotWait(WaitsForEver),
  'slot-counts': () => withSlotWait(SlotCounts),
};

/** Nodes come and go; the server lives, because such a job does not outlive it. */
export const NODES_COME_AND_GO = {
  setup: { protocol: 'app' },
  only: [
    'crash',
    'half-open crash',
    'rank crash',
    'close',
    'reload',
    'freeze',
    'zombie',
    'cut off',
    'partition',
    'stall',
    'broken link',
    'second socket',
    'delay',
    'reorder',
    'duplicate',
    'clone',
  ],
  faultEveryMs: 700,
} as const;
const FEW_SLOTS = {
  ...NODES_COME_AND_GO,
  setup: {
    protocol: 'app',
    nodes: 2,
    slots: 2,
    ft: { communicators: 'rebuild', messages: 'reset', slotMs: 2000 },
  },
  spec: { size: 4 },
} as const;

export const PLANTED_RECOVERING = [
  plant('unfenced-loss', 'N1: a loss is reported only behind its fence', 200, {
    ...NODES_COME_AND_GO,
    only: ['stall', 'zombie', 'cut off', 'partition'],
  }),
  plant('some-hear-nothing', 'N2: every task that lives gets every notice of a loss', 100, NODES_COME_AND_GO),
  plant(
    'without-the-replacement',
    'N8: a recovery waits until the replacement of each lost task has asked',
    100,
    NODES_COME_AND_GO,
  ),
  plant('a-majority-decides', 'N8: a recovery waits for each task of the world', 100, NODES_COME_AND_GO),
  plant(
    'second-loss-ignored',
    'N9: a recovery covers all losses of which tasks have heard before',
    100,
    NODES_COME_AND_GO,
  ),
  plant('context-of-before', 'N11: no other making has the context of a recovery', 100, NODES_COME_AND_GO),
  plant('replaced-once', 'N10: a lost replacement is replaced, too', 100, NODES_COME_AND_GO),
  plant('waits-for-ever', 'N12: a replacement that has no slot for the limit ends the job', 100, FEW_SLOTS),
  plant('slot-counts', 'N12: a replacement that has a slot ends no job', 100, FEW_SLOTS),
] as const;
