/**
 * What a job wrote, as lines. Owns, per stream of a task: how many bytes are known (`have`), the last lines, and where
 * the cursor stands in a line that has not ended.
 *
 * Invariants
 *   I1 A byte is shown at most once: what lies below `have` is dropped, however often the server repeats it.
 *   I2 A hole is never silent: bytes that never came are one line of kind 'gap'.
 *   I3 Bounded: at most `maxLines` lines per stream, `MAX_LINE` characters per line.
 *   I4 `seq` grows in the order in which lines began, over all streams: merging by it is the order of arrival here
 *      (the order between ranks is not specified by MPI).
 *   I5 A carriage return or a backspace moves the cursor, and what follows overwrites what stands there, as in a
 *      terminal: of a progress line its newest state is shown.
 */
import { Escapes, lengthOf, overwrite, part, type Run } from './escapes.ts';

export type StreamName = 'stdout' | 'stderr';

export interface OutputLine {
  seq: number;
  task: number;
  stream: StreamName;
  text: string;
  /** The same text in its styles; absent: it has none. */
  runs?: readonly Run[];
  /** False while the newline has not come yet. */
  ended: boolean;
  kind: 'text' | 'gap';
}

export interface OutputChunk {
  task: number;
  stream: StreamName;
  offset: number;
  bytes: Uint8Array;
}

const MAX_LINE = 4000;

interface Stream {
  task: number;
  stream: StreamName;
  have: number;
  decoder: TextDecoder;
  escapes: Escapes;
  /** I5. Undefined: behind the last character. */
  cursor: number | undefined;
  lines: OutputLine[];
  /** Lines that the bound has pushed out. */
  dropped: number;
}

const runsOf = (line: OutputLine): readonly Run[] => line.runs ?? [{ text: line.text, style: '' }];

export class OutputLog {
  readonly #streams = new Map<string, Stream>();
  readonly #maxLines: number;
  #seq = 0;
  version = 0;

  constructor(maxLines = 3000) {
    this.#maxLines = maxLines;
  }

  /** Takes a chunk at its offset; repeats and overlaps are harmless. True if something new came. */
  append(chunk: OutputChunk): boolean {
    const s = this.#stream(chunk.task, chunk.stream);
    const end = chunk.offset + chunk.bytes.length;
    if (end <= s.have) return false; // I1
    let fresh = chunk.bytes;
    if (chunk.offset < s.have) fresh = fresh.subarray(s.have - chunk.offset);
    else if (chunk.offset > s.have) this.#gap(s, chunk.offset - s.have); // I2
    s.have = end;
    this.#text(s, s.decoder.decode(fresh, { stream: true }));
    this.version++;
    return true;
  }

  /** Bytes known per `${task}:${stream}`: where a new watch goes on. */
  positions(): Record<string, number> {
    return Object.fromEntries([...this.#streams].map(([key, s]) => [key, s.have]));
  }

  /** Number of bytes that one task has written, as known here. */
  written(task: number, stream: StreamName): number {
    return this.#streams.get(`${task}:${stream}`)?.have ?? 0;
  }

  /** The last `limit` lines, of one task or of all, in order of arrival. */
  lines(task: number | undefined, limit = 2000): OutputLine[] {
    const chosen = [...this.#streams.values()].filter((s) => task === undefined || s.task === task);
    const all = chosen.flatMap((s) => s.lines.slice(-limit));
    if (chosen.length > 1) all.sort((a, b) => a.seq - b.seq);
    return all.slice(-limit);
  }

  /** True if lines of this task (or of any) have been pushed out of the bounded view. */
  truncated(task: number | undefined, limit = 2000): boolean {
    let lines = 0;
    for (const s of this.#streams.values()) {
      if (task !== undefined && s.task !== task) continue;
      if (s.dropped > 0) return true;
      lines += s.lines.length;
    }
    return lines > limit;
  }

  #stream(task: number, stream: StreamName): Stream {
    const key = `${task}:${stream}`;
    let s = this.#streams.get(key);
    if (!s) {
      const [decoder, escapes] = [new TextDecoder(), new Escapes()];
      s = { task, stream, have: 0, decoder, escapes, cursor: undefined, lines: [], dropped: 0 };
      this.#streams.set(key, s);
    }
    return s;
  }

  #gap(s: Stream, missing: number): void {
    s.decoder = new TextDecoder();
    s.escapes = new Escapes();
    s.cursor = undefined;
    const last = s.lines.at(-1);
    if (last) this.#replaceLast(s, { ...last, ended: true });
    const unit = missing === 1 ? 'byte' : 'bytes';
    this.#push(s, {
      text: `… ${missing.toLocaleString('en-GB')} ${unit} not shown here; the download has them …`,
      ended: true,
      kind: 'gap',
    });
  }

  #text(s: Stream, text: string): void {
    for (const piece of s.escapes.read(text)) {
      const last = s.lines.at(-1);
      const open = last && !last.ended ? last : undefined;
      switch (piece.type) {
        case 'newline':
          s.cursor = undefined;
          if (open) this.#replaceLast(s, { ...open, ended: true });
          else this.#push(s, { text: '', ended: true, kind: 'text' });
          break;
        case 'return':
          if (open) s.cursor = 0;
          break;
        case 'back':
          if (open) s.cursor = Math.max(0, (s.cursor ?? open.text.length) - 1);
          break;
        case 'erase':
          if (!open) break;
          this.#write(s, open, part(runsOf(open), 0, piece.all ? 0 : (s.cursor ?? Infinity)));
          s.cursor = undefined;
          break;
        case 'text':
          this.#put(s, open, piece.run);
      }
    }
  }

  /** I3, I5. */
  #put(s: Stream, open: OutputLine | undefined, run: Run): void {
    const before = open ? runsOf(open) : [];
    const at = s.cursor ?? lengthOf(before);
    let runs = overwrite(before, at, run);
    s.cursor = s.cursor === undefined || at + run.text.length >= lengthOf(runs) ? undefined : at + run.text.length;
    for (; lengthOf(runs) > MAX_LINE; runs = part(runs, MAX_LINE, Infinity), s.cursor = undefined) {
      this.#write(s, open, part(runs, 0, MAX_LINE), true);
      open = undefined;
    }
    this.#write(s, open, runs);
  }

  #write(s: Stream, open: OutputLine | undefined, runs: readonly Run[], ended = false): void {
    const text = runs.map((r) => r.text).join('');
    const styled = runs.some((r) => r.style !== '') ? { runs } : {};
    if (open)
      this.#replaceLast(s, { seq: open.seq, task: s.task, stream: s.stream, kind: 'text', text, ended, ...styled });
    else this.#push(s, { text, ended, kind: 'text', ...styled });
  }

  #replaceLast(s: Stream, line: OutputLine): void {
    s.lines[s.lines.length - 1] = line;
  }

  #push(s: Stream, line: Pick<OutputLine, 'text' | 'runs' | 'ended' | 'kind'>): void {
    s.lines.push({ ...line, seq: this.#seq++, task: s.task, stream: s.stream });
    if (s.lines.length > this.#maxLines * 1.25) {
      const extra = s.lines.length - this.#maxLines; // I3, in steps, so that a shift is not paid per line
      s.lines.splice(0, extra);
      s.dropped += extra;
    }
  }
}
