/** Local images in memory: of headless nodes, of windows without storage, and in tests. */
import type { ImageId, Manifest } from '@mayfly/wire';
import { LocalImages, type PagePack } from './local.ts';

export function memoryImages(): LocalImages {
  const manifests = new Map<ImageId, Manifest>();
  const packs = new Map<string, PagePack>();
  return new LocalImages({
    manifests: async () => [...manifests.values()],
    putManifest: async (m) => void manifests.set(m.image, m),
    removeManifest: async (image) => void manifests.delete(image),
    packs: async () => [...packs].map(([name, { pages }]) => ({ name, pages })),
    putPack: async (name, pack) => void packs.set(name, pack),
    removePack: async (name) => void packs.delete(name),
    read: async (name, at, length) => packs.get(name)?.bytes.slice(at, at + length),
    close: async () => undefined,
  });
}
