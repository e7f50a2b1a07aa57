/**
 * One line on a terminal that tells how a job is doing; what else is written goes above it. Between the two stand the
 * last lines that are not final.
 */
import { stripVTControlCharacters } from 'node:util';
import { oneLine, progressText, type JobView } from '@mayfly/wire';

/** To the left, and nothing from here on. */
const CLEAR = '\r\x1b[J';
/** Lines that are not final; more do not say more. */
const PROVISIONAL = 5;

export class ProgressLine {
  readonly #stream: NodeJS.WriteStream | undefined;
  #text = '';
  #provisional: readonly string[] = [];
  /** Rows that it takes now. */
  #rows = 0;
  /** What was written last has not ended its line (a prompt): there is no room behind it. */
  #open = false;

  /** @param stream a terminal, or undefined for no line at all */
  constructor(stream: NodeJS.WriteStream | undefined) {
    this.#stream = stream;
  }

  set(text: string): void {
    this.#text = text;
    this.#draw();
  }

  /** Lines behind what has been written that are not final: replaces all earlier ones. */
  setProvisional(lines: readonly string[]): void {
    this.#provisional = lines;
    this.#draw();
  }

  /** Writes something to one of the process's streams without mixing it with the line. */
  write(to: NodeJS.WriteStream, bytes: Uint8Array | string): void {
    if (bytes.length === 0) return;
    this.#hide();
    to.write(bytes);
    this.#open = !(typeof bytes === 'string' ? bytes.endsWith('\n') : bytes.at(-1) === 10);
    this.#draw();
  }

  end(): void {
    this.#hide();
    this.#text = '';
    this.#provisional = [];
  }

  /** Not all of what was set last is shown. */
  get cut(): boolean {
    return this.#stream === undefined || this.#text.length > this.#width;
  }

  get #width(): number {
    return Math.max(20, (this.#stream?.columns ?? 80) - 1);
  }

  #hide(): void {
    if (this.#rows > 0) this.#stream?.write(this.#rows > 1 ? `\x1b[${this.#rows - 1}A${CLEAR}` : CLEAR);
    this.#rows = 0;
  }

  #draw(): void {
    if (!this.#stream || this.#open || this.#text === '') return;
    const room = Math.min(PROVISIONAL, (this.#stream.rows ?? 24) - 2);
    const lines = room > 0 ? this.#provisional.slice(-room) : [];
    const rows = [...lines.map(stripVTControlCharacters), this.#text].map(oneLine);
    this.#hide();
    // A wide character is no reason to take a second row.
    this.#stream.write(`${CLEAR}\x1b[?7l\x1b[2m${rows.map((r) => this.#fitting(r)).join('\n')}\x1b[0m\x1b[?7h`);
    this.#rows = rows.length;
  }

  #fitting(text: string): string {
    return text.length > this.#width ? `${text.slice(0, this.#width - 1)}…` : text;
  }
}

/** 'job ab12… running, 4 of 4 ranks, 3 images, 1 recovered, 12 s' */
export function describeJob(view: JobView, seconds: number): string {
  const running = view.tasks.filter((t) => t.state === 'running' || t.state === 'done').length;
  const recovered = view.faults.filter((f) => f.recoveredAfterMs !== undefined).length;
  const recovering = view.tasks.filter((t) => t.state === 'recovering' || t.state === 'suspect').length;
  const images = view.tasks.reduce((n, t) => n + t.images, 0);
  return [
    `job ${view.id} ${view.state}`,
    view.reason ?? `${running} of ${view.size} ranks`,
    ...(view.progress ? [progressText(view.progress)] : []),
    ...(recovering > 0 ? [`${recovering} recovering`] : []),
    ...(images > 0 ? [`${images} images`] : []),
    ...(recovered > 0 ? [`${recovered} recovered`] : []),
    `${seconds.toFixed(0)} s`,
  ].join(' · ');
}
