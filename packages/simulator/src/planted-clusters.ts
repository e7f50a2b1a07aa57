/**
 * Planted bugs of clusters (`hc3i`): each is another row of the table of V-protocols, with one rule of the scheduler of
 * clusters or of the messages between them undone. The numbers are those of the design's list of mistakes.
 */
import {
  Clusters,
  Federation,
  Intake,
  Links,
  Stamps,
  clusterLog,
  clusterService,
  garbageLine,
  protocols,
  type LoggedByIntake,
  type RecoveryLine,
  type StoredCheckpoints,
  type VProtocol,
} from '@mayfly/protocols';
import { WorldMode } from '@mayfly/wire';
import type { Rule } from './planted.ts';

const { hc3i } = protocols;

const withLinks = (Wrong: typeof Links): VProtocol => ({ ...hc3i, log: clusterLog(Wrong) });
const withIntake = (Wrong: typeof Intake): VProtocol =>
  withLinks(
    class extends Links {
      protected override newIntake(ddv: readonly number[]): Intake {
        return new Wrong(ddv);
      }
    },
  );
const withScheduler = (Wrong: typeof Clusters): VProtocol => ({
  ...hc3i,
  service: clusterService((o) => new Wrong(o)),
});
const withFederation = (Wrong: typeof Federation): VProtocol =>
  withScheduler(
    class extends Clusters {
      protected override newFederation(...of: ConstructorParameters<typeof Federation>): Federation {
        return new Wrong(...of);
      }
    },
  );

// ---- messages between clusters ----

