/**
 * A folder or an archive with a manifest `mayfly.json`, as a submission: the same rules for the command line, which
 * reads a folder, for the server, which unpacks an archive, and for the form of a new job. Pure, and without a compiled
 * schema: pages may not evaluate.
 */
import { ArchiveManifest, FilePath, MayflyError, type ProgramSubmission } from '@mayfly/wire';
import { Check, Errors } from 'typebox/value';
import { isNativeSource, MANIFEST } from './source-names.ts';

/** As it is submitted; a module as its bytes. */
export type PlainProgram =
  | Exclude<ProgramSubmission, { language: 'archive' } | { language: 'wasm' }>
  | { language: 'wasm'; module: Uint8Array; entry: string };

const SCRIPT = /\.(ts|tsx|mts|js|mjs|jsx|json|txt)$/;

/**
 * @param files content by path; the manifest's own folder is the program's
 * @throws MayflyError BAD_ARCHIVE with a sentence for the author
 */
export function programOfFiles(files: ReadonlyMap<string, Uint8Array>): PlainProgram {
  const at = [...files.keys()].filter((p) => p === MANIFEST || /^[^/]+\/mayfly\.json$/.test(p));
  const where = at.includes(MANIFEST) ? MANIFEST : at.length === 1 ? at[0]! : undefined;
  if (where === undefined)
    throw bad(at.length === 0 ? `There is no ${MANIFEST} at the top level.` : `There are several: ${at.join(', ')}.`);
  const top = where.slice(0, -MANIFEST.length);
  const m = readManifest(files.get(where)!);
  const own = new Map(
    [...files]
      .filter(([path]) => path.startsWith(top) && path !== where)
      .map(([path, bytes]) => [path.slice(top.length), bytes]),
  );
  const entry = m.entry === undefined ? {} : { entry: m.entry };
  if (m.language === 'wasm') {
    const path = m.entry ?? [...own.keys()].find((p) => p.endsWith('.wasm'));
    const module = path === undefined ? undefined : own.get(path);
    if (module === undefined)
      throw bad(
        path === undefined
          ? 'It does not name a module ("entry") or contain one.'
          : `It does not contain the file ${JSON.stringify(path)}.`,
      );
    return { language: 'wasm', module, entry: path! };
  }
  const script = m.language === 'typescript';
  const sources: Record<string, string> = {};
  for (const [path, bytes] of own)
    if ((script ? SCRIPT.test(path) : isNativeSource(path)) && Check(FilePath, path)) sources[path] = text(path, bytes);
  const needed = [...(m.sources ?? []), ...(script ? [m.entry ?? 'main.ts'] : [])];
  const missing = needed.find((p) => !Object.hasOwn(sources, p));
  if (missing !== undefined)
    throw bad(
      own.has(missing)
        ? `${JSON.stringify(missing)} does not have the name of a source file.`
        : `It does not contain the file ${JSON.stringify(missing)}.`,
    );
  if (m.language === 'typescript') return { language: 'typescript', entry: m.entry ?? 'main.ts', sources };
  const flags = [...(m.include ?? []).map((folder) => `-I${folder}`), ...(m.flags ?? [])];
  return {
    language: m.language,
    sources,
    ...(m.sources === undefined ? {} : { units: m.sources }),
    ...(flags.length === 0 ? {} : { flags }),
    ...entry,
  };
}

function readManifest(bytes: Uint8Array): ArchiveManifest {
  let value: unknown;
  try {
    value = JSON.parse(text(MANIFEST, bytes));
  } catch (error) {
    if (error instanceof MayflyError) throw error;
    throw bad(`it cannot be read: ${(error as Error).message}`);
  }
  if (Check(ArchiveManifest, value)) return value;
  const first = Errors(ArchiveManifest, value)[0] as { instancePath?: string; message?: string } | undefined;
  throw bad(
    `${first?.instancePath ? `"${first.instancePath.slice(1)}" ` : ''}${first?.message ?? 'it is not a manifest'}.`,
  );
}

function text(path: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    // Old sources have names of authors in Latin 1, in comments.
    if (isNativeSource(path)) return new TextDecoder('latin1').decode(bytes);
    throw bad(`${JSON.stringify(path)} is not UTF-8 text.`);
  }
}

const bad = (what: string): MayflyError => new MayflyError('BAD_ARCHIVE', `${MANIFEST}: ${what}`);
