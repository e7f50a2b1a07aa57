/**
 * Where remembered calls lie: `calls/<key>` (what each of the last calls of one command asked and wrote, and other
 * records) and `bytes/<SHA-256>` (contents), in a folder of the user's.
 *
 * Owns: the folder. Several processes may use it at once. Invariants:
 *   C1  a file appears whole, under its name, or not at all;
 *   C2  what is damaged, missing or of another format is a call that was never made: contents carry their hash as their
 *       name, records their own checksum;
 *   C3  an error of the disk (full, read-only) forgets, and never fails a compilation;
 *   C4  the least recently used goes when the folder grows beyond its limit.
 */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { threadId } from 'node:worker_threads';
import { hashOf, type Input } from './traced-files.ts';

export interface RememberedCall {
  readonly inputs: readonly (readonly [path: string, Input])[];
  /** `bytes`: the SHA-256 under which the contents lie. */
  readonly outputs: readonly { readonly path: string; readonly executable: boolean; readonly bytes: string }[];
  readonly stdout: string;
  readonly stderr: string;
}

const FORMAT = 1;
/** Of one command: a branch, and the one before it. */
const CALLS_PER_COMMAND = 4;
const MAX_BYTES = 2 ** 30;
/** The folder is measured after so many bytes of new contents. */
const MEASURE_BYTES = 2 ** 26;
const CLAIM_MS = 120_000;

export class CallStore {
  readonly #folder: string;
  readonly #maxBytes: number;
  /** The first call measures. */
  #written = MEASURE_BYTES;

  constructor(folder: string, maxBytes = MAX_BYTES) {
    this.#folder = folder;
    this.#maxBytes = maxBytes;
  }

  calls(key: string): RememberedCall[] {
    const body = this.record(key);
    return (body === undefined ? undefined : forgiving(() => JSON.parse(body) as RememberedCall[])) ?? [];
  }

  /** The call becomes the last that goes. */
  used(key: string, call: RememberedCall): void {
    this.touch([key], [call.stdout, call.stderr, ...call.outputs.map((o) => o.bytes)]);
  }

  /** Records and contents that were used now. */
  touch(keys: readonly string[], hashes: readonly string[]): void {
    const now = new Date();
    for (const path of [...keys.map((key) => join('calls', key)), ...hashes.map((hash) => join('bytes', hash))])
      forgiving(() => utimesSync(join(this.#folder, path), now, now));
  }

  remember(key: string, call: RememberedCall): void {
    this.writeRecord(key, JSON.stringify([call, ...this.calls(key)].slice(0, CALLS_PER_COMMAND)));
  }

  record(key: string): string | undefined {
    return forgiving(() => {
      const text = readFileSync(join(this.#folder, 'calls', key), 'utf8');
      const end = text.indexOf('\n');
      const body = text.slice(end + 1);
      // C2
      return text.slice(0, end) === `${FORMAT} ${hashOf(body)}` ? body : undefined;
    });
  }

  writeRecord(key: string, body: string): void {
    this.#write(join('calls', key), Buffer.from(`${FORMAT} ${hashOf(body)}\n${body}`));
    if (this.#written >= MEASURE_BYTES) this.#limit();
  }

  /** Whether this call alone makes what the key names, until it releases it. */
  claim(key: string): boolean {
    const file = join(this.#folder, 'calls', `${key}.claim`);
    const take = (): boolean =>
      forgiving(() => {
        mkdirSync(join(this.#folder, 'calls'), { recursive: true, mode: 0o700 });
        writeFileSync(file, '', { flag: 'wx', mode: 0o600 });
        return true;
      }) ?? false;
    if (take()) return true;
    // Its process is gone.
    if ((forgiving(() => Date.now() - statSync(file).mtimeMs) ?? 0) < CLAIM_MS) return false;
    this.release(key);
    return take();
  }

  release(key: string): void {
    forgiving(() => rmSync(join(this.#folder, 'calls', `${key}.claim`), { force: true }));
  }

  get(hash: string): Uint8Array | undefined {
    const bytes = forgiving(() => new Uint8Array(readFileSync(join(this.#folder, 'bytes', hash))));
    return bytes !== undefined && hashOf(bytes) === hash ? bytes : undefined;
  }

  /** @returns the SHA-256 of the contents */
  put(bytes: Uint8Array): string {
    const hash = hashOf(bytes);
    this.#write(join('bytes', hash), bytes);
    return hash;
  }

  /** C1, C3 */
  #write(name: string, bytes: Uint8Array): void {
    this.#written += bytes.length;
    const temporary = join(this.#folder, `${process.pid}-${threadId}.new`);
    forgiving(() => {
      for (const folder of ['calls', 'bytes']) mkdirSync(join(this.#folder, folder), { recursive: true, mode: 0o700 });
      writeFileSync(temporary, bytes, { mode: 0o600 });
      renameSync(temporary, join(this.#folder, name));
    });
  }

  /** C4, down to nine tenths. */
  #limit(): void {
    this.#written = 0;
    const files = ['calls', 'bytes'].flatMap((folder) =>
      (forgiving(() => readdirSync(join(this.#folder, folder))) ?? []).flatMap((name) => {
        const path = join(this.#folder, folder, name);
        const stat = forgiving(() => statSync(path));
        return stat === undefined ? [] : [{ path, bytes: stat.size, used: stat.mtimeMs }];
      }),
    );
    let bytes = files.reduce((sum, f) => sum + f.bytes, 0);
    if (bytes <= this.#maxBytes) return;
    for (const file of files.sort((a, b) => a.used - b.used)) {
      if (bytes <= this.#maxBytes * 0.9) return;
      forgiving(() => rmSync(file.path, { force: true }));
      bytes -= file.bytes;
    }
  }
}

/** C3 */
function forgiving<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== undefined || error instanceof SyntaxError) return undefined;
    throw error;
  }
}
