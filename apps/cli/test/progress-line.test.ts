/** The line that tells how a job is doing, on a terminal of 40 columns. */
import { expect, it } from 'vitest';
import { ProgressLine } from '../src/progress-line.ts';

/** Draws what is written as a terminal does that knows the sequences that are used. */
class Screen {
  readonly columns = 40;
  rows = 24;
  #lines = [''];
  #row = 0;
  #column = 0;

  write(data: Uint8Array | string): void {
    const text = typeof data === 'string' ? data : new TextDecoder().decode(data);
    for (const [piece, count, what] of text.matchAll(/\x1b\[\??(\d*)([A-Za-z])|[^]/g)) {
      if (what === 'A') this.#row -= Number(count || 1);
      else if (what === 'J') {
        this.#lines.length = this.#row + 1;
        this.#lines[this.#row] = this.#lines[this.#row]!.slice(0, this.#column);
      } else if (what !== undefined) continue;
      else if (piece === '\r') this.#column = 0;
      else if (piece === '\n') {
        this.#column = 0;
        this.#lines[++this.#row] ??= '';
      } else {
        const line = this.#lines[this.#row]!;
        this.#lines[this.#row] = line.slice(0, this.#column) + piece + line.slice(this.#column + 1);
        this.#column++;
      }
    }
  }

  get lines(): string[] {
    return this.#lines;
  }
}

const lineOn = (screen: Screen): [ProgressLine, NodeJS.WriteStream] => {
  const stream = screen as unknown as NodeJS.WriteStream;
  return [new ProgressLine(stream), stream];
};

it('keeps lines that are not final between the output and itself, and takes them away', () => {
  const screen = new Screen();
  const [progress, terminal] = lineOn(screen);
  progress.set('job a running');
  progress.setProvisional(['step 1', '\x1b[31mstep\x1b[0m\t2\r', 'x'.repeat(60)]);
  expect(screen.lines).toEqual(['step 1', 'step 2 ', `${'x'.repeat(38)}…`, 'job a running']);
  progress.write(terminal, 'step 1\n');
  progress.setProvisional(['step 2']);
  expect(screen.lines).toEqual(['step 1', 'step 2', 'job a running']);
  progress.setProvisional([]);
  progress.set('job a done');
  expect(screen.lines).toEqual(['step 1', 'job a done']);
  progress.setProvisional(['one', 'two', 'three']);
  progress.end();
  expect(screen.lines).toEqual(['step 1', '']);
});

it('shows the last lines only, and none in a terminal of two rows', () => {
  const screen = new Screen();
  const [progress] = lineOn(screen);
  progress.set('job');
  progress.setProvisional(['1', '2', '3', '4', '5', '6', '7']);
  expect(screen.lines).toEqual(['3', '4', '5', '6', '7', 'job']);
  screen.rows = 2;
  progress.set('job');
  expect(screen.lines).toEqual(['job']);
});

it('stays away from a prompt until its line has ended', () => {
  const screen = new Screen();
  const [progress, terminal] = lineOn(screen);
  progress.set('job');
  progress.write(terminal, 'name? ');
  progress.set('job 2');
  progress.setProvisional(['not final']);
  expect(screen.lines).toEqual(['name? ']);
  progress.write(terminal, 'Ada\n');
  expect(screen.lines).toEqual(['name? Ada', 'not final', 'job 2']);
});
