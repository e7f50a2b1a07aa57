/** What a V-protocol that is not here yet can decide at a Channel Memory: epochs, and when output is shown. */
import { Kind, WorldMode } from '@mayfly/wire';
import { describe, expect, it } from 'vitest';
import { protocols, type LogPolicy } from '../../src/index.ts';
import { Bench } from './bench.ts';

const { log } = protocols.pessimistic;
const logged = (b: Bench, stream: string): number => b.logs.get(stream)!.length;

describe('an epoch', () => {
  const rollsBack: LogPolicy = { ...log, refuses: () => undefined };

  it('is the one of the attachment: frames of an earlier one end the connection, and nothing of them is logged', () => {
    const b = new Bench({}, rollsBack);
    b.attach(1, 0, { epoch: 3 });
    b.send(1, 0, 1, 1, 8, { epoch: 3 });
    expect(logged(b, 't1')).toBe(1);
    b.send(1, 0, 1, 2, 8, { epoch: 2 });
    expect(logged(b, 't1')).toBe(1);
    expect(b.effects.findLast((e) => e.type === 'close')).toMatchObject({ conn: 1, error: { code: 'BAD_FRAME' } });
  });

  it.each(['pessimistic', 'none'] as const)('other than the first one is refused by %s', (name) => {
    const b = new Bench({}, name);
    b.attach(1, 0, { epoch: 1 });
    expect(b.take(Kind.ATTACHED)).toEqual([]);
    expect(b.take(Kind.REFUSED)).toHaveLength(1);
  });
});

it('output waits until its protocol shows it, in order, and EXIT behind it', () => {
  let line = 0;
  const b = new Bench({}, { ...log, shows: (_task, channel) => channel <= line });
  const seen = (): number[] => b.effects.flatMap((e) => (e.type === 'world' ? [e.channel] : []));
  b.attach(1, 0);
  b.send(1, 0, -1, 1);
  b.send(1, 0, -1, 2);
  b.send(1, 0, -1, 3, 8, { mode: WorldMode.EXIT });
  expect(seen()).toEqual([]);
  line = 2;
  b.attach(2, 1);
  expect(seen()).toEqual([1, 2]);
  line = 3;
  b.attach(3, 2);
  expect(seen()).toEqual([1, 2, 3]);
});
