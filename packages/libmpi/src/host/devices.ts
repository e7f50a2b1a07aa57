/**
 * Devices that programs expect of every machine (/dev/null, /dev/stdout …). No directory lists them, they are in no
 * result, and they have no state: an open one is a negative inode, −1 − its place in {@link DEVICES}.
 */

/** Images hold the places: new ones come last. */
const DEVICES = ['null', 'zero', 'full', 'random', 'urandom', 'stdin', 'stdout', 'stderr'] as const;
export type Device = (typeof DEVICES)[number];
const STREAMS: readonly string[] = ['stdin', 'stdout', 'stderr'];

/** The inode number of the device at an absolute path. */
export function deviceAt(path: string): number | undefined {
  const stream = /^\/(?:dev|proc\/self)\/fd\/([012])$/.exec(path);
  const name = stream ? STREAMS[Number(stream[1])]! : path.startsWith('/dev/') ? path.slice(5) : '';
  const place = (DEVICES as readonly string[]).indexOf(name);
  return place < 0 ? undefined : -1 - place;
}

/** The device of an inode number, or undefined for a file or a directory. */
export const deviceOf = (inode: number): Device | undefined => (inode < 0 ? DEVICES[-1 - inode] : undefined);

/** The standard descriptor to which a device's inode leads: 0, 1 or 2, or −1. */
export const directedBy = (inode: number): number => STREAMS.indexOf(DEVICES[-1 - inode] ?? '');
