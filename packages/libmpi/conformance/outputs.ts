/**
 * The programs of this folder and what they have to print. A program's output is, per rank, one line per test;
 * collated, lines that all ranks share stand once. What Debian's MPICH printed natively is recorded in expected/; where
 * a test fails there (the line says FAILED), or is not compiled because that library is of an older version of the
 * standard, the test has to be ok all the same: it says itself what is right.
 */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export interface Conformance {
  name: string;
  source: string;
  /** Numbers of ranks that it is run on: the comment at its beginning. */
  ranks: number[];
  /** And, behind a bar there, on so many on real nodes only. */
  more: number[];
  /** Names of its tests, with the least number of ranks. */
  tests: Map<string, number>;
}

/** This folder; given by those who run it from a bundle. */
export const HERE = (): string => fileURLToPath(new URL('.', import.meta.url));

export function programs(folder = HERE()): Conformance[] {
  return readdirSync(folder)
    .filter((f) => f.endsWith('.c'))
    .sort()
    .map((file) => {
      const source = readFileSync(`${folder}/${file}`, 'utf8');
      const [ranks = [1], more = []] = (/ranks: ([\d |]+)/.exec(source)?.[1] ?? '1')
        .split('|')
        .map((list) => list.trim().split(/ +/).map(Number));
      const tests = new Map(
        [...source.matchAll(/^(?:TEST\((\w+), (\d+)|(?:WRONG|CLASS|RAISED)\((\w+)),/gm)].map((m) => [
          m[1] ?? m[3]!,
          Number(m[2] ?? 1),
        ]),
      );
      return { name: file.slice(0, -2), source, ranks, more, tests };
    });
}

/** Standard output of every rank (or of all of them mixed) as one text, in the order of the tests. */
export function collate(program: Conformance, outputs: readonly string[]): string {
  const lines = new Map<string, Map<string, number[]>>();
  for (const line of outputs.join('\n').split('\n')) {
    const m = /^(\d+) (\w+): (.*)$/.exec(line);
    if (!m) continue;
    const texts = lines.get(m[2]!) ?? new Map<string, number[]>();
    lines.set(m[2]!, texts);
    texts.set(m[3]!, [...(texts.get(m[3]!) ?? []), Number(m[1])]);
  }
  const order = [...program.tests.keys()].filter((t) => lines.has(t));
  return order
    .map((t) =>
      [...lines.get(t)!]
        .map(([text, ranks]) => [ranks.sort((a, b) => a - b), text] as const)
        .sort((a, b) => a[0][0]! - b[0][0]!)
        .map(([ranks, text]) => `${t} @${spans(ranks)}: ${text}\n`)
        .join(''),
    )
    .join('');
}

/** 0,1,2,5 → '0-2,5' */
function spans(ranks: readonly number[]): string {
  const out: string[] = [];
  for (let i = 0; i < ranks.length;) {
    let k = i;
    while (ranks[k + 1] === ranks[k]! + 1) k++;
    out.push(k > i ? `${ranks[i]}-${ranks[k]}` : String(ranks[i]));
    i = k + 1;
  }
  return out.join(',');
}

const byTest = (text: string): Map<string, string[]> => {
  const out = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const m = /^(\w+) (@.*)$/.exec(line);
    if (m) out.set(m[1]!, [...(out.get(m[1]!) ?? []), m[2]!]);
  }
  return out;
};

/** The recorded output on so many ranks. */
export function recorded(program: Conformance, ranks: number, folder = HERE()): string {
  const file = `${folder}/expected/${program.name}.txt`;
  if (!existsSync(file)) return '';
  return (
    readFileSync(file, 'utf8')
      .split(/^== /m)
      .find((s) => s.startsWith(`${ranks} ranks\n`)) ?? ''
  );
}

export interface Verdict {
  passed: number;
  /** Tests that the native library fails, or does not have. */
  alone: number;
  problems: string[];
}

export function judge(program: Conformance, ranks: number, collated: string, expected: string): Verdict {
  const got = byTest(collated);
  const wanted = byTest(expected);
  const v: Verdict = { passed: 0, alone: 0, problems: [] };
  for (const [test, least] of program.tests) {
    if (least > ranks) continue;
    const lines = got.get(test);
    const native = wanted.get(test)?.some((l) => l.includes(': FAILED')) ? undefined : wanted.get(test);
    if (!lines) v.problems.push(`${test}: no output`);
    else if (
      native ? native.join('\n') !== lines.join('\n') : lines.length > 1 && lines.some((l) => l.includes(': FAILED'))
    )
      v.problems.push(...lines.map((l) => `${test} ${l}`), ...(native ?? []).map((l) => `    native: ${l}`));
    else if (lines.some((l) => l.includes(': FAILED'))) v.problems.push(...lines.map((l) => `${test} ${l}`));
    else if (covered(lines) !== ranks) v.problems.push(`${test}: ${covered(lines)} of ${ranks} ranks`);
    else {
      v.passed++;
      if (!native) v.alone++;
    }
  }
  return v;
}

/** Number of ranks in '@0-2,5: …'. */
const covered = (lines: readonly string[]): number =>
  lines
    .flatMap((l) => /^@([\d,-]+):/.exec(l)![1]!.split(','))
    .reduce((n, s) => {
      const [a, b] = s.split('-').map(Number);
      return n + (b ?? a!) - a! + 1;
    }, 0);
