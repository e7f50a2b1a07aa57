import { expect, test } from 'vitest';
import { FtOption } from '@mayfly/wire';
import {
  COMMUNICATORS,
  MESSAGES,
  asksForMessages,
  asksForSlot,
  withCommunicators,
  withMessages,
  withSlotMs,
} from './ft-modes.ts';

/** What the server accepts. */
const literals = (of: { anyOf: { const: string }[] }): string[] => of.anyOf.map((x) => x.const).sort();

test('the form offers every mode, and ULFM alone', () => {
  const { communicators, messages } = FtOption.properties;
  expect(COMMUNICATORS[0]!.mode).toBeUndefined();
  expect(COMMUNICATORS.flatMap((c) => c.mode ?? []).sort()).toEqual(literals(communicators));
  expect(MESSAGES.map((m) => m.mode).sort()).toEqual(literals(messages));
});

test('a communicator mode keeps the message mode, and ULFM has neither', () => {
  expect(withCommunicators(undefined, 'rebuild')).toEqual({ communicators: 'rebuild', messages: 'reset' });
  expect(withCommunicators({ communicators: 'rebuild', messages: 'cont' }, 'shrink')).toEqual({
    communicators: 'shrink',
    messages: 'cont',
  });
  // Of a draft, or of a job that names one mode alone.
  expect(withCommunicators({ messages: 'cont' }, 'blank')).toEqual({ communicators: 'blank', messages: 'cont' });
  expect(withCommunicators({ communicators: 'rebuild', messages: 'cont' }, undefined)).toBeUndefined();
});

test('the limit for a slot stays with rebuild, and goes elsewhere', () => {
  const ft = withSlotMs({ communicators: 'rebuild' }, 0);
  expect(ft).toEqual({ communicators: 'rebuild', messages: 'reset', slotMs: 0 });
  expect(withMessages(ft, 'cont')).toEqual({ communicators: 'rebuild', messages: 'cont', slotMs: 0 });
  expect(withCommunicators(ft, 'rebuild')).toEqual(ft);
  expect(withCommunicators(ft, 'shrink')).toEqual({ communicators: 'shrink', messages: 'reset' });
  expect(withSlotMs(ft, undefined)).toEqual({ communicators: 'rebuild', messages: 'reset' });
  expect([undefined, {}, { communicators: 'blank' } as const].map(asksForSlot)).toEqual([false, true, false]);
});

test('messages are asked for where the job goes on under FT-MPI', () => {
  expect(
    [undefined, { communicators: 'abort' } as const, {}, { messages: 'cont' } as const].map(asksForMessages),
  ).toEqual([false, false, true, true]);
});
