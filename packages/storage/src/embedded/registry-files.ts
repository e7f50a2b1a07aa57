/**
 * What the directory of a registry holds, read and judged. Changes nothing.
 *
 *   <base>-<salt>.log     commits from number `base` on, and
 *   <base>-<salt>.twin    the same once more: damage to one of the two, or its loss, costs nothing
 *   <base>-<salt>.snap    the state before commit `base`
 *
 * The state is that of the newest undamaged snapshot (or nothing, before commit 0) and of all commits from its base on.
 * Every log but the newest reaches up to the base of the next one; what stands behind is of no account. In the newest
 * one a tail that is not whole was never acknowledged, unless a record behind it claims that it had been synced: then
 * it is damage.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MayflyError } from '@mayfly/wire';
import {
  decodeChanges,
  encodeRecords,
  encodeRegistryHead,
  fileName,
  findRecords,
  judgeHead,
  parseFileName,
  type FoundRecords,
  type RegistryFileName,
} from './registry-format.ts';
import { storageError } from './segment.ts';

export interface RegistryProblem {
  /** Name of the file, within the registry's directory. */
  file: string;
  what: string;
}

/** A log and its twin, with what both hold together. */
export interface LogPair {
  base: number;
  salt: number;
  /** Commits without a gap from `base` on. */
  payloads: Uint8Array[];
  /** Which of the two lacks something that the other has, or is missing. */
  lacking: ('log' | 'twin')[];
  /** Undamaged commits behind a gap. */
  beyond: Map<number, Uint8Array>;
  watermark: number;
}

export interface RegistryFiles {
  state: Map<string, string>;
  /** Number of the next commit. */
  next: number;
  logs: LogPair[];
  /** Bases of the undamaged snapshots, in order. */
  snapshots: number[];
  /** Bytes of the snapshot that the state begins with, and of the commits behind it. */
  snapshotBytes: number;
  logBytes: number;
  /** Damage that costs nothing, because the same stands elsewhere. */
  problems: RegistryProblem[];
  /** Damage that costs commits. `state` is then what can still be read. */
  losses: RegistryProblem[];
  /** Files of this registry; 0: there is none yet. */
  files: number;
}

/** Passing troubles of the system, which say nothing of the file. */
const PASSING = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN']);

/** @throws MayflyError VERSION_MISMATCH, STORAGE_FAILED */
export async function readRegistryFiles(directory: string): Promise<RegistryFiles> {
  const out: RegistryFiles = {
    state: new Map(),
    next: 0,
    logs: [],
    snapshots: [],
    snapshotBytes: 0,
    logBytes: 0,
    problems: [],
    losses: [],
    files: 0,
  };
  const names = (await list(directory)).flatMap((n) => parseFileName(n) ?? []);
  out.files = names.length;
  const snaps = names.filter((n) => n.kind === 'snap').sort((a, b) => b.base - a.base);
  const whole = new Map<number, FoundRecords & { bytes: number }>();
  let part: { name: RegistryFileName; found: FoundRecords } | undefined;
  for (const n of snaps) {
    const read = await readRecords(directory, n, out);
    if (!read) continue;
    // Its last record is the seal, right behind the last of the state.
    if (read.head && !read.torn && read.seal === n.base + read.front && read.records.size === read.front)
      whole.set(n.base, read);
    else {
      part ??= { name: n, found: read };
      out.problems.push({ file: fileName(n), what: 'is damaged' });
    }
  }
  out.snapshots = [...whole.keys()].sort((a, b) => a - b);
  const bases = [...new Set(names.filter((n) => n.kind !== 'snap').map((n) => n.base))].sort((a, b) => a - b);
  for (const [i, base] of bases.entries())
    out.logs.push(
      await readPair(
        directory,
        names.filter((n) => n.kind !== 'snap' && n.base === base),
        bases[i + 1],
        out,
      ),
    );

  let start = out.snapshots.at(-1) ?? 0;
  const snapshot = whole.get(start);
  if (snapshot) {
    out.snapshotBytes = snapshot.bytes;
    for (const payload of snapshot.records.values())
      apply(out, payload, fileName(snaps.find((n) => n.base === start)!));
  }
  if (!snapshot && part && out.logs[0]?.base !== 0) {
    start = part.name.base;
    out.losses.push({
      file: fileName(part.name),
      what: 'is damaged, and no older snapshot is there: a part of the state is lost',
    });
    for (const payload of part.found.records.values()) apply(out, payload, fileName(part.name));
  }
  replay(out, start);
  return out;
}

async function list(directory: string): Promise<string[]> {
  try {
    return (await readdir(directory)).sort();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return [];
    throw storageError(error, `cannot read the folder ${directory}`);
  }
}

async function readRecords(
  directory: string,
  n: RegistryFileName,
  out: RegistryFiles,
): Promise<(FoundRecords & { head: boolean; bytes: number }) | undefined> {
  let file: Buffer;
  try {
    file = await readFile(join(directory, fileName(n)));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (PASSING.has(code ?? '')) throw storageError(error, `cannot read ${join(directory, fileName(n))}`);
    out.problems.push({
      file: fileName(n),
      what: code === 'EISDIR' ? 'is a folder where a file belongs' : `cannot be read: ${message}`,
    });
    return undefined;
  }
  const bytes = new Uint8Array(file.buffer, file.byteOffset, file.length);
  const head = judgeHead(bytes, n);
  if (head === 'other')
    throw new MayflyError(
      'VERSION_MISMATCH',
      `${join(directory, fileName(n))} was written by another version of Mayfly, whose format this one does not ` +
        'read (the formats of Mayfly 0.2.0 are the first that later versions read). Open the data directory with ' +
        'the version that wrote it',
    );
  return { ...findRecords(bytes, n.base, n.salt), head: head === 'whole', bytes: bytes.length };
}

