/** Fields of the form as a screen reader has them: the label is the name, the hint the description. */
import { createElement, type ReactElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test } from 'vitest';
import { Clusters } from './Clusters.tsx';
import { Parity } from './Parity.tsx';
import { Placement } from './Placement.tsx';
import { RoomField } from './RoomField.tsx';
import { Seconds } from './Seconds.tsx';
import { emptyDraft } from '../draft.ts';

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
    createElement(Seconds, { label: 'Grace', hint: 'how long', value: undefined, onChange: nothing }),
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
