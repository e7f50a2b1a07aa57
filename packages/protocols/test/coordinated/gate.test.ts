/**
 * The gate in small systems, every interleaving: no orphan and no lost message, and each of its rules is needed.
 * MAYFLY_GATE=whole visits larger systems, too (some minutes), and MAYFLY_GATE=broken also the largest (half an hour):
 * MAYFLY_GATE=whole npx vitest run packages/protocols/test/coordinated/gate.test.ts
 */
import { expect, test } from 'vitest';
import { FROZEN_BYTES, Freeze } from '../../src/coordinated/freeze.ts';
import { Gate } from '../../src/coordinated/gate.ts';
import { explore, type Space } from './gate-space.ts';

const small: Space = { tasks: 2, messages: 2, breaks: 1, pulls: false, gate: Gate };

const freeze = (): Freeze<never> => new Freeze();

const whole: [string, Partial<Space>][] = [
  ['three messages between three tasks', { tasks: 3, messages: 3, breaks: 0 }],
  ['two messages between three tasks, a connection breaks', { tasks: 3 }],
  ['two messages between three tasks that are pulled', { tasks: 3, pulls: true, breaks: 0 }],
  ['word of a wave comes late, three messages between three tasks', { late: true, tasks: 3, messages: 3, breaks: 0 }],
  ['pcl, three messages between three tasks', { tasks: 3, messages: 3, breaks: 0, pcl: freeze }],
];

/** Millions of states, which need 8 GB. */
const broken: [string, Partial<Space>][] = [
  ['three messages between three tasks, a connection breaks', { tasks: 3, messages: 3 }],
  ['pcl, three messages between three tasks, a connection breaks', { tasks: 3, messages: 3, pcl: freeze }],
];

declare const process: { env: Record<string, string | undefined> };

test.each<[string, Partial<Space>]>([
  ['three messages between two tasks, a connection breaks', { messages: 3 }],
  ['bodies that stay until they are pulled', { pulls: true, breaks: 0 }],
  ['three tasks', { tasks: 3, breaks: 0 }],
  ['a wave that is abandoned', { abandons: true }],
  ['word of a wave comes late', { late: true, tasks: 3, breaks: 0 }],
  ['word of a wave comes late, a connection breaks', { late: true, messages: 3 }],
  ['word of a wave that is abandoned comes late', { late: true, messages: 3, abandons: true }],
  ['pcl, word of a wave comes late', { late: true, pcl: freeze }],
  ['pcl', { pcl: freeze }],
  ['pcl, three tasks', { pcl: freeze, tasks: 3, messages: 1 }],
  ['pcl, a wave that is abandoned', { pcl: freeze, abandons: true, breaks: 0 }],
  ...(process.env['MAYFLY_GATE'] ? whole : []),
  ...(process.env['MAYFLY_GATE'] === 'broken' ? broken : []),
])('the cut is consistent and no message is lost: %s', (_what, space) => {
  const { states, wrong } = explore({ ...small, ...space });
  expect(wrong).toBeUndefined();
  expect(states).toBeGreaterThan(1000);
});

type Rule = 'comesEarly' | 'early' | 'holds' | 'records' | 'bodies' | 'complete' | 'flushed' | 'line';
/** A gate that follows another rule. */
const gate = (rule: Rule, undone: (this: Gate, ...args: never[]) => unknown): Partial<Space> => {
  class Planted extends Gate {}
  Object.defineProperty(Planted.prototype, rule, { value: undone });
  return { gate: Planted };
};

test('Z3: what waits for an image is bounded, and counted afresh in the next wave', () => {
  const f = new Freeze<string>();
  expect(f.holds('before the mark', FROZEN_BYTES)).toBe(false);
  f.mark(1);
  expect([f.wave, f.holds('a', FROZEN_BYTES), f.full]).toEqual([1, true, false]);
  expect([f.holds('b', 1), f.full]).toEqual([true, true]);
  expect([f.thaw(), f.wave, f.full]).toEqual([['a', 'b'], 0, false]);
  f.mark(2);
  expect([f.holds('c', 1), f.full, f.thaw()]).toEqual([true, false, ['c']]);
});

/** Z2 undone. */
class Forgetful extends Freeze<never> {
  override thaw(): never[] {
    super.thaw();
    return [];
  }
}

test.each<[string, RegExp, Partial<Space>]>([
  ['G1: pushes messages behind a cut', /^Q[12]/, gate('holds', () => false)],
  ['G2: records nothing', /^Q2/, gate('records', () => false)],
  ['G2: records no held bodies', /^Q2.*bodies/, { ...gate('bodies', () => []), pulls: true }],
  [
    'G3: does not wait for messages that are under way',
    /^Q2/,
    gate('complete', function () {
      return this.state.cuts.every((cut) => cut !== undefined && cut !== null);
    }),
  ],
  ['G4: records messages after the cut', /^Q2/, { ...gate('records', () => true), tasks: 3, messages: 1, breaks: 0 }],
  ['G5: has no ear for a wave that it does not know', /^Q11/, { ...gate('comesEarly', () => false), late: true }],
  ['G5: pushes messages behind an early cut', /^Q[12]/, { ...gate('early', () => false), late: true }],
  [
    'takes what has come with CUT for the cut',
    /^Q[12]/,
    gate('line', function (task: number) {
      return [...this.state.seen[task + 2]!];
    }),
  ],
  ['hears CUT behind the messages of a new connection', /^Q[12]/, { cutAfterData: true }],
  ['G6: lets tasks take images before everybody has marked', /^Q10/, { ...gate('flushed', () => true), pcl: freeze }],
  [
    'G6: receives what was sent after a mark',
    /^Q10/,
    {
      ...gate('holds', function (src: number, dst: number, channel: number) {
        const cut = this.state.cuts[src + 2];
        return !this.state.doors[dst]!.cut && !!cut && channel > (cut[dst] ?? 0);
      }),
      pcl: freeze,
    },
  ],
  ['Z2: loses what was frozen in a wave that is abandoned', /^Q11/, { pcl: () => new Forgetful(), abandons: true }],
  ['hears of consumption before CUT', /^Q2/, { creditFirst: true }],
])('a gate that %s is found', (_what, found, space) => {
  expect(explore({ ...small, ...space }).wrong).toMatch(found);
});
