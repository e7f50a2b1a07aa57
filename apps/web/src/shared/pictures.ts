/** Which result files are pictures, by their names, and how they are drawn. */
import { decodeNetpbm } from './netpbm.ts';

export type PictureKind = { how: 'img'; type: string } | { how: 'netpbm' };

const TYPES: Record<string, string> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  bmp: 'image/bmp',
  svg: 'image/svg+xml',
  avif: 'image/avif',
};

export function pictureKind(path: string): PictureKind | undefined {
  const ending = /\.([A-Za-z0-9]+)$/.exec(path)?.[1]?.toLowerCase();
  if (ending === undefined) return undefined;
  if (['pbm', 'pgm', 'ppm', 'pnm'].includes(ending)) return { how: 'netpbm' };
  const type = TYPES[ending];
  return type === undefined ? undefined : { how: 'img', type };
}

export interface Drawn {
  url: string;
  size?: { width: number; height: number };
}

/** A picture as an <img> shows it; undefined: not yet one. The caller revokes the URL. */
export async function draw(content: Uint8Array<ArrayBuffer>, kind: PictureKind): Promise<Drawn | undefined> {
  // An <img> runs no script, whatever an SVG holds; the type keeps the browser from guessing another one.
  if (kind.how === 'img') return { url: URL.createObjectURL(new Blob([content], { type: kind.type })) };
  const picture = decodeNetpbm(content);
  if (!picture) return undefined;
  const canvas = new OffscreenCanvas(picture.width, picture.height);
  canvas.getContext('2d')?.putImageData(new ImageData(picture.rgba, picture.width, picture.height), 0, 0);
  return {
    url: URL.createObjectURL(await canvas.convertToBlob()),
    size: { width: picture.width, height: picture.height },
  };
}
