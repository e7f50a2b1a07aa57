/** What can happen to a file, and which files of a data directory there are. */
import { chmodSync, mkdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import type { Fixture } from './fixture.ts';

const flip =
  (place: (size: number) => number) =>
  (path: string): boolean => {
    const b = readFileSync(path);
    if (b.length === 0) return false;
    b[Math.min(b.length - 1, place(b.length))]! ^= 4;
    writeFileSync(path, b);
    return true;
  };
const always =
  (f: (path: string) => void) =>
  (path: string): boolean => {
    f(path);
    return true;
  };

/** Each returns whether it changed anything. */
export const WAYS: Record<string, (path: string) => boolean> = {
  'bit at the front': flip(() => 5),
  'bit in the first third': flip((n) => Math.floor(n / 3)),
  'bit in the middle': flip((n) => n >> 1),
  'bit at the end': flip((n) => n - 2),
  empty: (p) => (statSync(p).size === 0 ? false : (truncateSync(p, 0), true)),
  half: (p) => (statSync(p).size < 2 ? false : (truncateSync(p, statSync(p).size >> 1), true)),
  'last byte gone': (p) => (statSync(p).size === 0 ? false : (truncateSync(p, statSync(p).size - 1), true)),
  absent: always((p) => rmSync(p)),
  garbage: (p) =>
    statSync(p).size === 0 ? false : (writeFileSync(p, Buffer.alloc(statSync(p).size, 'garbage\n\0\xff')), true),
  'first page zeroed': (p) => {
    const b = readFileSync(p);
    if (b.length === 0) return false;
    b.fill(0, 0, Math.min(b.length, 4096));
    writeFileSync(p, b);
    return true;
  },
  'a folder': always((p) => {
    rmSync(p);
    mkdirSync(p);
  }),
  'no permission': always((p) => chmodSync(p, 0)),
};

/** What kind of file this is; undefined: one that nothing depends on. */
export function kindOf(file: string, f: Fixture): string | undefined {
  const job = /^jobs\/([^/]+)\//.exec(file)?.[1];
  const which = job === f.ended ? 'ended' : job === f.middle ? 'running' : job === f.waiting ? 'waiting' : '';
  if (which !== '')
    return `${which}: ${file
      .slice(6 + job!.length)
      .replace(/^in\/.*/, 'in/<hash>')
      .replace(/\d+(?=\.(index|stdout|stderr|txt)$)/, '<n>')}`;
  if (file.startsWith('registry/'))
    return file === 'registry/reserve' ? undefined : `registry *.${file.split('.').at(-1)}`;
  const stream = /^log\/[^/]*%2F(\w)\d+\//.exec(file)?.[1];
  if (stream) return `log of ${{ t: 'arrivals', d: 'determinants', w: 'messages to the world' }[stream] ?? stream}`;
  if (file.startsWith('images/'))
    return file.startsWith('images/packs') ? 'images/packs/*.pack' : 'images/manifests/*.json';
  if (file.startsWith('tls/')) return file;
  return undefined;
}
