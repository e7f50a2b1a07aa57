import type { JobView, NodeView } from '@mayfly/wire';
import { describe, expect, it } from 'vitest';
import { choose } from '../volunteer/choices.ts';
import { computeHere, fateOf, lackingFor } from './missing-slots.ts';

const node = (slots: number, busy: number, room?: string, runs?: NodeView['runs']) =>
  ({ state: 'here', slots, busy, ...(room ? { room } : {}), ...(runs ? { runs } : {}) }) as NodeView;
const job = (j: Partial<JobView>) =>
  ({ state: 'waiting', size: 4, tasks: [], program: { language: 'typescript' }, ...j }) as JobView;

describe('the slots that a job lacks', () => {
  it('are all its ranks without a free slot, in its own room', () => {
    expect(
      [
        lackingFor(job({}), []),
        lackingFor(job({}), [node(3, 2)]),
        lackingFor(job({}), [node(8, 0)]),
        lackingFor(job({ room: 'ABCDEF' }), [node(8, 0), node(1, 0, 'ABCDEF')]),
      ].map((l) => l.lacking),
    ).toEqual([4, 3, 0, 3]);
  });
  it('are not those of nodes that do not run its program', () => {
    const nodes = [node(3, 0, undefined, ['wasm']), node(1, 0, undefined, ['wasm', 'typescript'])];
    const c = { program: { language: 'c' } } as JobView;
    expect([lackingFor(job({}), nodes), lackingFor(job(c), nodes)].map((l) => l.lacking)).toEqual([3, 0]);
  });
  it('of a running job are those of the ranks that lost theirs', () => {
    const tasks = [{ state: 'running' }, { state: 'unassigned' }, { state: 'unassigned' }] as JobView['tasks'];
    expect(lackingFor(job({ state: 'running', tasks }), [node(2, 1)])).toEqual({ lacking: 1, room: '' });
  });
  it('of a job of several rooms are those of the first room that has too few', () => {
    const rooms = [{ code: 'AAAA', ranks: [0, 1] }, { ranks: [2] }, { code: 'AAAA', ranks: [3] }] as NonNullable<
      JobView['rooms']
    >;
    const nodes = [node(8, 0, 'BBBB'), node(2, 0, 'AAAA')];
    expect(lackingFor(job({ rooms }), nodes)).toEqual({ lacking: 1, room: 'AAAA' });
    expect(lackingFor(job({ rooms }), [...nodes, node(1, 0, 'AAAA')])).toEqual({ lacking: 1, room: '' });
    const tasks = ['running', 'unassigned', 'unassigned', 'running'].map((state) => ({ state })) as JobView['tasks'];
    expect(lackingFor(job({ state: 'stalled', rooms, tasks }), nodes)).toEqual({ lacking: 1, room: '' });
  });
});

describe('how a job would fare', () => {
  const places = [
    { room: 'AAAA', ranks: 2 },
    { room: '', ranks: 2 },
  ];
  it('is what the first of its rooms lacks', () => {
    expect(fateOf([node(2, 0, 'AAAA'), node(1, 0)], places, 'c')).toEqual({
      advice: { text: 'Without a room: Needs 2 slots; 1 available. The job waits for more volunteers.', tone: 'warn' },
      lacking: 1,
      enough: false,
      room: '',
    });
    expect(fateOf([node(2, 1, 'AAAA'), node(2, 0)], places, 'c')).toMatchObject({
      advice: { text: 'Room AAAA: Needs 2 slots; 1 of 2 are free. The job waits for others to finish.' },
      enough: true,
    });
    // Slots that are free, and not for this program.
    expect(fateOf([node(4, 0, '', ['wasm'])], [{ room: '', ranks: 4 }], 'typescript').advice.text).toBe(
      'Needs 4 slots; none available for TypeScript. The job waits for more volunteers.',
    );
    expect(fateOf([node(2, 0, 'AAAA'), node(2, 0)], places, 'c').advice.text).toBe(
      '4 slots free: the job starts at once.',
    );
  });
});

describe('a tab that computes here', () => {
  it('brings what is lacking, as far as a machine can take it, to the room', () => {
    expect(computeHere(3, undefined, 2, false)).toEqual({
      href: '/volunteer?start&slots=3',
      text: 'Compute in a new tab (3 slots)',
    });
    expect(computeHere(64, 'ABCDEF', 2, false).href).toBe('/volunteer?start&slots=4&room=ABCDEF');
    expect(computeHere(64, '', 16, false).href).toBe('/volunteer?start&slots=16');
    expect(computeHere(0, undefined, 8, false)).toEqual({ href: '/volunteer?start', text: 'Compute in a new tab' });
  });
  it('come from a tab that does not ease off where the server is on the same machine', () => {
    const { href } = computeHere(2, 'ABCDEF', 2, true);
    expect(href).toBe('/volunteer?start&slots=2&room=ABCDEF&ease=0');
    expect(choose(new URL(href, 'http://localhost').search, {}, 2, () => 'x').easeOff).toBe(false);
  });
});
