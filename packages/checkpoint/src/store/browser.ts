/**
 * Local images in IndexedDB, in the node daemon's origin (the sandboxed frame has no storage). A pack is a list of its
 * pages and a Blob, of which a page is read without the rest.
 */
import { openDB, type DBSchema } from 'idb';
import type { Manifest } from '@mayfly/wire';
import { LocalImages, type PackedPage } from './local.ts';

interface Schema extends DBSchema {
  manifests: { key: string; value: Manifest };
  packs: { key: string; value: readonly PackedPage[] };
  bytes: { key: string; value: Blob };
}

export async function openBrowserImages(name = 'mayfly-images'): Promise<LocalImages> {
  const db = await openDB<Schema>(name, 2, {
    upgrade(d) {
      // A cache: what another version kept is let go.
      for (const store of [...d.objectStoreNames]) d.deleteObjectStore(store);
      for (const store of ['manifests', 'packs', 'bytes'] as const) d.createObjectStore(store);
    },
    // A newer version of the page wants to upgrade: let it, this cache is expendable.
    blocking(_from, _to, event) {
      (event.target as unknown as { close(): void }).close();
    },
  });
  return new LocalImages({
    manifests: () => db.getAll('manifests'),
    putManifest: async (m) => void (await db.put('manifests', m, m.image)),
    removeManifest: (image) => db.delete('manifests', image),
    async packs() {
      const tx = db.transaction('packs');
      const [names, pages] = await Promise.all([tx.store.getAllKeys(), tx.store.getAll()]);
      return names.map((n, i) => ({ name: n, pages: pages[i] ?? [] }));
    },
    async putPack(pack, { pages, bytes }) {
      const tx = db.transaction(['packs', 'bytes'], 'readwrite');
      await Promise.all([
        tx.objectStore('packs').put(pages, pack),
        tx.objectStore('bytes').put(new Blob([bytes]), pack),
        tx.done,
      ]);
    },
    async removePack(pack) {
      const tx = db.transaction(['packs', 'bytes'], 'readwrite');
      await Promise.all([tx.objectStore('packs').delete(pack), tx.objectStore('bytes').delete(pack), tx.done]);
    },
    async read(pack, at, length) {
      const blob = await db.get('bytes', pack);
      return blob && new Uint8Array(await blob.slice(at, at + length).arrayBuffer());
    },
    close: async () => db.close(),
  });
}
