/**
 * What a job wrote, as lines. Owns, per stream of a task: how many bytes are known (`have`) and the last lines.
 *
 * Invariants
 *   I1 A byte is shown at most once: what lies below `have` is dropped, however often the server repeats it.
 *   I2 A hole is never silent: bytes that never came are one line of kind 'gap'.
 *   I3 Bounded: at most `maxLines` lines per stream, `MAX_LINE` characters per line.
 *   I4 `seq` grows in the order in which lines began, over all streams: merging by it is the order of arrival here
 *      (the order between ranks is not specified by MPI).
 */
export type StreamName = 'stdout' | 'stderr';

export interface OutputLine {
  seq: number;
  task: number;
  stream: StreamName;
  text: string;
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
  lines: OutputLine[];
  /** Lines that the bound has pushed out. */
  dropped: number;
}

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
    if (!s) this.#streams.set(key, (s = { task, stream, have: 0, decoder: new TextDecoder(), lines: [], dropped: 0 }));
    return s;
  }

  #gap(s: Stream, missing: number): void {
    s.decoder = new TextDecoder();
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
    if (text === '') return;
    const parts = text.split('\n');
    parts.forEach((part, i) => {
      const ended = i < parts.length - 1;
      const last = s.lines.at(-1);
      const open = last && !last.ended ? last : undefined;
      if (!ended && part === '') return; // after the last newline no line has begun yet
      const whole = (open?.text ?? '') + part.replace(/\r$/, '');
      let rest = whole;
      let first = open !== undefined;
      while (rest.length > MAX_LINE) {
        const head = rest.slice(0, MAX_LINE);
        rest = rest.slice(MAX_LINE);
        if (first) this.#replaceLast(s, { ...s.lines.at(-1)!, text: head, ended: true });
        else this.#push(s, { text: head, ended: true, kind: 'text' });
        first = false;
      }
      if (first) this.#replaceLast(s, { ...s.lines.at(-1)!, text: rest, ended });
      else this.#push(s, { text: rest, ended, kind: 'text' });
    });
  }

  #replaceLast(s: Stream, line: OutputLine): void {
    s.lines[s.lines.length - 1] = line;
  }

  #push(s: Stream, line: Pick<OutputLine, 'text' | 'ended' | 'kind'>): void {
    s.lines.push({ ...line, seq: this.#seq++, task: s.task, stream: s.stream });
    if (s.lines.length > this.#maxLines * 1.25) {
      const extra = s.lines.length - this.#maxLines; // I3, in steps, so that a shift is not paid per line
      s.lines.splice(0, extra);
      s.dropped += extra;
    }
  }
}
