/** Which result files are pictures, by their names. Pure. */
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
