/**
 * The C and C++ examples for tests: their rows in native-runs.json, sources as a submission has them, and what they
 * must print.
 */
import { existsSync, readFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));

/** One line of native-runs.json. */
export interface Row {
  readonly name: string;
  readonly args: string[];
  readonly ranks: number[];
  /** Prefix of the files with the expected output. */
  readonly expected?: string;
}
export const rows = JSON.parse(readFileSync(join(here, 'native-runs.json'), 'utf8')) as readonly Row[];

export interface CExample {
  readonly language: 'c' | 'c++';
  readonly flags: string[];
  /** By path below examples/. */
  readonly sources: Readonly<Record<string, string>>;
  /** Input files by the name that the program opens. */
  readonly files: Readonly<Record<string, Uint8Array<ArrayBuffer>>>;
}

export function readExample(name: string): CExample {
  const folder = join(here, name);
  const about = JSON.parse(readFileSync(join(folder, 'example.json'), 'utf8')) as {
    language: 'c' | 'c++';
    sources: string[];
    flags: string[];
    files: string[];
  };
  return {
    language: about.language,
    flags: about.flags,
    sources: Object.fromEntries(
      about.sources.map((s) => [relative(here, join(folder, s)), readFileSync(join(folder, s), 'utf8')]),
    ),
    files: Object.fromEntries(about.files.map((f) => [basename(f), new Uint8Array(readFileSync(join(folder, f)))])),
  };
}

/** Standard output of a native run of the row, as committed. */
export function expectedOutput(row: Row, ranks: number): string {
  const path = join(here, row.name, `${row.expected ?? 'expected'}-${ranks}.txt`);
  if (!existsSync(path))
    throw new Error(`${path} is not there: node examples/compare-native.mjs ${row.name} --native-only --write`);
  return readFileSync(path, 'utf8');
}
