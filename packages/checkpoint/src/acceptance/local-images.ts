/** What every local store must do; runs in Node and in a tab, so it asserts nothing itself. */
import { IMAGE_FORMAT, imageIdOf, incarnation, jobId, PAGE_BYTES, taskId, type Manifest } from '@mayfly/wire';
import { cutImage, packPages, type LocalImages } from '../index.ts';

export const job = jobId('abcdefghijkl');

export const noise = (n: number, seed: number): Uint8Array<ArrayBuffer> => {
  const out = new Uint8Array(n);
  for (let i = 0, x = seed | 1; i < n; i++) out[i] = (x = Math.imul(x, 1103515245) + 12345) >>> 16;
  return out;
};

async function image(
  task: number,
  serial: number,
  seeds: number[],
): Promise<{ manifest: Manifest; pages: Map<string, Uint8Array> }> {
  const cut = await cutImage(seeds.map((seed, i) => ({ name: `s${i}`, bytes: noise(PAGE_BYTES, seed) })));
  const manifest: Manifest = {
    format: IMAGE_FORMAT,
    image: imageIdOf(job, taskId(task), incarnation(0), serial),
    job,
    task: taskId(task),
    incarnation: incarnation(0),
    program: 'f'.repeat(64),
    serial,
    position: { protocol: 'pessimistic', version: 1, at: null },
    sections: cut.sections,
    pages: cut.pages,
    bytes: cut.bytes,
  };
  return { manifest, pages: cut.data };
}

export interface Seen {
  images: string[];
  /** Of the page of each of these seeds: whether it is there with its bytes, in a buffer of its own. */
  pages: Record<string, boolean>;
}

/** `open` may be called several times: as by another tab, or after a reload. */
export async function exercise(open: () => Promise<LocalImages>): Promise<Record<string, Seen>> {
  const store = await open();
  const names = new Map<number, string>();
  const seen = async (from: LocalImages): Promise<Seen> => {
    const pages: Record<string, boolean> = {};
    for (const [seed, name] of names) {
      const page = await from.page(name);
      const raw = noise(PAGE_BYTES, seed);
      pages[seed] =
        page !== undefined &&
        page.length === raw.length &&
        page.buffer.byteLength === raw.length &&
        page.every((b, i) => b === raw[i]);
    }
    return { images: (await from.list()).map((i) => i.image).sort(), pages };
  };
  const had = new Set<string>();
  const put = async (task: number, serial: number, seeds: number[]): Promise<void> => {
    const { manifest, pages } = await image(task, serial, seeds);
    seeds.forEach((seed, i) => names.set(seed, manifest.pages[i]!));
    await store.put(manifest, packPages(new Map([...pages].filter(([name]) => !had.has(name)))));
    for (const name of pages.keys()) had.add(name);
  };
  const out: Record<string, Seen> = {};
  // The page of seed 1 never changes: it outlives the image that brought it.
  await put(0, 1, [1, 11, 21, 31]);
  await put(0, 2, [1, 15, 25, 35]);
  out['two images'] = await seen(store);
  await put(0, 3, [1, 13, 23, 33]);
  await put(1, 1, [1, 17]);
  out['superseded'] = await seen(store);
  const other = await open();
  out['opened again'] = await seen(other);
  await put(0, 4, [1, 13, 23, 33]);
  out['nothing new'] = await seen(other);
  await store.forget(job, taskId(0));
  out['task over'] = await seen(other);
  await store.forget(job);
  out['job over'] = await seen(store);
  await store.close();
  return out;
}

const of = (task: number, ...serials: number[]): string[] =>
  serials.map((s) => imageIdOf(job, taskId(task), incarnation(0), s));
const there = (all: number[], ...these: number[]): Record<string, boolean> =>
  Object.fromEntries(all.map((s) => [s, these.includes(s)]));
const FIRST = [1, 11, 21, 31, 15, 25, 35];
const ALL = [...FIRST, 13, 23, 33, 17];

export const EXPECTED: Record<string, Seen> = {
  'two images': { images: of(0, 1, 2), pages: there(FIRST, ...FIRST) },
  superseded: { images: [...of(0, 2, 3), ...of(1, 1)], pages: there(ALL, 1, 15, 25, 35, 13, 23, 33, 17) },
  'opened again': { images: [...of(0, 2, 3), ...of(1, 1)], pages: there(ALL, 1, 15, 25, 35, 13, 23, 33, 17) },
  'nothing new': { images: [...of(0, 3, 4), ...of(1, 1)], pages: there(ALL, 1, 13, 23, 33, 17) },
  // The page of seed 1 is needed, and lies in a pack with three that are not.
  'task over': { images: of(1, 1), pages: there(ALL, 1, 13, 23, 33, 17) },
  'job over': { images: [], pages: there(ALL) },
};
