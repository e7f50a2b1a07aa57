/** Messages of a task to WORLD: when they come out. */
import { WorldMode } from '@mayfly/wire';
import type { State, World } from './state.ts';

export function releaseWorld(s: State, w: World): void {
  while (w.waiting.length > 0 && w.waiting[0]!.lsn < w.stream.synced) {
    const { channel, mode, body } = w.waiting.shift()!;
    s.out.push({ type: 'world', task: w.channel.src, channel, mode, body });
  }
}

/**
 * A message to WORLD is whole. The world sees it once it is durable: what the world has seen cannot be taken back, so a power loss must not
 * be able to change it. EXIT, and a request to the file service, for whose answer somebody waits, do not wait for the next tick.
 */
export function emitWorld(s: State, w: World, channel: number, mode: number, body: Uint8Array, lsn: number): void {
  if (s.logging) {
    w.waiting.push({ lsn, channel, mode, body });
    if (mode === WorldMode.EXIT || mode === WorldMode.REQUEST) s.syncWanted = true;
  } else s.out.push({ type: 'world', task: w.channel.src, channel, mode, body });
}

export function join(parts: readonly Uint8Array[], size: number): Uint8Array {
  const out = new Uint8Array(size);
  let o = 0;
  for (const b of parts) {
    out.set(b, o);
    o += b.length;
  }
  return out;
}
