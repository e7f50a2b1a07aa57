/** What `npm run papers` knows of a paper. */
import type { draw } from '../chart.ts';

export interface PaperOptions {
  /** More seeds and sizes. */
  readonly long: boolean;
  readonly seed: number;
  /** Each guessed parameter halved and doubled. */
  readonly sensitivity: boolean;
  /** Virtual time only: starts no nodes. */
  readonly virtual: boolean;
  /** Draws a figure, where the user wants figures. */
  readonly draw: typeof draw;
  /** A directory with input of the user's own, for a paper that has a simulator. */
  readonly files?: string | undefined;
}

export interface Paper {
  /** As on the command line. */
  readonly name: string;
  readonly title: string;
  /** What it prints and draws, in one line. */
  readonly about: string;
  /** @returns whether every shape holds */
  readonly run: (options: PaperOptions) => Promise<boolean>;
}