/** 30, the paper's rule: what was acknowledged with a greater SN than that of the CLC is sent again. */
class SendsGreaterAgain extends Intake {
  #sn = 1;
  readonly #acknowledged = new Map<LoggedByIntake, number>();
  override restore(...of: Parameters<Intake['restore']>): ReturnType<Intake['restore']> {
    // What forced the CLC was acknowledged with its number: it counts as part of it.
    const [ddv, log, held] = of;
    return super.restore(ddv, log, (m) => held(m) || (m.interval > 0 && m.interval === ddv[m.from]));
  }
  override committed(ddv: readonly number[]): ReturnType<Intake['committed']> {
    this.#sn++;
    const effects = super.committed(ddv);
    for (const m of this.log) if (m.pushed && !this.#acknowledged.has(m)) this.#acknowledged.set(m, this.#sn);
    return effects;
  }
}
/** 31, G9: a message is delivered, and its CLC follows. */
class DeliversFirst extends Intake {
  protected override mayPush(): boolean {
    return true;
  }
}
/** 33, G11: what a cluster that goes back had sent stays in the logs of others, and is taken for sent. */
class KeepsUndone extends Links {
  protected override newIntake(ddv: readonly number[]): Intake {
    return new (class extends Intake {
      protected override undone(): boolean {
        return false;
      }
    })(ddv);
  }
  protected override dead(): boolean {
    return false;
  }
}
/** 39, S1: a message from behind its sender's cut is not held, and gets the number of the CLC before. */
class StampsEarly extends Stamps {
  protected override waits(): boolean {
    return false;
  }
}

// ---- the scheduler of the clusters ----

/** 32, N1: of several intervals that are asked for, the first one counts. */
class TakesTheFirst extends Federation {
  readonly #first = new Set<number>();
  protected override merged(wanted: number, interval: number): number {
    if (this.#first.has(wanted)) return wanted;
    this.#first.add(wanted);
    return interval;
  }
}
/** 34, N5: a cluster that went back uses its numbers again. */
class UsesNumbersAgain extends Federation {
  protected override alias(_next: number, to: number): number {
    return to;
  }
}
/** 35: the newest CLC of a failed cluster is taken for sound. */
class KeepsOne extends Federation {
  protected override garbage(): readonly number[] {
    return garbageLine(this.stored, 1);
  }
}

/** 36: a cluster goes back to the last CLC that depends on what is undone, not to the first. */
function toTheLast(stored: StoredCheckpoints, start: RecoveryLine): RecoveryLine {
  const line = new Map(start);
  const work = [...start.keys()];
  for (let i = work.pop(); i !== undefined; i = work.pop()) {
    const { sn } = stored[i]![line.get(i)!]!;
    for (const [j, own] of stored.entries()) {
      const last = j === i ? -1 : own.findLastIndex(({ ddv }) => ddv[i!]! >= sn);
      if (last < 0 || last >= (line.get(j) ?? Infinity)) continue;
      line.set(j, last);
      work.push(j);
    }
  }
  return line;
}
/** 37: only clusters that have failed take others back. */
function withoutCascade(stored: StoredCheckpoints, start: RecoveryLine): RecoveryLine {
  const line = new Map(start);
  for (const [i, index] of start)
    for (const [j, own] of stored.entries()) {
      const first = j === i ? -1 : own.findIndex(({ ddv }) => ddv[i]! >= stored[i]![index]!.sn);
      if (first >= 0 && first < (line.get(j) ?? Infinity)) line.set(j, first);
    }
  return line;
}
const withLine = (wrong: typeof toTheLast): VProtocol =>
  withFederation(
    class extends Federation {
      protected override line(start: RecoveryLine): RecoveryLine {
        return wrong(this.stored, start);
      }
    },
  );
/** 38, N4: of several clusters that fail at once, only the first is one. */
class ForgetsTheSecond extends Federation {
  protected override starting(failed: ReadonlySet<number>): Iterable<number> {
    return [...failed].slice(0, 1);
  }
}
/** 41, G12: logs are trimmed to what the newest CLC of their cluster has. */
class TrimsToTheNewest extends Federation {
  override step(...of: Parameters<Federation['step']>): ReturnType<Federation['step']> {
    return super.step(...of).map((e) => {
      if (e.type !== 'stable') return e;
      return { ...e, records: e.records.map((r) => ({ ...r, cuts: this.stored[r.cluster]!.at(-1)!.cuts })) };
    });
  }
}
/** S2: a CLC counts although what its cluster has sent to others is not in their logs. */
class AwaitsNothingSent extends Clusters {
  protected override durable(...[tasks, w]: Parameters<Clusters['durable']>): boolean {
    return w.mark !== undefined && tasks.every((t) => w.recorded.has(t.task));
  }
}
/** N3: a line is drawn while a CLC is being committed. */
class DoesNotWaitForCommits extends Federation {
  protected override mustWait(): boolean {
    return false;
  }
}

export const CLUSTERS: Partial<Record<Rule, () => VProtocol>> = {
  'resent-if-greater': () => withIntake(SendsGreaterAgain),
  'delivered-before-its-clc': () => withIntake(DeliversFirst),
  'merge-takes-the-first': () => withFederation(TakesTheFirst),
  'undone-accepted': () => withLinks(KeepsUndone),
  'clc-number-reused': () => withFederation(UsesNumbersAgain),
  'garbage-depth-one': () => withFederation(KeepsOne),
  'back-to-the-last': () => withLine(toTheLast),
  'alerts-not-cascaded': () => withLine(withoutCascade),
  'second-cluster-forgotten': () => withFederation(ForgetsTheSecond),
  'stamped-before-the-commit': () =>
    withLinks(
      class extends Links {
        protected override newStamps(cluster: number): Stamps {
          return new StampsEarly(cluster, 1);
        }
      },
    ),
  'cluster-requests-at-once': () => ({
    ...hc3i,
    log: { ...hc3i.log, shows: (w, n, mode) => mode === WorldMode.REQUEST || n <= w.stable },
  }),
  'log-trimmed-by-newest': () => withFederation(TrimsToTheNewest),
  'sent-not-awaited': () => withScheduler(AwaitsNothingSent),
  'line-during-a-commit': () => withFederation(DoesNotWaitForCommits),
};
