/**
 * Planted bugs of coordinated checkpointing that are other rows of the table of V-protocols: each breaks one rule of
 * the gate, of the checkpoint scheduler or of what the world sees. A row belongs to one run.
 */
import {
  Freeze,
  Gate,
  Waves,
  protocols,
  waveLog,
  waveRules,
  waveService,
  type CommdTask,
  type VProtocol,
  type WaveRules,
} from '@mayfly/protocols';
import { WORLD, WorldMode, taskId, type TaskId } from '@mayfly/wire';
import type { Rule } from './planted.ts';

const { vcl, pcl } = protocols;
const withLog = (log: Partial<VProtocol['log']>): VProtocol => ({ ...vcl, log: { ...vcl.log, ...log } });
const withWaves = (rules: Partial<WaveRules>, protocol = vcl): VProtocol => ({
  ...protocol,
  log: waveLog(protocol.manifest.name, { ...waveRules, ...rules }),
});

type GateRule = new (...args: ConstructorParameters<typeof Gate>) => Gate;
const withGate = (Wrong: GateRule): VProtocol => withWaves({ gate: (tasks, home) => new Wrong(tasks, home) });
const withScheduler = (Wrong: typeof Waves): VProtocol => ({ ...vcl, service: waveService((o) => new Wrong(o)) });

// ---- the gate ----

/** G1: a receiver may get what its sender's image has not sent. */
class HoldsNothing extends Gate {
  protected override holds(): boolean {
    return false;
  }
}
/** G2: what was in the channels is in no image. */
class RecordsNothing extends Gate {
  protected override records(): boolean {
    return false;
  }
}
/** G2: bodies that an image lacks are not recorded. */
class RecordsNoBodies extends Gate {
  protected override bodies(): readonly number[] {
    return [];
  }
}
/** G3: nobody waits for what is under way. */
class DoesNotWait extends Gate {
  protected override complete(): boolean {
    return this.state.cuts.every((cut) => cut !== undefined);
  }
}
/** G3: what is recorded counts before it is durable. */
class CountsAtOnce extends Gate {
  protected override settle(dst: TaskId): void {
    this.state.doors[dst]!.durable = Infinity;
    super.settle(dst);
  }
}
/** A cut is where CUT comes among the messages, as a marker is. */
class CutsByPosition extends Gate {
  protected override line(task: TaskId): number[] {
    return this.state.doors.map((_, dst) => this.seen(task, taskId(dst)));
  }
}

/** G1: what was held back stays when the wave is over. */
class HoldsForEver extends Gate {
  override over(wave: number): void {
    if (!this.belongs(wave)) return;
    this.state.wave = 0;
    for (const d of this.state.doors) if (d) d.cut = false;
  }
}

/** X1: a message that is held back gets its arrival number before others that pass it. */
function numbersEarly(): VProtocol {
  const held = new Map<TaskId, { src: TaskId; number?: number }[]>();
  class NumbersEarly extends Gate {
    override comes(src: TaskId, dst: TaskId, channel: number): boolean {
      const waits = super.comes(src, dst, channel);
      if (waits) held.set(dst, [...(held.get(dst) ?? []), { src }]);
      return waits;
    }
  }
  return {
    ...withGate(NumbersEarly),
    log: {
      ...withGate(NumbersEarly).log,
      number(d, src, _offset, whole) {
        if (!whole) return 0;
        const waiting = held.get(d.task) ?? [];
        for (const m of waiting) m.number ??= d.index.add(-2, 0);
        const mine = waiting.findIndex((m) => m.src === src);
        return mine < 0 ? d.index.count + 1 : waiting.splice(mine, 1)[0]!.number!;
      },
    },
  };
}

/** G7: after a rollback standard input goes on where it was. */
function stdinGoesOn(): VProtocol {
  let typed = 0;
  class Counts extends Gate {
    override comes(src: TaskId, dst: TaskId, channel: number): boolean {
      if (src === WORLD) typed = Math.max(typed, channel);
      return super.comes(src, dst, channel);
    }
  }
  return withWaves({
    gate: (tasks, home) => new Counts(tasks, home),
    restoreGate(gate, tasks, ...rest) {
      waveRules.restoreGate(gate, tasks, ...rest);
      if (tasks.some((t) => t.task === 0 && t.state !== 'ended')) gate.counted(WORLD, taskId(0), typed);
    },
  });
}

