/** Messages of a task to WORLD: when they come out. */
import { WorldMode, decodeFileRequest, type Header } from '@mayfly/wire';
import { readRequest } from '../contract/member-request.ts';
import type { State, World } from './state.ts';

export function releaseWorld(s: State, w: World): void {
  const task = w.channel.src;
  if (w.exit && w.exit.lsn < w.stream.synced) {
    const { report } = w.exit;
    w.exit = undefined;
    s.out.push({ type: 'taskEnded', task, report });
  }
  for (let m = w.waiting[0]; m && m.lsn < w.stream.synced; m = w.waiting[0]) {
    const { channel, incarnation, mode, body } = m;
    if (!s.policy.shows(w, channel, mode)) return;
    w.waiting.shift();
    s.out.push({ type: 'world', task, channel, incarnation, mode, body });
  }
}

/**
 * A message to WORLD is whole. The world sees it once it is durable: the world cannot forget what it has seen, so a
 * power loss must not change it. EXIT and requests to the file service, whose senders wait for the answer, do not wait
 * for the next tick.
 */
export function emitWorld(
  s: State,
  w: World,
  { channel, incarnation, mode }: Pick<Header, 'channel' | 'incarnation' | 'mode'>,
  body: Uint8Array,
  lsn: number,
): void {
  if (s.outputDurable) {
    w.waiting.push({ lsn, channel, incarnation, mode, body });
    if (mode === WorldMode.EXIT && s.cutting) w.exit = { lsn, report: body };
    if (mode === WorldMode.EXIT || mode === WorldMode.REQUEST) s.syncWanted = true;
  } else s.out.push({ type: 'world', task: w.channel.src, channel, incarnation, mode, body });
}

/**
 * May a task say this to the world? Output may be any bytes, a result file may have any name, and an exit that cannot
 * be read is an error of the program.
 */
export function readable(mode: number, body: Uint8Array): boolean {
  switch (mode) {
    case WorldMode.STDOUT:
    case WorldMode.STDERR:
    case WorldMode.FILE:
    case WorldMode.CUT:
    case WorldMode.EXIT:
      return true;
    case WorldMode.REQUEST:
      return decodeFileRequest(body) !== undefined;
    case WorldMode.MEMBER:
      return readRequest(body) !== undefined;
    default:
      return false;
  }
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
