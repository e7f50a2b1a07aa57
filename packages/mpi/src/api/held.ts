/**
 * How the objects of the API hold the rank's layer: so that a program, which has these objects, does not reach it.
 * Behind the layer lie the device and the memory that the rank shares with its comm worker.
 */
import type { Context } from './context.ts';

let read: (o: Held) => Context;

export class Held {
  readonly #context: Context;
  constructor(context: Context) {
    this.#context = context;
  }
  static {
    read = (o) => o.#context;
  }
}

/** @throws TypeError for an object that a program made up */
export const contextOf = (o: Held): Context => read(o);