// ---- pcl ----

/** G6: a task may take its image when it has marked itself. */
class FlushesAtOnce extends Gate {
  protected override flushed(dst: TaskId): boolean {
    return this.state.marks[dst] !== undefined;
  }
}
/** Z1: what a task sends between its mark and its image leaves at once. */
class FreezesNothing<Frame> extends Freeze<Frame> {
  override holds(): boolean {
    return false;
  }
}
/** Z2: what waited is lost. */
class Forgets<Frame> extends Freeze<Frame> {
  override thaw(): Frame[] {
    super.thaw();
    return [];
  }
}
const withFreeze = (freeze: NonNullable<CommdTask['freeze']>): VProtocol => ({
  ...pcl,
  commd: (channelMemories) => ({ ...pcl.commd(channelMemories), freeze }),
});

// ---- the checkpoint scheduler ----

/** W3: what a wave covers is shown when it is committed. */
class ShowsTheNewest extends Waves {
  protected override stable(...[kept]: Parameters<Waves['stable']>): ReturnType<Waves['stable']> {
    return kept.at(-1);
  }
}
/** W9: with a wave of which images are with the nodes, the newest one at the server is shown. */
class NearWaveShows extends Waves {
  protected override stable(...[kept]: Parameters<Waves['stable']>): ReturnType<Waves['stable']> {
    return kept.at(-1)?.near ? kept.at(-2) : kept[0];
  }
}
/** W9: two waves are kept, whatever they are. */
class KeepsTwo extends Waves {
  protected override stay(...[kept]: Parameters<Waves['stay']>): ReturnType<Waves['stay']> {
    return kept.slice(-2);
  }
}
/** W1: the number of a wave that was abandoned is used again. */
class UsesNumbersTwice extends Waves {
  protected override number(): number {
    return (this.kept.at(-1) ?? 0) + 1;
  }
}
/** W2: a wave counts without its channels. */
class NeedsNoRecords extends Waves {
  protected override durable(): boolean {
    return true;
  }
}
/** W5: a loss does not wait for the commit that is under way. */
class DoesNotWaitForCommits extends Waves {
  protected override waits(): boolean {
    return false;
  }
}
/** W6: ranks go on, and one Channel Memory has not gone back. */
class LeavesOneOut extends Waves {
  protected override allBack(waiting: number): boolean {
    return waiting <= 1;
  }
}

export const COORDINATED: Partial<Record<Rule, () => VProtocol>> = {
  'late-not-held': () => withGate(HoldsNothing),
  'held-numbered-early': numbersEarly,
  'channels-not-recorded': () => withGate(RecordsNothing),
  'held-bodies-not-recorded': () => withGate(RecordsNoBodies),
  'recorded-too-soon': () => withGate(DoesNotWait),
  'records-not-synced': () => withGate(CountsAtOnce),
  'held-after-the-wave': () => withGate(HoldsForEver),
  'outdated-life-accepted': () => withLog({ outranks: () => false }),
  'cut-by-position': () => withGate(CutsByPosition),
  'wave-number-reused': () => withScheduler(UsesNumbersTwice),
  'commit-without-records': () => withScheduler(NeedsNoRecords),
  'rollback-during-commit': () => withScheduler(DoesNotWaitForCommits),
  'one-log-not-back': () => withScheduler(LeavesOneOut),
  'stdin-not-rewound': stdinGoesOn,
  'flushed-too-soon': () => withWaves({ gate: (tasks, home) => new FlushesAtOnce(tasks, home) }, pcl),
  'not-frozen': () => withFreeze(() => new FreezesNothing()),
  'frozen-forgotten': () => withFreeze(() => new Forgets()),
  'output-at-once': () => withLog({ shows: (_w, _n, mode) => mode !== WorldMode.EXIT }),
  'requests-at-once': () => withLog({ shows: (w, n, mode) => mode === WorldMode.REQUEST || n <= w.stable }),
  'exit-at-once': () => withLog({ shows: (w, n) => w.waiting.at(-1)?.mode === WorldMode.EXIT || n <= w.stable }),
  'near-wave-shows': () => withScheduler(NearWaveShows),
  'near-in-place-of-whole': () => withScheduler(KeepsTwo),
  'output-at-the-commit': () => withScheduler(ShowsTheNewest),
};
