import type { ParityView } from '@mayfly/wire';
import { expect, it } from 'vitest';
import { parityLine } from './parity-text.ts';

const view = (over: Partial<ParityView>): ParityView => ({
  checksums: 1,
  wholeEvery: 4,
  spare: 1,
  protectedRanks: 4,
  ranks: 4,
  images: 0,
  savedBytes: 0,
  sentBytes: 0,
  rebuilt: 0,
  fellBack: 0,
  ...over,
});

it('how many more tabs may close, and what parity has saved so far', () => {
  expect(parityLine(view({}), false)).toBe(
    'Parity: 1 more tab or node may close at once, with all its ranks, without the checkpoints at the server.',
  );
  expect(parityLine(view({ spare: 2, images: 12, savedBytes: 5_200_000, sentBytes: 1_500_000 }), false)).toMatch(
    /^Parity: 2 more tabs or nodes may close at once, with all their ranks, .*; 12 checkpoints stayed with the nodes, which saved 5\.\d MB at the server \(1\.\d MB came there\)\.$/,
  );
  expect(parityLine(view({ spare: 0, protectedRanks: 2 }), false)).toBe(
    'Parity: no tab may close yet without the checkpoints at the server (2 of 4 ranks protected).',
  );
});

it('what became of restarts, and why one went back to the server', () => {
  expect(parityLine(view({ rebuilt: 1, fellBack: 2, reason: 'two nodes are lost' }), true)).toBe(
    'Parity: 1 lost checkpoint was made again; 2 restarts took the checkpoint at the server instead ' +
      '(two nodes are lost).',
  );
  expect(parityLine(view({}), true)).toBe('');
});
