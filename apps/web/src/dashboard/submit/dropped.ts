/** Files out of what was dropped, folders with all that is in them; hidden files, and what tools make, stay out. */
import { ARCHIVE_LIMITS as MOST } from '@mayfly/toolchain/limits';
import type { DropItem } from 'react-aria-components';
import type { Given } from './program-from-files.ts';

const SKIPPED = new Set(['node_modules', 'build', 'CMakeFiles', 'dist', '__MACOSX']);

/** @throws Error when there is too much */
export async function readDropped(items: Iterable<DropItem>): Promise<{ given: Given[]; folder: string | undefined }> {
  const given: Given[] = [];
  let folder: string | undefined;
  let bytes = 0;
  const add = async (path: string, file: File): Promise<void> => {
    bytes += file.size;
    needRoom(given.length + 1, bytes);
    given.push({ path, data: new Uint8Array(await file.arrayBuffer()) });
  };
  const walk = async (item: DropItem, prefix: string): Promise<void> => {
    if (item.kind === 'file') {
      if (!item.name.startsWith('.') || prefix === '') await add(prefix + item.name, await item.getFile());
    } else if (item.kind === 'directory' && !item.name.startsWith('.') && !SKIPPED.has(item.name))
      for await (const inner of item.getEntries()) await walk(inner, `${prefix}${item.name}/`);
  };
  for (const item of items) {
    if (item.kind === 'directory') folder = item.name;
    await walk(item, '');
  }
  return { given, folder };
}

/** Of a file button. */
export async function readChosen(list: readonly File[]): Promise<{ given: Given[]; folder: string | undefined }> {
  const plain = list.filter(
    (f) => !f.webkitRelativePath.split('/').some((part) => part.startsWith('.') || SKIPPED.has(part)),
  );
  needRoom(
    plain.length,
    plain.reduce((n, f) => n + f.size, 0),
  );
  const given = await Promise.all(
    plain.map(async (f) => ({ path: f.webkitRelativePath || f.name, data: new Uint8Array(await f.arrayBuffer()) })),
  );
  const relative = list[0]?.webkitRelativePath ?? '';
  return { given, folder: relative === '' ? undefined : relative.split('/')[0] };
}

function needRoom(files: number, bytes: number): void {
  if (files > MOST.files || bytes > MOST.bytes)
    throw new Error(`The limit is ${MOST.files} files and ${MOST.bytes >> 20} MB.`);
}
