/** Checks every page and every manifest of the image store. Changes nothing. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createBLAKE3 } from 'hash-wasm';
import { unseal } from '../../sealed-text.ts';
import {
  bodyBytes,
  HEADER_BYTES,
  headless,
  isNewer,
  nextHeader,
  parseHeader,
  readBody,
  recordBytes,
} from '../page-record.ts';
import { unreadable, type CheckProgress, type Problem } from './problem.ts';

export interface ImagesCheck {
  problems: Problem[];
  /** Images of which every page is there and sound, or can be mended. */
  sound: Set<string>;
  /** Files of manifests that cannot be read or name a page that is lost, by image. */
  damaged: Map<string, string>;
}

/** @param expected images that the registry counts as complete */
export async function checkImages(
  dataDir: string,
  expected: readonly string[],
  progress: CheckProgress,
): Promise<ImagesCheck> {
  const out: ImagesCheck = { problems: [], sound: new Set(), damaged: new Map() };
  const hasher = await createBLAKE3();
  const hash = (bytes: Uint8Array): string => hasher.init().update(bytes).digest('hex');
  const pages = new Set<string>();
  const bad = new Map<string, string>();
  await checkPacks(dataDir, out.problems, hash, pages, bad, progress);

  const manifests = await list(dataDir, 'images/manifests', out.problems);
  const there = new Set<string>();
  for (const name of manifests) {
    const file = `images/manifests/${name}`;
    const image = imageOf(name);
    if (image === undefined) {
      out.problems.push({ file, what: 'is no manifest of an image', harmless: true });
      continue;
    }
    there.add(image);
    try {
      const text = await readFile(join(dataDir, file), 'utf8');
      progress(file, text.length);
      const named = (JSON.parse(unseal(text, file)) as { pages?: unknown }).pages;
      if (!Array.isArray(named)) throw new SyntaxError('it lists no pages');
      const lost = [...new Set(named.map(String))].filter((h) => h !== '' && !pages.has(h));
      if (lost.length === 0) out.sound.add(image);
      else {
        out.damaged.set(image, file);
        const where = bad.get(lost[0]!);
        out.problems.push({
          file,
          what:
            `names ${lost.length === 1 ? 'a page that is' : `${lost.length} pages that are`} ` +
            `${where === undefined ? 'missing' : `damaged (${where})`}: image ${image} cannot be used`,
        });
      }
    } catch (error) {
      out.damaged.set(image, file);
      const code = (error as NodeJS.ErrnoException).code;
      out.problems.push({
        file,
        what: code?.startsWith('E') ? unreadable(error) : `is damaged: image ${image} cannot be used`,
      });
    }
  }
  for (const image of expected)
    if (!there.has(image)) {
      const file = `images/manifests/${encodeURIComponent(image).replaceAll('.', '%2E')}.json`;
      out.damaged.set(image, file);
      out.problems.push({ file, what: `is missing: image ${image} cannot be used` });
    }
  // The loss of a page that no manifest names does not matter: a power loss leaves such pages in the newest packs.
  if (out.damaged.size === 0)
    for (const p of out.problems)
      if (p.file.startsWith('images/pa') && p.what.startsWith('is damaged')) p.harmless = true;
  return out;
}

function imageOf(name: string): string | undefined {
  if (!name.endsWith('.json')) return undefined;
  try {
    return decodeURIComponent(name.slice(0, -5));
  } catch {
    return undefined;
  }
}

async function list(dataDir: string, folder: string, problems: Problem[]): Promise<string[]> {
  try {
    return (await readdir(join(dataDir, folder))).sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') problems.push({ file: folder, what: unreadable(error) });
    return [];
  }
}

async function checkPacks(
  dataDir: string,
  problems: Problem[],
  hash: (b: Uint8Array) => string,
  pages: Set<string>,
  bad: Map<string, string>,
  progress: CheckProgress,
): Promise<void> {
  const names = (await list(dataDir, 'images/packs', problems)).filter((n) => /^[0-9a-f]{12}\.pack$/.test(n));
  for (const [i, name] of names.entries()) {
    const file = `images/packs/${name}`;
    let pack: Buffer;
    try {
      pack = await readFile(join(dataDir, file));
    } catch (error) {
      problems.push({ file, what: unreadable(error) });
      continue;
    }
    progress(file, pack.length);
    let [mended, lost] = [0, 0];
    for (let at = 0; at < pack.length;) {
      const header = parseHeader(pack.subarray(at, at + HEADER_BYTES));
      if (header) {
        const end = at + recordBytes(header.length);
        if (end > pack.length) {
          // A crash leaves that at the end of the newest ones; this page was never reported as stored.
          problems.push({
            file,
            what: 'ends with an incomplete record',
            ...(i >= names.length - 2 ? { harmless: true } : {}),
          });
          if (i < names.length - 2) bad.set(header.hash, file);
          break;
        }
        if (!header.spoilt) {
          const found = readBody(
            pack.subarray(at + HEADER_BYTES, at + HEADER_BYTES + bodyBytes(header.length)),
            (page) => hash(page) === header.hash,
          );
          if (!found) {
            lost++;
            bad.set(header.hash, file);
          } else {
            if (found.mended) mended++;
            pages.add(header.hash);
          }
        }
        at = end;
        continue;
      }
      if (at === 0 && isNewer(pack)) {
        problems.push({ file, what: 'was written by a newer version of Mayfly; check it with that version' });
        break;
      }
      const page = headless(pack, at);
      if (page) {
        mended++;
        pages.add(hash(page));
        at += recordBytes(page.length);
      } else {
        const next = nextHeader(pack, at + 1);
        if (i < names.length - 2 || next < pack.length) lost++;
        at = next;
      }
    }
    if (mended > 0)
      problems.push({
        file,
        what: `is damaged in ${mended === 1 ? 'one page' : `${mended} pages`}, which can be mended`,
        harmless: true,
      });
    if (lost > 0)
      problems.push({ file, what: `is damaged: ${lost === 1 ? 'one page' : `${lost} pages`} cannot be mended` });
  }
}
