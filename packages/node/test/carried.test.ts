/** What a rank begins with alone, after its team was dissolved (T9): the section of its image, and in which order. */
import { MalformedValue, encodeValue } from '@mayfly/mpi';
import { taskId, type TaskId } from '@mayfly/wire';
import { expect, it } from 'vitest';
import { Carried } from '../src/rank/carried.ts';
import { channelsSection } from '../src/rank/channel-state.ts';
import type { DownFrames, Incoming } from '../src/rank/down-frames.ts';
import { Sources } from '../src/rank/sources.ts';
import type { LocalMessage } from '../src/rank/teammates.ts';

const [A, B] = [taskId(0), taskId(1)];
const message = (src: TaskId, channel: number, number: number, body?: Uint8Array): LocalMessage => ({
  number,
  src,
  channel,
  mode: 0,
  context: 0,
  tag: channel,
  word: 0,
  size: body?.length ?? 5,
  body,
});
const short = message(A, 4, -1, Uint8Array.of(1, 2));
const long = message(A, 5, -2);
const other = message(B, 9, -3, Uint8Array.of(3));

const sectionOf = ({ parts }: ReturnType<typeof channelsSection>): Uint8Array =>
  Uint8Array.from(parts.flatMap((p) => [...p]));
const carried = (): Carried =>
  new Carried(
    sectionOf(
      channelsSection({
        channels: new Map([
          [A, [short, long]],
          [B, [other]],
        ]),
        bodies: new Map([
          [-2, Uint8Array.of(5, 4, 3, 2, 1)],
          // Consumed before the image, and not looked for.
          [-7, Uint8Array.of(7)],
        ]),
      }),
    ),
  );

it('comes before everything that the server has delivered', () => {
  const arrived = [{ header: {}, body: undefined }] as unknown as Incoming[];
  const frames = { next: () => arrived.shift(), empty: false } as unknown as DownFrames;
  const sources = new Sources(frames, () => ({ ...other, number: 17 }), undefined, undefined);
  sources.carried = carried();
  expect(sources.nothing()).toBe(false);
  expect([1, 2, 3, 4].map(() => sources.next()?.number)).toEqual([-1, -2, -3, 17]);
});

it('a rank with something carried over does not wait', () => {
  const frames = { next: () => undefined, empty: true } as unknown as DownFrames;
  const sources = new Sources(frames, () => other, undefined, undefined);
  expect(sources.nothing()).toBe(true);
  sources.carried = carried();
  expect(sources.nothing()).toBe(false);
});

it('long bodies are pulled once, also of what was consumed before', () => {
  const c = carried();
  const into = new Uint8Array(5);
  c.pull(-2, into);
  expect([...into]).toEqual([5, 4, 3, 2, 1]);
  const one = new Uint8Array(1);
  c.pull(-7, one);
  expect([...one]).toEqual([7]);
  expect(() => c.pull(-7, one)).toThrow('no message -7 of 1 bytes');
});

it('what is left goes into the next image', () => {
  const c = carried();
  c.take();
  c.pull(-7, new Uint8Array(1));
  const again = new Carried(sectionOf(c.section!));
  expect(again.take()).toMatchObject({ src: A, number: -2 });
  again.pull(-2, new Uint8Array(5));
  expect(again.take()).toMatchObject({ src: B, number: -3, body: Uint8Array.of(3) });
  expect(again.take()).toBeUndefined();
  expect(again.section).toBeUndefined();
});

it('a section of another format is refused', () => {
  expect(() => new Carried(encodeValue({ format: 2 }, 'channel state'))).toThrow(MalformedValue);
});
