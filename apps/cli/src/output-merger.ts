/**
 * Joins the output of many ranks into one stream: whole lines where possible, in the order in which they came. A line
 * that stays open (a prompt) is passed on by `flush`, which the caller runs now and then.
 *
 * Pure: bytes in, bytes out.
 */
import { TerminalText } from './terminal.ts';

const NEWLINE = 10;

export class OutputMerger {
  readonly #label: ((task: number) => string) | undefined;
  /** Per task: what takes from its text what is not for a terminal. undefined: all of it goes elsewhere. */
  readonly #plain: Map<number, TerminalText> | undefined;
  /** Per task: bytes of a line that has not ended. */
  readonly #open = new Map<number, Uint8Array>();
  /** Task whose open line stands at the end of what was passed on, and was flushed unfinished. */
  #unfinished: number | undefined;
  readonly #encoder = new TextEncoder();

  /**
   * @param label what stands before each line of a task (mpiexec -l); undefined: nothing
   * @param terminal where the output goes (terminal.ts T3)
   */
  constructor(label?: (task: number) => string, terminal = false) {
    this.#label = label;
    this.#plain = terminal ? new Map() : undefined;
  }

  /** Takes bytes of a task; returns what can be written now. */
  take(task: number, given: Uint8Array): Uint8Array {
    const bytes = this.#shown(task, given);
    const end = bytes.lastIndexOf(NEWLINE) + 1;
    const out: Uint8Array[] = [];
    if (end > 0) {
      const held = this.#open.get(task);
      this.#open.delete(task);
      this.#pass(task, held ? joined([held, bytes.subarray(0, end)]) : bytes.subarray(0, end), out);
    }
    if (end < bytes.length) {
      const held = this.#open.get(task);
      const rest = bytes.slice(end);
      this.#open.set(task, held ? joined([held, rest]) : rest);
    }
    return joined(out);
  }

  #shown(task: number, bytes: Uint8Array): Uint8Array {
    if (!this.#plain) return bytes;
    let text = this.#plain.get(task);
    if (!text) this.#plain.set(task, (text = new TerminalText()));
    return text.take(bytes);
  }

  /** Gives out lines that are still open: for prompts, and at the end. */
  flush(): Uint8Array {
    const out: Uint8Array[] = [];
    for (const [task, bytes] of this.#open) this.#pass(task, bytes, out);
    this.#open.clear();
    return joined(out);
  }

  /** `bytes` ends with a newline, unless it comes from flush. */
  #pass(task: number, bytes: Uint8Array, out: Uint8Array[]): void {
    const continues = this.#unfinished === task;
    if (this.#unfinished !== undefined && !continues) out.push(Uint8Array.of(NEWLINE));
    if (!this.#label) out.push(bytes);
    else {
      const label = this.#encoder.encode(this.#label(task));
      let at = 0;
      while (at < bytes.length) {
        const end = bytes.indexOf(NEWLINE, at) + 1 || bytes.length;
        if (at > 0 || !continues) out.push(label);
        out.push(bytes.subarray(at, end));
        at = end;
      }
    }
    this.#unfinished = bytes.at(-1) === NEWLINE ? undefined : task;
  }
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  if (parts.length === 1) return parts[0]!;
  const out = new Uint8Array(parts.reduce((n, p) => n + p.length, 0));
  let o = 0;
  for (const p of parts) {
    out.set(p, o);
    o += p.length;
  }
  return out;
}
