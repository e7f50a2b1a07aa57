/** What the programs of the tests are: a function over the module that a program imports, and its input. */
import type { MayflyModule } from '../../src/index.ts';

export type Program = (m: MayflyModule, input: never) => unknown;
