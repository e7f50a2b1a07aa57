import type { JobView, NodeView } from '@mayfly/wire';
import { describe, expect, it } from 'vitest';
import { computeHere, lackingFor } from './missing-slots.ts';

const node = (slots: number, busy: number, room?: string, runs?: NodeView['runs']) =>
  ({ state: 'here', slots, busy, ...(room ? { room } : {}), ...(runs ? { runs } : {}) }) as NodeView;
const job = (j: Partial<JobView>) =>
  ({ state: 'waiting', size: 4, tasks: [], program: { language: 'typescript' }, ...j }) as JobView;

describe('the slots that a job lacks', () => {
  it('are all its ranks without a free slot, in its own room', () => {
    expect([
      lackingFor(job({}), []),
      lackingFor(job({}), [node(3, 2)]),
      lackingFor(job({}), [node(8, 0)]),
      lackingFor(job({ room: 'ABCDEF' }), [node(8, 0), node(1, 0, 'ABCDEF')]),
    ]).toEqual([4, 3, 0, 3]);
  });
  it('are not those of nodes that do not run its program', () => {
    const nodes = [node(3, 0, undefined, ['wasm']), node(1, 0, undefined, ['wasm', 'typescript'])];
    const c = { program: { language: 'c' } } as JobView;
    expect([lackingFor(job({}), nodes), lackingFor(job(c), nodes)]).toEqual([3, 0]);
  });
  it('of a running job are those of the ranks that lost theirs', () => {
    const tasks = [{ state: 'running' }, { state: 'unassigned' }, { state: 'unassigned' }] as JobView['tasks'];
    expect(lackingFor(job({ state: 'running', tasks }), [node(2, 1)])).toBe(1);
  });
});

describe('a tab that computes here', () => {
  it('brings what is lacking, as far as a machine can take it, to the room', () => {
    expect(computeHere(3, undefined, 2)).toEqual({
      href: '/volunteer?start&slots=3',
      text: 'Compute in a new tab (3 slots)',
    });
    expect(computeHere(64, 'ABCDEF', 2).href).toBe('/volunteer?start&slots=4&room=ABCDEF');
    expect(computeHere(64, '', 16).href).toBe('/volunteer?start&slots=16');
    expect(computeHere(0, undefined, 8)).toEqual({ href: '/volunteer?start', text: 'Compute in a new tab' });
  });
});
