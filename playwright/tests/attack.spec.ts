/**
 * A share of the attacks (`npm run attack` runs them all): those that stood for holes that were found, and one of each
 * kind of door, in each place.
 */
import { expect, test } from '@playwright/test';
import { Arena } from '../src/attack/arena.ts';
import type { PlaceName } from '../src/attack/places.ts';
import { attacks } from '../src/attack/programs.ts';
import { showLogOnFailure } from '../src/failure.ts';

const SHARE: Record<PlaceName, string[]> = {
  chromium: ['twelve-lines', 'function-doors', 'network', 'walk-to-shared-memory', 'import-signature'],
  headless: ['twelve-lines', 'wasi-paths', 'wasi-pointers', 'forged-section'],
  'headless-scripts': ['twelve-lines', 'pollute-object', 'left-behind'],
};

let arena: Arena;
showLogOnFailure(() => arena.server);
test.beforeAll(async () => void (arena = await Arena.start()));
test.afterAll(() => arena.close());

const attack = (name: PlaceName) => async (): Promise<void> => {
  const place = await arena.open(name);
  try {
    const all = attacks();
    for (const program of SHARE[name]) {
      const verdict = await arena.run(
        all.find((a) => a.name === program)!,
        place,
      );
      expect
        .soft({ [program]: verdict.escapes }, `${verdict.end} ${verdict.message}\n${place.log().slice(-5).join('\n')}`)
        .toEqual({ [program]: [] });
    }
  } finally {
    await place.close();
  }
};

test('hostile programs get nowhere in a tab', attack('chromium'));
test('hostile programs get nowhere on a headless node', attack('headless'));
test('hostile programs get nowhere on a headless node that takes scripts', attack('headless-scripts'));
