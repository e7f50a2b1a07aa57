/** The groups of a job at the server (job-groups.ts). */
import { expect, it } from 'vitest';
import { JobGroups, type GroupOrder, type PlacedTask } from '../../src/parity/index.ts';

const at = (...nodes: (string | undefined)[]): PlacedTask<string>[] =>
  nodes.map((node, task) => ({ task, incarnation: 0, node, active: true }));
const begun = (orders: readonly GroupOrder<string>[]): string[] =>
  orders.map((o) => `${o.kind} ${o.kind === 'member' ? o.task : ''}@${o.node}`);
/** All holders have applied an image of every member. */
function applied(groups: JobGroups<string>): void {
  for (const g of groups.groups)
    for (const [holder, node] of g.holders.entries())
      for (const member of g.members.keys())
        groups.relay(node, { group: g.id, member, holder, kind: 'applied', version: 1 });
}

it('Z1: no node is twice in a group, and tasks of one node are in different ones', () => {
  const groups = new JobGroups<string>('j', 1, 8);
  groups.observe(at('a', 'a', 'b', 'c', 'd', 'b'), ['a', 'b', 'c', 'd']);
  expect(groups.groups.flatMap((g) => g.members.map((m) => m.task)).sort()).toEqual([0, 1, 2, 3, 4, 5]);
  for (const g of groups.groups) {
    const nodes = [...g.members.map((m) => m.node), ...g.holders];
    expect(new Set(nodes).size).toBe(nodes.length);
  }
});

it('holders hear of a group before its members do', () => {
  const groups = new JobGroups<string>('j', 1, 8);
  expect(begun(groups.observe(at('a', 'b'), ['a', 'b', 'c']))).toEqual(['holder @c', 'member 0@a', 'member 1@b']);
  expect(groups.observe(at('a', 'b'), ['a', 'b', 'c'])).toEqual([]);
});

it('without enough nodes there is no group, and one begins when they have come', () => {
  const groups = new JobGroups<string>('j', 2, 8);
  expect(groups.observe(at('a', 'b'), ['a', 'b'])).toEqual([]);
  expect(groups.protection()).toEqual({ spare: 0, protectedRanks: 0, ranks: 2 });
  groups.observe(at('a', 'b'), ['a', 'b', 'c', 'd']);
  applied(groups);
  expect(groups.protection()).toEqual({ spare: 2, protectedRanks: 2, ranks: 2 });
});

it('P3: a group protects when all holders have applied an image of all members', () => {
  const groups = new JobGroups<string>('j', 1, 8);
  groups.observe(at('a', 'b'), ['a', 'b', 'c']);
  const of = { group: groups.groups[0]!.id, holder: 0, version: 1 };
  expect(groups.protection().spare).toBe(0);
  expect(groups.relay('c', { ...of, member: 0, kind: 'prepared' })).toBe('a');
  expect(groups.relay('c', { ...of, member: 1, kind: 'applied' })).toBe('b');
  expect(groups.protection()).toEqual({ spare: 0, protectedRanks: 1, ranks: 2 });
  groups.relay('c', { ...of, member: 0, kind: 'applied' });
  expect(groups.protection().spare).toBe(1);
});

it('P1: a lost node ends nothing before all ranks have a place; then new groups begin, which protect nobody yet', () => {
  const groups = new JobGroups<string>('j', 1, 8);
  groups.observe(at('a', 'b', 'c'), ['a', 'b', 'c', 'd']);
  applied(groups);
  const [old] = groups.groups;
  expect(groups.observe(at('a', undefined, 'c'), ['a', 'c', 'd'])).toEqual([]);
  expect(groups.groups).toEqual([old]);
  expect(groups.protection().spare).toBe(0);
  const moved = at('a', 'd', 'c').map((t) => (t.task === 1 ? { ...t, incarnation: 1 } : t));
  const orders = groups.observe(moved, ['a', 'c', 'd']);
  expect(orders.filter((o) => o.kind === 'end').map((o) => o.node)).toEqual(['a', 'c', 'd']);
  expect(groups.groups.every((g) => g.id !== old!.id)).toBe(true);
  expect(groups.protection()).toMatchObject({ spare: 0, protectedRanks: 0 });
});

it('P1: a rank that begins again at the same node has another incarnation, so its group ends', () => {
  const groups = new JobGroups<string>('j', 1, 8);
  groups.observe(at('a', 'b'), ['a', 'b', 'c']);
  const [old] = groups.groups;
  groups.observe(
    at('a', 'b').map((t) => ({ ...t, incarnation: 1 })),
    ['a', 'b', 'c'],
  );
  expect(groups.groups.map((g) => g.id)).not.toContain(old!.id);
});

it('a rank that has ended stays in its group as long as its node does', () => {
  const groups = new JobGroups<string>('j', 1, 8);
  groups.observe(at('a', 'b'), ['a', 'b', 'c']);
  applied(groups);
  const ended = at('a', undefined).map((t) => (t.task === 1 ? { ...t, active: false } : t));
  expect(groups.observe(ended, ['a', 'b', 'c'])).toEqual([]);
  expect(groups.protection()).toEqual({ spare: 1, protectedRanks: 1, ranks: 1 });
  expect(begun(groups.observe(ended, ['a', 'c']))).toEqual(['end @a', 'end @c', 'holder @c', 'member 0@a']);
});

it('relays only between a member and a holder of its group, in the right direction', () => {
  const groups = new JobGroups<string>('j', 1, 8);
  groups.observe(at('a', 'b'), ['a', 'b', 'c']);
  const of = { group: groups.groups[0]!.id, member: 0, holder: 0, version: 1 };
  expect(groups.relay('a', { ...of, kind: 'change' })).toBe('c');
  expect(groups.relay('b', { ...of, kind: 'change' })).toBeUndefined();
  expect(groups.relay('c', { ...of, kind: 'apply' })).toBeUndefined();
  expect(groups.relay('a', { ...of, kind: 'applied' })).toBeUndefined();
  expect(groups.relay('a', { ...of, holder: 1, kind: 'change' })).toBeUndefined();
  expect(groups.relay('a', { ...of, group: 'other', kind: 'change' })).toBeUndefined();
});

it('P2: a group that is frozen for a recovery relays nothing, and protects nobody', () => {
  const groups = new JobGroups<string>('j', 1, 8);
  groups.observe(at('a', 'b'), ['a', 'b', 'c']);
  applied(groups);
  expect(groups.freeze(1)?.members).toHaveLength(2);
  const of = { group: groups.groups[0]!.id, member: 0, holder: 0, version: 2 };
  expect(groups.relay('a', { ...of, kind: 'apply' })).toBeUndefined();
  expect(groups.protection().spare).toBe(0);
  expect(groups.freeze(7)).toBeUndefined();
});

it('the end of the job ends all groups', () => {
  const groups = new JobGroups<string>('j', 1, 8);
  groups.observe(at('a', 'b'), ['a', 'b', 'c']);
  expect(begun(groups.end(['a', 'c']))).toEqual(['end @a', 'end @c']);
  expect(groups.groups).toEqual([]);
});
