/**
 * Messages and bytes per second of each rank, over the last few seconds, and since when it has not moved. Pure: the
 * time is an input.
 */
import type { RankSnapshot } from '@mayfly/node/page';

const WINDOW_MS = 4000;

interface Sample {
  at: number;
  messages: number;
  bytes: number;
}

export interface Rate {
  messages: number;
  bytes: number;
  /** ms since its counters or its state last changed. */
  stillMs: number;
}

export const keyOf = (r: Pick<RankSnapshot, 'job' | 'task' | 'incarnation'>): string =>
  `${r.job}.${r.task}.${r.incarnation}`;

export class Rates {
  readonly #samples = new Map<string, Sample[]>();
  readonly #moved = new Map<string, { word: string; at: number }>();

  take(ranks: readonly RankSnapshot[], now: number): ReadonlyMap<string, Rate> {
    const out = new Map<string, Rate>();
    for (const r of ranks) {
      const key = keyOf(r);
      const sample = { at: now, messages: r.messagesIn + r.messagesOut, bytes: r.bytesIn + r.bytesOut };
      const list = (this.#samples.get(key) ?? []).filter((s) => now - s.at <= WINDOW_MS);
      list.push(sample);
      this.#samples.set(key, list);
      const word = `${r.state} ${r.activity?.state} ${r.activity?.call} ${r.activity?.peer} ${sample.messages}`;
      const moved = this.#moved.get(key);
      if (moved?.word !== word) this.#moved.set(key, { word, at: now });
      const first = list[0]!;
      const seconds = (now - first.at) / 1000;
      out.set(key, {
        messages: seconds > 0.5 ? (sample.messages - first.messages) / seconds : 0,
        bytes: seconds > 0.5 ? (sample.bytes - first.bytes) / seconds : 0,
        stillMs: now - this.#moved.get(key)!.at,
      });
    }
    for (const key of this.#samples.keys())
      if (!out.has(key)) {
        this.#samples.delete(key);
        this.#moved.delete(key);
      }
    return out;
  }
}
