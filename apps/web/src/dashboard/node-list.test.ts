import type { NodeView } from '@mayfly/wire';
import { expect, it } from 'vitest';
import { lossRate, lossText, sorted } from './node-list.ts';

const node = (name: string, more: Partial<NodeView>): NodeView => ({
  id: name as NodeView['id'],
  name,
  engine: 'x',
  slots: 1,
  busy: 0,
  state: 'here',
  since: 0,
  lastSeen: 0,
  ...more,
});
const HOUR = 3_600_000;

it('a rate of losses counts the hours present, and waits until there are enough of them', () => {
  expect(lossRate(node('a', { faults: 3, presentMs: 2 * HOUR }))).toBe(1.5);
  expect(lossText(node('a', { faults: 3, presentMs: 2 * HOUR }))).toBe('3 · 1.5/h');
  expect(lossText(node('a', { faults: 1, presentMs: 60_000 }))).toBe('1');
  expect(lossText(node('a', { presentMs: HOUR }))).toBe('none');
  expect(lossRate(node('a', { faults: 1 }))).toBeUndefined();
});

it('nodes are sorted either way, what is not known comes last', () => {
  const nodes = [node('B', { speed: 100 }), node('a', {}), node('c', { speed: 300 })];
  expect(sorted(nodes, 'name', false).map((n) => n.name)).toEqual(['a', 'B', 'c']);
  expect(sorted(nodes, 'speed', false).map((n) => n.name)).toEqual(['B', 'c', 'a']);
  expect(sorted(nodes, 'speed', true).map((n) => n.name)).toEqual(['c', 'B', 'a']);
});
