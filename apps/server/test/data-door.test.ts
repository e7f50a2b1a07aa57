/** What links may send while their Channel Memory recovers. */
import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { Kind, emptyHeader, encodeFrame, incarnation, jobId, taskId } from '@mayfly/wire';
import { DataDoor } from '../src/hosts/data-door.ts';
import type { DataLink } from '../src/hosts/data-link.ts';
import { LinkPlaces } from '../src/hosts/link-places.ts';
import type { Logger } from '../src/logger.ts';
import { Capabilities } from '../src/secrets.ts';

const MIB = 1 << 20;
const job = jobId('abcdefghijkl');
const capabilities = new Capabilities(randomBytes(32));

/** A link that has presented itself. */
function linkTo(door: DataDoor, task: number): { link: DataLink; closed: () => number } {
  let code = 0;
  const link = {
    address: '127.0.0.1',
    network: '127.0.0.1',
    onMessage: () => undefined,
    onClose: () => undefined,
    close: (c: number) => ((code = c), link.onClose()),
    send: () => undefined,
  } as unknown as DataLink;
  door.accept(0, link);
  const capability = capabilities.capability({ job, task: taskId(task), incarnation: incarnation(0) });
  const position = { protocol: 'pessimistic', version: 1, at: {} };
  const body = { capability, nonce: 'a-nonce-of-a-rank', position, received: 0, resume: false };
  link.onMessage(encodeFrame(emptyHeader(Kind.ATTACH), new TextEncoder().encode(JSON.stringify(body))));
  return { link, closed: () => code };
}

it('a link may send 16 MiB, all together 256 MiB; what has come is given on in order, and what has gone is free', async () => {
  let serve = (): void => undefined;
  const serving = new Promise<void>((resolve) => (serve = resolve));
  const got: number[] = [];
  const behind = {
    serving: () => serving,
    connect: (link: DataLink) => void (link.onMessage = (bytes) => void got.push(bytes.length)),
  };
  const places = new LinkPlaces({ dataSockets: 100, dataSocketsPerNetwork: 100 });
  const door = new DataDoor(() => behind, capabilities, { info: () => undefined } as unknown as Logger, places);
  const chunk = new Uint8Array(8 * MIB);

  const first = linkTo(door, 0);
  for (let i = 0; i < 3; i++) first.link.onMessage(chunk);
  expect(first.closed()).toBe(4429);

  const links = Array.from({ length: 17 }, (_, i) => linkTo(door, i));
  for (const { link } of links) for (let i = 0; i < 2; i++) link.onMessage(chunk);
  expect(links.map((l) => l.closed())).toEqual([...Array.from({ length: 16 }, () => 0), 4429]);
  links[0]!.link.onClose();
  const next = linkTo(door, 20);
  next.link.onMessage(chunk.subarray(0, 3));
  next.link.onMessage(chunk.subarray(0, 5));
  expect(next.closed()).toBe(0);

  serve();
  await serving;
  await expect.poll(() => got.length).toBe(32);
  expect(got.slice(-2)).toEqual([3, 5]);
});
