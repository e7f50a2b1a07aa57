/** Local images in memory: headless nodes without a directory, and tests. */
import type { ImageId, Manifest } from '@mayfly/wire';
import { superseded, type LocalImages } from './local.ts';

export function memoryImages(): LocalImages {
  const manifests = new Map<ImageId, Manifest>();
  const pages = new Map<string, Uint8Array>();
  const sweep = (): void => {
    const live = new Set<string>();
    for (const m of manifests.values()) for (const p of m.pages) live.add(p);
    for (const p of pages.keys()) if (!live.has(p)) pages.delete(p);
  };
  return {
    list: async () => [...manifests.values()].map((m) => ({ job: m.job, task: m.task, image: m.image })),
    manifest: async (image) => manifests.get(image),
    page: async (hash) => pages.get(hash),
    async put(manifest, fresh) {
      for (const [hash, bytes] of fresh) if (!pages.has(hash)) pages.set(hash, bytes.slice());
      manifests.set(manifest.image, manifest);
      for (const m of superseded([...manifests.values()], manifest)) manifests.delete(m.image);
      sweep();
    },
    async forget(job, task) {
      for (const m of manifests.values()) if (m.job === job && (task === undefined || m.task === task)) manifests.delete(m.image);
      sweep();
    },
    close: async () => undefined,
  };
}
