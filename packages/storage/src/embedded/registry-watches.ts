/**
 * Watches of the registry (ports/registry.ts).
 *
 * Owns: what each reader has not taken yet.
 *
 *  A1  Pending is the net change since the last item: a key stands there once, and not at all when its reader never
 *      knew it. So it is bounded by the keys that were there and those that are.
 */
import type { Watch } from '../ports/index.ts';
import type { Change } from './registry-format.ts';

type Item = [key: string, value: unknown][];

export class Watches {
  readonly #open = new Set<RegistryWatch>();

  begin(prefix: string): Watch {
    const watch = new RegistryWatch(prefix, () => this.#open.delete(watch));
    this.#open.add(watch);
    return watch;
  }

  /** A commit takes effect. `known`: whether the key is there before the change. */
  note([key, text]: Change, known: boolean): void {
    for (const w of this.#open) if (key.startsWith(w.prefix)) w.note(key, text, known);
  }

  /** All changes of the commit are noted. */
  committed(): void {
    for (const w of this.#open) w.give();
  }

  /** The registry closes: readers get what is pending, and then the end. */
  close(): void {
    for (const w of [...this.#open]) w.end();
  }
}

class RegistryWatch implements Watch, AsyncIterableIterator<Item> {
  readonly prefix: string;
  readonly #forget: () => void;
  /** A1. `isNew`: its reader does not know the key. */
  readonly #pending = new Map<string, { text: string | undefined; isNew: boolean }>();
  readonly #waiting: ((result: IteratorResult<Item>) => void)[] = [];
  #ended = false;

  constructor(prefix: string, forget: () => void) {
    this.prefix = prefix;
    this.#forget = forget;
  }

  note(key: string, text: string | undefined, known: boolean): void {
    const isNew = this.#pending.get(key)?.isNew ?? !known;
    // Behind the keys of earlier commits.
    this.#pending.delete(key);
    if (text !== undefined || !isNew) this.#pending.set(key, { text, isNew });
  }

  give(): void {
    if (this.#waiting.length > 0 && this.#pending.size > 0) this.#waiting.shift()!({ value: this.#take() });
  }

  #take(): Item {
    const item = [...this.#pending].map(([key, { text }]): Item[number] => [
      key,
      text === undefined ? undefined : JSON.parse(text),
    ]);
    this.#pending.clear();
    return item;
  }

  next(): Promise<IteratorResult<Item>> {
    if (this.#pending.size > 0) return Promise.resolve({ value: this.#take() });
    if (this.#ended) return Promise.resolve({ value: undefined, done: true });
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  return(): Promise<IteratorResult<Item>> {
    this.close();
    return this.next();
  }

  close(): void {
    this.#pending.clear();
    this.end();
  }

  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#forget();
    for (const resolve of this.#waiting.splice(0)) resolve({ value: undefined, done: true });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
