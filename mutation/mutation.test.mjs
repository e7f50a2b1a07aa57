/**
 * The mutator itself: what it draws follows from the seed alone, and its judge tells apart what passes, what is wrong
 * and what never ends.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { drawn } from './draw.mjs';
import { Judge } from './judge.mjs';
import { changed, changesOf } from './operators.mjs';
import { Results } from './results.mjs';

const root = join(import.meta.dirname, '..');
const made = (text) => changesOf(text).map((c) => changed(text, c));

describe('operators', () => {
  test('change what runs, and nothing that is only read', () => {
    expect(made('if (a < b) f();')).toEqual([
      'if (false) f();',
      'if (true) f();',
      'if (a <= b) f();',
      'if (a >= b) f();',
      'if (a < b) ;',
    ]);
    expect(made('const x = !a && b + 1;').sort()).toEqual(
      ['const x = !a || b + 1;', 'const x = !a && b + 0;', 'const x = !a && b - 1;', 'const x = a && b + 1;'].sort(),
    );
    expect(made('for (const x of xs) { if (x) continue; n--; }')).toContain('for (const x of xs) { if (x) ; n--; }');
    expect(made('const f = () => { if (a) return; g(); };')).toContain('const f = () => { if (a) ; g(); };');
    expect(made('const f = (xs) => { return xs.some(g); };')).toEqual(['const f = (xs) => { return !(xs.some(g)); };']);
    expect(made('const x = [a]; const y = { a };')).toEqual([
      'const x = []; const y = { a };',
      'const x = [a]; const y = {};',
    ]);
    const read =
      "import { a } from 'b'; export type T = 0 | 1; interface I { n: 1 } " +
      "throw new Error(`${n + 1} of ${1}`); out.push({ type: 'log', message: x + y });";
    expect(made(read)).toEqual([]);
  });
});

describe('the draw', () => {
  const ids = (seed, only) => drawn({ root, folder: 'packages/protocols/src', seed, only }).map((m) => m.id);

  test('is the same for the same seed, and another for another', () => {
    const one = ids('1', 'files/');
    expect(one.length).toBeGreaterThan(200);
    expect(new Set(one).size).toBe(one.length);
    expect(ids('1', 'files/')).toEqual(one);
    const two = ids('2', 'files/');
    expect(two).not.toEqual(one);
    expect([...two].sort()).toEqual([...one].sort());
  });
});

describe('the judge', () => {
  const judge = new Judge();
  afterAll(() => judge.close());
  const file = 'packages/protocols/src/failure-detector.ts';
  const tests = ['packages/protocols/test/failure-detector.test.ts'];
  const source = readFileSync(join(root, file), 'utf8');
  const planted = (before, after) => {
    expect(source).toContain(before);
    return { file, text: source.replaceAll(before, after), tests };
  };

  test('passes the sources as they are, kills a planted bug, ends what never ends, and goes on', async () => {
    expect(await judge.run({ tests }, 60_000)).toMatchObject({ verdict: 'passed' });
    expect(await judge.run(planted(' > ', ' < '), 60_000)).toMatchObject({
      verdict: 'killed',
      by: tests[0],
      loaded: true,
    });
    expect(await judge.run({ file, text: `for (;;);\n${source}`, tests }, 3000)).toMatchObject({
      verdict: 'endless',
    });
    expect(await judge.run({ file, text: `${source}\n// no change`, tests }, 60_000)).toMatchObject({
      verdict: 'passed',
      loaded: true,
    });
  });
});

describe('the results', () => {
  const folder = mkdtempSync(join(tmpdir(), 'mayfly-mutation-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('R1–R3: a verdict stands for the same sources and tests, else it is a hint; a cut line is passed over', () => {
    const path = join(folder, 'kept.jsonl');
    const first = new Results(path, { sources: 's', tests: 't' });
    first.add({ id: 'a', file: 'f', verdict: 'killed', by: 'x.test.ts' });
    first.add({ id: 'b', file: 'f', verdict: 'does not compile' });
    writeFileSync(path, `${readFileSync(path, 'utf8')}{"id":"c","file":"f","verd`);
    const again = new Results(path, { sources: 's', tests: 't' });
    again.add({ id: 'd', file: 'f', verdict: 'passed' });
    expect(['a', 'b', 'c', 'd'].map((id) => new Results(path, { sources: 's', tests: 't' }).of(id)?.verdict)).toEqual([
      'killed',
      'does not compile',
      undefined,
      'passed',
    ]);
    const otherTests = new Results(path, { sources: 's', tests: 'u' });
    expect(['a', 'b', 'd'].map((id) => otherTests.of(id)?.verdict)).toEqual([undefined, 'does not compile', undefined]);
    expect([otherTests.hint('a'), otherTests.compiles('a'), otherTests.kills('f', 'x.test.ts')]).toEqual([
      'x.test.ts',
      true,
      1,
    ]);
    const otherSources = new Results(path, { sources: 'r', tests: 'v' });
    expect([otherSources.of('b'), otherSources.compiles('a'), otherSources.hint('a')]).toEqual([
      undefined,
      false,
      'x.test.ts',
    ]);
  });
});
