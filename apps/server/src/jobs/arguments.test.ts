import { MAX_ARGUMENT, MAX_ARGUMENTS_BYTES } from '@mayfly/wire';
import { expect, it } from 'vitest';
import { needArguments } from './arguments.ts';

it('the arguments of a program have 1 MiB together, and not a byte more', () => {
  const whole = Array.from({ length: 8 }, () => 'x'.repeat(MAX_ARGUMENT - 1));
  expect(() => needArguments([{}, { args: [] }, { args: whole }, { args: whole }])).not.toThrow();
  expect(() => needArguments([{}, { args: [...whole, ''] }])).toThrow(
    `have ${MAX_ARGUMENTS_BYTES + 1} bytes together; a job takes ${MAX_ARGUMENTS_BYTES}`,
  );
});

it('bytes count, not characters', () => {
  const words = Array.from({ length: 8 }, () => 'é'.repeat(MAX_ARGUMENT / 2));
  expect(() => needArguments([{ args: words }])).toThrow(/bytes together/);
  expect(() => needArguments([{ args: words.slice(1) }])).not.toThrow();
});
