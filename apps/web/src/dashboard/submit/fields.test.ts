/** Fields of the form as a screen reader has them: the label is the name, the hint the description. */
import { createElement, type ReactElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test, vi } from 'vitest';
import { MAX_TEAM, type JobOptions } from '@mayfly/wire';
import { Clusters } from './Clusters.tsx';
import { Options } from './Options.tsx';
import { Parity } from './Parity.tsx';
import { Placement } from './Placement.tsx';
import { RoomField } from './RoomField.tsx';
import { Seconds } from './Seconds.tsx';
import { emptyDraft } from '../draft.ts';

vi.mock('@tanstack/react-router', () => ({ Link: 'a' }));

const nothing = (): void => undefined;
const text = (html: string | undefined): string | undefined => html?.replace(/<[^>]*>/g, '');

/** Name and description of each field that is no choice. */
function fields(element: ReactElement): [name: string | undefined, description: string | undefined][] {
  const html = renderToStaticMarkup(element);
  const inputs = [...html.matchAll(/<(?:input|select)[^>]*>/g)].map((m) => m[0]);
  return inputs
    .filter((i) => !/type="radio"/.test(i))
    .map((input) => {
      const [id, hint] = [/ id="([^"]*)"/, / aria-describedby="([^"]*)"/].map((p) => p.exec(input)?.[1]);
      const label = html.split(`<label for="${id}">`)[1]?.split('</label>')[0];
      return [label, text(html.split(` id="${hint}">`)[1]?.split('</span>')[0])];
    });
}

test.each<[ReactElement, string, RegExp]>([
  [createElement(Placement, { options: {}, set: nothing }), 'Ranks of a team', /^Ranks of one node/],
  [createElement(Parity, { options: {}, set: nothing }), 'Checksums of checkpoints', /^Most checkpoints stay/],
  [
    createElement(Seconds, { label: 'Grace', hint: 'how long', usual: 3, value: undefined, onChange: nothing }),
    'Grace',
    /^seconds: how long$/,
  ],
  [
    createElement(RoomField, { rooms: [], draft: { ...emptyDraft(), room: 'QX7PKM' }, change: nothing }),
    'Room',
    /^Only tabs that joined with this room’s code run it\.$/,
  ],
])('field %#', (element, name, description) => {
  expect(fields(element)).toEqual([[name, expect.stringMatching(description)]]);
});

test('the fields of clusters: into which, and the timer of each', () => {
  const options = { clusters: 2, clusterCheckpointMs: [30_000, null] };
  const element = createElement(Clusters, { options, set: nothing });
  expect(fields(element)).toEqual([
    ['Clusters', expect.stringMatching(/^A number: the ranks are split evenly/)],
    ['Checkpoint each cluster every (s)', expect.stringMatching(/^Empty: one time for all\./)],
  ]);
  expect(renderToStaticMarkup(element)).toContain('value="30,none"');
});

test.each<[string, JobOptions, Record<string, string>]>([
  [
    'pessimistic',
    {},
    {
      'Ranks of a team': 'default: all',
      'Checksums of checkpoints': 'default: 0',
      'Checkpoint every': 'default: 9',
      Grace: 'default: 4',
      'Try elsewhere after': 'default: 600',
      '… and so many longest pauses': 'default: 10',
      'Time limit': 'default: none',
      'Memory of a rank': 'default: 512',
    },
  ],
  ['vcl', { protocol: 'vcl' }, { 'Checkpoint every': 'default: automatic' }],
  ['none', { protocol: 'none' }, { 'Ranks of a team': `default: ${MAX_TEAM}`, 'Checkpoint every': 'none' }],
  ['parity', { parity: { checksums: 1 } }, { 'One of so many checkpoints goes to the server': 'default: 4' }],
  [
    'app',
    { protocol: 'app', ft: { communicators: 'rebuild', messages: 'reset' } },
    { 'Ranks of a team': '1', 'Limit for a slot': 'default: 600', 'Try elsewhere after': 'none' },
  ],
])('under %s every empty number says what counts instead', (_name, options, expected) => {
  const html = renderToStaticMarkup(
    createElement(Options, {
      draft: { ...emptyDraft(), options },
      change: nothing,
      advice: { checkpointMs: 9000, measured: true, faults: 3, rankMs: 1 },
      defaults: { graceMs: 4000, memoryBytes: 512 * 1024 * 1024 },
      mostMemory: 768 * 1024 * 1024,
      wrong: [],
    }),
  );
  const numbers = [...html.matchAll(/<input[^>]*type="number"[^>]*>/g)].map(([input]) => {
    const [id, shown] = [/ id="([^"]*)"/, / placeholder="([^"]*)"/].map((p) => p.exec(input)?.[1]);
    return [html.split(`<label for="${id}">`)[1]?.split('</label>')[0], shown];
  });
  const all = Object.fromEntries(numbers) as Record<string, string>;
  expect(Object.values(all).every((t) => /^(default: .+|none|1|0)$/.test(t))).toBe(true);
  expect(all).toMatchObject(expected);
  expect(html).toContain('MiB, at most 768 on this server');
  expect(html).toContain('max="768"');
});
