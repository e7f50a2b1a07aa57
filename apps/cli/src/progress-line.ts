/** One line on a terminal that tells how a job is doing; what else is written goes above it. */
import type { JobView } from '@mayfly/wire';

const CLEAR = '\r\x1b[2K';

export class ProgressLine {
  readonly #stream: NodeJS.WriteStream | undefined;
  #text = '';
  #shown = false;

  /** @param stream a terminal, or undefined for no line at all */
  constructor(stream: NodeJS.WriteStream | undefined) {
    this.#stream = stream;
  }

  set(text: string): void {
    this.#text = text;
    this.#draw();
  }

  /** Writes something to one of the process's streams without mixing it with the line. */
  write(to: NodeJS.WriteStream, bytes: Uint8Array | string): void {
    if (bytes.length === 0) return;
    const after = typeof bytes === 'string' ? bytes.endsWith('\n') : bytes.at(-1) === 10;
    this.#hide();
    to.write(bytes);
    // Behind an unfinished line (a prompt) there is no room for ours.
    if (after) this.#draw();
  }

  end(): void {
    this.#hide();
    this.#text = '';
  }

  /** Not all of what was set last is shown. */
  get cut(): boolean {
    return this.#stream === undefined || this.#text.length > this.#width;
  }

  get #width(): number {
    return Math.max(20, (this.#stream?.columns ?? 80) - 1);
  }

  #hide(): void {
    if (this.#shown) this.#stream?.write(CLEAR);
    this.#shown = false;
  }

  #draw(): void {
    if (!this.#stream || this.#text === '') return;
    const width = this.#width;
    const text = this.#text.length > width ? `${this.#text.slice(0, width - 1)}…` : this.#text;
    this.#stream.write(`${CLEAR}\x1b[2m${text}\x1b[0m`);
    this.#shown = true;
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
    ...(recovering > 0 ? [`${recovering} recovering`] : []),
    ...(images > 0 ? [`${images} images`] : []),
    ...(recovered > 0 ? [`${recovered} recovered`] : []),
    `${seconds.toFixed(0)} s`,
  ].join(' · ');
}
