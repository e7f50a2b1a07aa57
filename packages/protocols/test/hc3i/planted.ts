/** Rules of `hc3i` that are undone, each in a core of its own. The numbers are those of the design's list. */
import { Federation } from '../../src/hc3i/federation.ts';
import { garbageLine } from '../../src/hc3i/garbage.ts';
import { ClusterGates } from '../../src/hc3i/gates.ts';
import { Intake, type Logged } from '../../src/hc3i/intake.ts';
import type { Line } from '../../src/hc3i/recovery-line.ts';
import type { ClcRecord } from '../../src/hc3i/records.ts';
import { Stamps, type Stamped } from '../../src/hc3i/stamps.ts';
import { toTheLast, withoutCascade } from './line-space.ts';
import { CORES, type Cores } from './model.ts';

export interface Planted {
  readonly id: string;
  readonly name: string;
  readonly cores: Cores;
  readonly found: RegExp;
}

const intake = (own: typeof Intake): Cores => ({
  ...CORES,
  Gates: class extends ClusterGates {
    protected override newIntake(ddv: readonly number[]): Intake {
      return new own(ddv);
    }
  },
});
const stamps = (own: typeof Stamps): Cores => ({
  ...CORES,
  Gates: class extends ClusterGates {
    protected override newStamps(cluster: number, sn: number): Stamps {
      return new own(cluster, sn);
    }
  },
});
const federation = (own: typeof Federation): Cores => ({ ...CORES, Federation: own });

/** The paper's rule: "acknowledged with a SN greater than the alert one (or not acknowledged at all)". */
class ResendGreater extends Intake {
  #sn = 1;
  readonly #acknowledged = new Map<Logged, number>();
  override committed(ddv: readonly number[]): ReturnType<Intake['committed']> {
    this.#sn++;
    const effects = super.committed(ddv);
    this.#acknowledge();
    return effects;
  }
  override comes(m: Stamped): ReturnType<Intake['comes']> {
    const effects = super.comes(m);
    this.#acknowledge();
    return effects;
  }
  #acknowledge(): void {
    for (const m of this.log) if (m.pushed && !this.#acknowledged.has(m)) this.#acknowledged.set(m, this.#sn);
  }
  protected override again(record: Logged, received: number): boolean {
    return super.again(record, received) && (this.#acknowledged.get(record) ?? Infinity) > this.#sn;
  }
}

const rows: [id: string, name: string, cores: Cores, found: RegExp][] = [
  ['30', 'resend-greater', intake(ResendGreater), /^Q(2|11)/],
  [
    '31',
    'force-after-delivery',
    intake(
      class extends Intake {
        protected override mayPush(): boolean {
          return true;
        }
      },
    ),
    /^Q(14|3|15)/,
  ],
  [
    '32',
    'merge-takes-the-first',
    federation(
      class extends Federation {
        readonly #first = new Set<string>();
        protected override merged(wanted: number, interval: number): number {
          const key = `${wanted}`;
          if (this.#first.has(key)) return wanted;
          this.#first.add(key);
          return interval;
        }
      },
    ),
    /^Q(14|11)/,
  ],
  [
    '33',
    'dead-accepted',
    intake(
      class extends Intake {
        protected override dead(): boolean {
          return false;
        }
      },
    ),
    /^Q|missing/,
  ],
  [
    '34',
    'number-reused',
    federation(
      class extends Federation {
        protected override alias(_next: number, to: number): number {
          return to;
        }
      },
    ),
    /^Q|missing/,
  ],
  [
    '35',
    'garbage-depth-one',
    federation(
      class extends Federation {
        protected override garbage(): readonly number[] {
          return garbageLine(this.stored, 1);
        }
      },
    ),
    /^Q(12|15)/,
  ],
  [
    '36',
    'rollback-to-last',
    federation(
      class extends Federation {
        protected override line(start: Line): Line {
          return toTheLast(this.stored, start);
        }
      },
    ),
    /^Q(3|15)/,
  ],
  [
    '37',
    'alerts-not-cascaded',
    federation(
      class extends Federation {
        protected override line(start: Line): Line {
          return withoutCascade(this.stored, start);
        }
      },
    ),
    /^Q15/,
  ],
  [
    '38',
    'second-cluster-forgotten',
    federation(
      class extends Federation {
        protected override starting(failed: ReadonlySet<number>): Iterable<number> {
          return [...failed].slice(0, 1);
        }
      },
    ),
    /^Q15/,
  ],
  [
    '39',
    'stamp-before-commit',
    stamps(
      class extends Stamps {
        protected override waits(): boolean {
          return false;
        }
      },
    ),
    /^Q(3|14|15)/,
  ],
  [
    '40',
    'service-has-no-number',
    stamps(
      class extends Stamps {
        readonly #service: boolean;
        constructor(cluster: number, sn: number) {
          super(cluster, sn);
          this.#service = cluster === 3;
        }
        override comes(m: Stamped): Stamped | undefined {
          const stamped = super.comes(m);
          return stamped && this.#service ? { ...stamped, interval: 0 } : stamped;
        }
      },
    ),
    /^Q(3|14)/,
  ],
  [
    '41',
    'log-trimmed-by-newest',
    federation(
      class extends Federation {
        override step(e: Parameters<Federation['step']>[0]): ReturnType<Federation['step']> {
          return super.step(e).map((effect) => {
            if (effect.type !== 'stable') return effect;
            const records = effect.records.map((r): ClcRecord => ({
              ...r,
              cuts: this.stored[r.cluster]!.at(-1)!.cuts,
            }));
            return { ...effect, records };
          });
        }
      },
    ),
    /^Q(2|11)|missing/,
  ],
  ['S2', 'complete-without-messages', { ...CORES, complete: () => true }, /^Q(2|11)|missing/],
  [
    'N3',
    'line-does-not-wait-for-commits',
    federation(
      class extends Federation {
        protected override mustWait(): boolean {
          return false;
        }
      },
    ),
    /^Q/,
  ],
];
export const PLANTED: readonly Planted[] = rows.map(([id, name, cores, found]) => ({ id, name, cores, found }));