/** @param upTo where the next log begins */
async function readPair(
  directory: string,
  names: readonly RegistryFileName[],
  upTo: number | undefined,
  out: RegistryFiles,
): Promise<LogPair> {
  const { base } = names[0]!;
  const read: (Awaited<ReturnType<typeof readRecords>> & { name: RegistryFileName })[] = [];
  for (const name of names) {
    const r = await readRecords(directory, name, out);
    if (r) read.push({ ...r, name });
  }
  const all = new Map<number, Uint8Array>();
  let watermark = base;
  for (const r of read) {
    watermark = Math.max(watermark, r.watermark);
    for (const [number, payload] of r.records) if (!all.has(number)) all.set(number, payload);
  }
  // More than one pair of this base: making an earlier one failed, and it holds nothing.
  const { salt } = read.toSorted((a, b) => b.records.size - a.records.size)[0]?.name ?? names[0]!;
  const payloads: Uint8Array[] = [];
  for (let n = base; all.has(n); n++) {
    payloads.push(all.get(n)!);
    all.delete(n);
  }
  const pair: LogPair = { base, salt, payloads, lacking: [], beyond: all, watermark };
  for (const kind of ['log', 'twin'] as const) {
    const name = { base, salt, kind };
    const r = read.find((x) => x.name.kind === kind && x.name.salt === salt);
    if (r && r.front === payloads.length && r.head && !r.torn) continue;
    pair.lacking.push(kind);
    const other = kind === 'log' ? 'twin' : 'log';
    if (!r) {
      if (!names.some((x) => x.kind === kind && x.salt === salt))
        out.problems.push({
          file: fileName(name),
          what: `is missing; the same stands in ${fileName({ ...name, kind: other })}`,
        });
    } else if (
      !r.head ||
      r.watermark > base + r.front ||
      (r.torn && r.records.size > r.front) ||
      (upTo ?? watermark) > base + r.front
    )
      // Else it is what a crash leaves: a tail that was never acknowledged.
      out.problems.push({
        file: fileName(name),
        what: `is damaged${r.front < payloads.length || r.torn ? ` from commit ${base + r.front} on` : ' in its head'}`,
      });
  }
  return pair;
}

function apply(out: RegistryFiles, payload: Uint8Array, file: string): void {
  try {
    for (const [key, text] of decodeChanges(payload)) {
      if (text === undefined) out.state.delete(key);
      else out.state.set(key, text);
    }
  } catch {
    out.losses.push({ file, what: 'holds a record that cannot be read although its checksum is right' });
  }
}

function replay(out: RegistryFiles, start: number): void {
  let next = start;
  const logs = out.logs.filter((l) => l.base >= start);
  const nameOf = (l: LogPair): string => fileName({ base: l.base, salt: l.salt, kind: 'log' });
  const lost = (file: string, what: string, from: number, to: number): void =>
    void out.losses.push({
      file,
      what: `${what}: ${to - from === 1 ? `commit ${from} is` : `commits ${from} to ${to - 1} are`} lost`,
    });
  if (out.files > 0 && logs[0]?.base !== start && logs.length === 0)
    out.losses.push({
      file: fileName({ base: start, salt: 0, kind: 'log' }).replace(/-.*$/, '-*.log'),
      what: `and its twin are missing: the commits from ${start} on are lost`,
    });
  for (const [i, l] of logs.entries()) {
    const upTo = logs[i + 1]?.base;
    if (l.base > next) lost(nameOf(l), 'the log before it and its twin are missing or end too early', next, l.base);
    const count = upTo === undefined ? l.payloads.length : Math.min(l.payloads.length, upTo - l.base);
    for (let n = 0; n < count; n++) {
      apply(out, l.payloads[n]!, nameOf(l));
      out.logBytes += l.payloads[n]!.length;
    }
    next = l.base + count;
    // What was synced and is not there any more; the rest of the tail was never acknowledged.
    const owed = upTo ?? l.watermark;
    if (next >= owed) continue;
    const behind = [...l.beyond].filter(([n]) => upTo === undefined || n < upTo).sort(([a], [b]) => a - b);
    for (const [n, payload] of behind) {
      if (n > next) lost(nameOf(l), 'and its twin are damaged', next, n);
      apply(out, payload, nameOf(l));
      next = n + 1;
    }
    if (next < owed) lost(nameOf(l), 'and its twin are damaged', next, owed);
    next = Math.max(next, owed);
  }
  out.next = next;
}

/** The bytes of a log as it should be. */
export function encodeLog({ base, salt, payloads }: Pick<LogPair, 'base' | 'salt' | 'payloads'>): Uint8Array {
  return Buffer.concat([
    encodeRegistryHead(base, salt),
    ...payloads.map((p, i) => encodeRecords([p], salt, base + i, base + i)),
  ]);
}
