/**
 * Commits of a registry on their way: those that come while others are being made durable share the next batch, in the
 * order of their calls. Both registries have one; they differ in how they take a batch.
 *
 * Owns: the commits that wait.
 */
import { MayflyError } from '@mayfly/wire';
import type { Change } from './embedded/registry-format.ts';
import type * as port from './ports/index.ts';
import { sameValue, valueText } from './registry-values.ts';

const BATCH = 1000;

export interface Pending {
  readonly changes: readonly Change[];
  readonly expect: readonly Change[];
  readonly resolve: () => void;
  readonly reject: (error: MayflyError) => void;
}

export interface TakesCommits {
  /** @throws MayflyError for a key that no record can have, or when the registry is closed */
  check(key: string): void;
  /** Makes a batch durable, shows it and settles each of it. @returns why not: then nothing was changed */
  take(batch: readonly Pending[]): Promise<MayflyError | undefined>;
  /** After this error no part of the batch needs to be tried alone. */
  stops(error: MayflyError): boolean;
}

export class Commits {
  readonly #by: TakesCommits;
  #queue: Pending[] = [];
  #working: Promise<void> | undefined;

  constructor(by: TakesCommits) {
    this.#by = by;
  }

  async add(changes: readonly port.Change[], expect: readonly port.Expectation[]): Promise<void> {
    const one = { changes: this.#texts(changes), expect: this.#texts(expect) };
    this.#by.check('');
    if (one.changes.length === 0 && one.expect.length === 0) return;
    await new Promise<void>((resolve, reject) => {
      this.#queue.push({ ...one, resolve, reject });
      this.#working ??= this.#work();
    });
  }

  /** Nothing waits any more. */
  async settled(): Promise<void> {
    while (this.#working) await this.#working;
  }

  #texts(list: readonly port.Change[]): Change[] {
    return list.map(([key, value]) => {
      this.#by.check(key);
      if (key === '') throw new MayflyError('BAD_REQUEST', 'an empty key');
      return [key, valueText(key, value)];
    });
  }

  async #work(): Promise<void> {
    // Those that are asked for in this step of the event loop go along.
    await Promise.resolve();
    while (this.#queue.length > 0) {
      const batch = this.#queue.splice(0, BATCH);
      const error = await this.#by.take(batch);
      if (error === undefined) continue;
      // What refuses a large batch may take a small one, and one bad commit does not take the others along.
      for (const one of batch) {
        const still = batch.length === 1 || this.#by.stops(error) ? error : await this.#by.take([one]);
        if (still !== undefined) one.reject(still);
      }
    }
    // Here and not when the promise settles: a commit that comes in between would find nobody.
    this.#working = undefined;
  }
}

/** What becomes of a batch. */
export interface Judged {
  /** Those that hold, in order. */
  readonly held: readonly Pending[];
  readonly refused: ReadonlyMap<Pending, MayflyError>;
  /** What the keys that they change hold behind them. */
  readonly left: ReadonlyMap<string, string | undefined>;
}

/** Expectations are compared with what is there, and with what the commits before them leave. */
export function judge(batch: readonly Pending[], there: (key: string) => string | undefined): Judged {
  const refused = new Map<Pending, MayflyError>();
  const left = new Map<string, string | undefined>();
  const held = batch.filter((p) => {
    const wrong = p.expect.find(([key, text]) => !sameValue(text, left.has(key) ? left.get(key) : there(key)));
    if (wrong) {
      const message = `the record ${wrong[0]} of the registry is not as expected; nothing was changed`;
      refused.set(p, new MayflyError('CONFLICT', message, { key: wrong[0] }));
      return false;
    }
    for (const [key, text] of p.changes) left.set(key, text);
    return true;
  });
  return { held, refused, left };
}
