/**
 * Local images in a directory, for headless nodes: pages/<hash>, images/<image>.json. Files are written under another name and renamed;
 * no sync, because it is a cache whose pages are hashed again when they are used.
 */
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ImageId, Manifest } from '@mayfly/wire';
import { superseded, type LocalImages } from './local.ts';

export async function openDirectoryImages(directory: string): Promise<LocalImages> {
  const pagesAt = join(directory, 'pages');
  const imagesAt = join(directory, 'images');
  await mkdir(pagesAt, { recursive: true });
  await mkdir(imagesAt, { recursive: true });
  let serial = 0;
  const write = async (path: string, data: Uint8Array | string): Promise<void> => {
    const temporary = `${path}.${process.pid}.${serial++}`;
    await writeFile(temporary, data);
    await rename(temporary, path);
  };
  const read = async <T>(path: string, parse: (b: Buffer) => T): Promise<T | undefined> => {
    try {
      return parse(await readFile(path));
    } catch {
      return undefined;
    }
  };
  const named = (image: string): string => join(imagesAt, `${image}.json`);
  const load = (image: string): Promise<Manifest | undefined> =>
    /^[0-9a-z-]{1,64}$/.test(image) ? read(named(image), (b) => JSON.parse(b.toString('utf8')) as Manifest) : Promise.resolve(undefined);
  const all = async (): Promise<Manifest[]> => {
    const names = (await readdir(imagesAt)).filter((n) => n.endsWith('.json'));
    return (await Promise.all(names.map((n) => load(n.slice(0, -5))))).filter((m) => m !== undefined);
  };
  const sweep = async (): Promise<void> => {
    const live = new Set<string>();
    for (const m of await all()) for (const p of m.pages) live.add(p);
    for (const p of await readdir(pagesAt)) if (!live.has(p)) await rm(join(pagesAt, p), { force: true });
  };
  // One change at a time: a sweep must not take pages whose manifest is on its way.
  let queue: Promise<unknown> = Promise.resolve();
  const alone = <T>(work: () => Promise<T>): Promise<T> => {
    const p = queue.then(work, work);
    queue = p.catch(() => undefined);
    return p;
  };
  return {
    list: async () => (await all()).map((m) => ({ job: m.job, task: m.task, image: m.image })),
    manifest: (image: ImageId) => load(image),
    page: (hash) => (/^[0-9a-f]{64}$/.test(hash) ? read(join(pagesAt, hash), (b) => new Uint8Array(b.buffer, b.byteOffset, b.length)) : Promise.resolve(undefined)),
    put: (manifest, fresh) =>
      alone(async () => {
        for (const [hash, bytes] of fresh) {
          const path = join(pagesAt, hash);
          if (!(await stat(path).catch(() => undefined))) await write(path, bytes);
        }
        await write(named(manifest.image), JSON.stringify(manifest));
        const old = superseded(await all(), manifest);
        for (const m of old) await rm(named(m.image), { force: true });
        if (old.length > 0) await sweep();
      }),
    forget: (job, task) =>
      alone(async () => {
        for (const m of await all()) if (m.job === job && (task === undefined || m.task === task)) await rm(named(m.image), { force: true });
        await sweep();
      }),
    close: async () => {
      await queue;
    },
  };
}
