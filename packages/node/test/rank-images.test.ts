/** When a rank takes an image: never where its protocol takes none, and never while it repeats. */
import { PROTOCOL_NAMES, protocols, type Endpoint } from '@mayfly/protocols';
import type { ProtocolName } from '@mayfly/wire';
import { expect, it } from 'vitest';
import type { RankDevice } from '../src/rank/host-device.ts';
import type { RankRun } from '../src/messages.ts';
import { RankImages } from '../src/rank/rank-images.ts';
import type { StatusWriter } from '../src/status.ts';

function imagesOf(protocol: ProtocolName, { replaying = false, imageSpacing = 0, now = (): number => 1000 } = {}) {
  const device = {
    steps: 1,
    asked: true,
    imageUnderWay: false,
    imageSpacing,
    stopsAt: () => undefined,
    checkpointDue: (elapsed: boolean) => !device.imageUnderWay && (device.asked || elapsed),
  };
  const images = new RankImages(
    { assignment: { protocol, checkpointMs: 0 } } as unknown as RankRun,
    device as unknown as RankDevice,
    { replaying, choosesImages: protocols[protocol].recovery.together !== true } as Endpoint,
    undefined as never,
    { checkpointCalls: () => undefined } as unknown as StatusWriter,
    now,
  );
  return { device, images };
}

it.each(PROTOCOL_NAMES)('%s: an image that is asked for or due begins where ranks restart from images', (protocol) => {
  const { images } = imagesOf(protocol);
  const { restarts } = protocols[protocol].recovery;
  expect(images.taken).toBe(restarts);
  for (const due of [images.due(true), images.due(false), images.dueHere(false), images.dueHere(true)])
    expect(due).toBe(restarts);
});

it('none begins before the spacing is over that its cost asks for', () => {
  let now = 1000;
  const { device, images } = imagesOf('pessimistic', { imageSpacing: 500, now: () => now });
  device.asked = false;
  now = 1499;
  expect(images.due(false)).toBe(false);
  now = 1500;
  expect(images.due(false)).toBe(true);
});

it('none begins while the rank repeats, or while one is on its way; a script that wanted one has the next', () => {
  const repeats = imagesOf('pessimistic', { replaying: true }).images;
  expect([repeats.due(true), repeats.dueHere(false), repeats.dueHere(true)]).toEqual([false, false, false]);
  const { device, images } = imagesOf('pessimistic');
  device.imageUnderWay = true;
  expect(images.dueHere(true)).toBe(false);
  Object.assign(device, { imageUnderWay: false, asked: false });
  images.interval = Infinity;
  expect([images.dueHere(false), images.dueHere(false)]).toEqual([true, false]);
});
