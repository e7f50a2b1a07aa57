/**
 * The file of results: what was found out of each mutant, a line of JSON each, appended as soon as it is known. A
 * command that was interrupted goes on from it; so does one with another seed or a larger count.
 *
 * R1  A verdict stands for the very sources and tests that it was found with (`tests`, a hash of both); of mutants that
 *     do not compile, for the sources (`sources`).
 * R2  Of other sources or tests it is only a hint: the test that killed the mutant then is the first to be tried.
 * R3  A last line that was cut off in the middle is passed over.
 *
 * @typedef {{ sources: string, tests: string }} Keys
 * @typedef {{ id: string, file: string, verdict: string, by?: string, test?: string, loaded?: boolean } & Keys} Row
 */
import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, relative } from 'node:path';

/** @param {string} root @param {string[]} paths */
export function hashOf(root, paths) {
  const hash = createHash('sha256');
  for (const path of [...paths].sort()) {
    const bytes = readFileSync(path);
    hash.update(`${relative(root, path)} ${bytes.length}\n`).update(bytes);
  }
  return hash.digest('hex').slice(0, 24);
}

export class Results {
  /** @type {Map<string, Row>} */
  #rows = new Map();
  /** @type {Map<string, { durations: Record<string, number>, silence: number }>} */
  #baselines = new Map();
  /** How often a test file killed a mutant of a source file. */
  #kills = new Map();
  #path;
  #keys;

  /** @param {string} path @param {{ sources: string, tests: string }} keys */
  constructor(path, keys) {
    this.#path = path;
    this.#keys = keys;
    mkdirSync(dirname(path), { recursive: true });
    if (!existsSync(path)) return;
    const text = readFileSync(path, 'utf8');
    for (const line of text.split('\n')) {
      if (line === '') continue;
      try {
        this.#take(JSON.parse(line));
      } catch {
        continue; // R3
      }
    }
    if (text !== '' && !text.endsWith('\n')) appendFileSync(path, '\n');
  }

  #take(row) {
    if (row.baseline) this.#baselines.set(row.tests, row.baseline);
    if (typeof row.id !== 'string') return;
    this.#rows.set(row.id, row);
    if (row.verdict === 'killed') {
      const of = this.#kills.get(row.file) ?? new Map();
      this.#kills.set(row.file, of.set(row.by, (of.get(row.by) ?? 0) + 1));
    }
  }

  #write(row) {
    const line = { ...row, ...this.#keys };
    appendFileSync(this.#path, `${JSON.stringify(line)}\n`);
    this.#take(line);
  }

  /** The verdict that stands (R1). */
  of(id) {
    const row = this.#rows.get(id);
    if (row?.verdict === 'does not compile') return row.sources === this.#keys.sources ? row : undefined;
    return row?.tests === this.#keys.tests ? row : undefined;
  }

  compiles(id) {
    const row = this.#rows.get(id);
    return row !== undefined && row.verdict !== 'does not compile' && row.sources === this.#keys.sources;
  }

  /** R2 */
  hint(id) {
    const row = this.#rows.get(id);
    return row?.verdict === 'killed' ? row.by : undefined;
  }

  kills(file, test) {
    return this.#kills.get(file)?.get(test) ?? 0;
  }

  get baseline() {
    return this.#baselines.get(this.#keys.tests);
  }

  setBaseline(baseline) {
    this.#write({ baseline });
  }

  /** @param {Omit<Row, 'sources' | 'tests'>} row */
  add(row) {
    this.#write(row);
  }
}
