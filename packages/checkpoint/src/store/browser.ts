/** Local images in IndexedDB, in the node daemon's origin (the sandboxed frame has no storage). */
import type { ImageId, Manifest } from '@mayfly/wire';
import { openDB, type DBSchema } from 'idb';
import { superseded, type LocalImages } from './local.ts';

interface Schema extends DBSchema {
  manifests: { key: string; value: Manifest };
  pages: { key: string; value: Uint8Array };
}

export async function openBrowserImages(name = 'mayfly-images'): Promise<LocalImages> {
  const db = await openDB<Schema>(name, 1, {
    upgrade(d) {
      d.createObjectStore('manifests');
      d.createObjectStore('pages');
    },
    // A newer version of the page wants to upgrade: let it, this cache is expendable.
    blocking(_from, _to, event) {
      (event.target as unknown as { close(): void }).close();
    },
  });
  const sweep = async (): Promise<void> => {
    const tx = db.transaction(['manifests', 'pages'], 'readwrite');
    const live = new Set<string>();
    for (const m of await tx.objectStore('manifests').getAll()) for (const p of m.pages) live.add(p);
    for (const key of await tx.objectStore('pages').getAllKeys()) if (!live.has(key)) void tx.objectStore('pages').delete(key);
    await tx.done;
  };
  return {
    list: async () => (await db.getAll('manifests')).map((m) => ({ job: m.job, task: m.task, image: m.image })),
    manifest: (image: ImageId) => db.get('manifests', image),
    page: (hash) => db.get('pages', hash),
    async put(manifest, fresh) {
      const tx = db.transaction(['manifests', 'pages'], 'readwrite');
      for (const [hash, bytes] of fresh) void tx.objectStore('pages').put(bytes, hash);
      void tx.objectStore('manifests').put(manifest, manifest.image);
      const old = superseded(await tx.objectStore('manifests').getAll(), manifest);
      for (const m of old) void tx.objectStore('manifests').delete(m.image);
      await tx.done;
      if (old.length > 0) await sweep();
    },
    async forget(job, task) {
      let gone = 0;
      for (const m of await db.getAll('manifests'))
        if (m.job === job && (task === undefined || m.task === task)) {
          await db.delete('manifests', m.image);
          gone++;
        }
      if (gone > 0) await sweep();
    },
    close: async () => db.close(),
  };
}
