/**
 * Of the status words: from where in the program the calls were made that a rank waits in. A stack costs some 50 to 100
 * µs, more than many a wait, so it is looked at once in {@link STRIDE_MS} of waiting, which then counts as spent at
 * that place; and when a wait goes on, so that people see where a rank hangs.
 *
 * From PLACES_WORD: the place of the present wait (entry + 1; 0: not known). From PLACES_TABLE words on, PLACES
 * entries, the last for all places that came too late for one of their own: ms (f64), entry of the call, length of the
 * place, the place. Single writer; an entry is whole before its length is stored.
 */
import { ELSEWHERE, PLACE_CHARS } from '@mayfly/wire';
import { PLACES_WORD } from './ring/index.ts';

export const STRIDE_MS = 20;
const PLACES = 24;
const PLACES_TABLE = 16;
const ENTRY_WORDS = 28;
const ENTRY_CALL = 2;
const ENTRY_LENGTH = 3;
const ENTRY_TEXT = 4;

const text = new TextEncoder();
const asText = new TextDecoder();

const entryAt = (entry: number): number => PLACES_WORD + PLACES_TABLE + entry * ENTRY_WORDS;

/** The rank's end. */
export class PlaceWriter {
  private readonly ms: Float64Array;
  private readonly entries = new Map<string, number>();
  /** ms of waiting that no place has yet. */
  private owed = 0;

  constructor(private readonly words: Int32Array) {
    this.ms = new Float64Array(words.buffer, words.byteOffset + 4 * entryAt(0), (PLACES * ENTRY_WORDS) / 2);
  }

  waits(): void {
    Atomics.store(this.words, PLACES_WORD, 0);
  }

  waited(ms: number): void {
    this.owed += ms;
  }

  /** Is there enough to look? */
  get due(): boolean {
    return this.owed >= STRIDE_MS;
  }

  /** The time owed was spent in this call, made at the place that `look` returns; it is asked once per wait. */
  spend(call: number, look: () => string | undefined): void {
    let at = Atomics.load(this.words, PLACES_WORD) - 1;
    if (at < 0) {
      const place = look();
      at = place === undefined ? -1 : this.entryOf(call, place);
      Atomics.store(this.words, PLACES_WORD, at + 1);
    }
    if (at >= 0) this.ms[(at * ENTRY_WORDS) / 2]! += this.owed;
    this.owed = 0;
  }

  private entryOf(call: number, place: string): number {
    const key = `${call} ${place}`;
    const known = this.entries.get(key);
    if (known !== undefined) return known;
    const entry = Math.min(this.entries.size, PLACES - 1);
    const at = entryAt(entry);
    const bytes = text.encode(entry === PLACES - 1 ? ELSEWHERE : place).subarray(0, PLACE_CHARS);
    new Uint8Array(this.words.buffer, this.words.byteOffset + 4 * (at + ENTRY_TEXT), bytes.length).set(bytes);
    this.words[at + ENTRY_CALL] = call;
    Atomics.store(this.words, at + ENTRY_LENGTH, bytes.length);
    if (this.entries.size < PLACES) this.entries.set(key, entry);
    return entry;
  }
}

function placeAt(words: Int32Array, entry: number): string {
  const at = entryAt(entry);
  const length = Math.min(Math.max(Atomics.load(words, at + ENTRY_LENGTH), 0), PLACE_CHARS);
  return asText
    .decode(new Uint8Array(words.buffer, words.byteOffset + 4 * (at + ENTRY_TEXT), length).slice())
    .slice(0, PLACE_CHARS);
}

/** Where the present wait was begun; undefined: not known (yet). */
export function placeOfWait(words: Int32Array): string | undefined {
  const at = Atomics.load(words, PLACES_WORD) - 1;
  return at >= 0 && at < PLACES ? placeAt(words, at) || undefined : undefined;
}

/** Place, entry of the call, and ms so far. */
export function readPlaces(words: Int32Array): { call: number; place: string; ms: number }[] {
  const out: { call: number; place: string; ms: number }[] = [];
  for (let entry = 0; entry < PLACES; entry++) {
    const place = placeAt(words, entry);
    if (place === '') break;
    const ms = new Float64Array(words.buffer, words.byteOffset + 4 * entryAt(entry), 1)[0]!;
    if (Number.isFinite(ms) && ms >= 0) out.push({ call: words[entryAt(entry) + ENTRY_CALL]!, place, ms });
  }
  return out;
}
