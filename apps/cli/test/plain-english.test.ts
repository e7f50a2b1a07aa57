/**
 * Texts that people read keep to plain English: words that made readers stop do not come back into pages, errors,
 * `--help` and documents.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../../..');

/** A word or phrase, and what to write in its place. */
const AVOID: [RegExp, string][] = [
  [/\banew\b/i, 'again, or a verb with re-'],
  [/\bwhoever\b/i, 'a noun: the owner, anyone who'],
  [/\b(?:of|by) itself\b/i, 'automatically, on its own'],
  [/\bas such\b/i, 'nothing'],
  [/\b(?:is|are|was|were|been) told\b/i, 'an active verb: report, notify'],
  [/\bwill not have\b/i, 'reject'],
  [/(?<!there )\bis no (?:text|module|archive|rank|file|token|path|name)\b/i, 'is not a …, or: invalid …'],
];

const findings = (text: string): string[] =>
  AVOID.filter(([word]) => word.test(text)).map(
    ([word, better]) => `“${word.exec(text)![0]}” (write ${better}) in: ${text.replace(/\s+/g, ' ').slice(0, 120)}`,
  );

function sources(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((f) => /\.tsx?$/.test(f) && !/\.(?:test|d)\.ts$/.test(f) && !/(?:^|\/)(?:node_modules|dist)\//.test(f))
    .map((f) => join(folder, f));
}

/** What a program can show: string literals, templates and the text of JSX; not comments. */
function textsOf(name: string, code: string): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node) || ts.isJsxText(node)) found.push(node.text);
    else if (ts.isTemplateExpression(node)) found.push(node.getText());
    ts.forEachChild(node, visit);
  };
  visit(
    ts.createSourceFile(
      name,
      code,
      ts.ScriptTarget.Latest,
      true,
      name.endsWith('x') ? ts.ScriptKind.TSX : ts.ScriptKind.TS,
    ),
  );
  return found;
}

describe('plain English', () => {
  it('is what the check asks for', () => {
    const code =
      'export const P = () => <p title="Make it anew">{`${n} is told`} It goes on by itself.</p>; // whoever';
    expect(textsOf('p.tsx', code).flatMap(findings)).toHaveLength(3);
  });

  it.each([
    'apps/web/src',
    'apps/server/src',
    'apps/cli/src',
    'packages/wire/src',
    'packages/node/src',
    'packages/mpi/src',
    'packages/libmpi/src',
    'packages/protocols/src',
    'packages/toolchain/src',
    'packages/storage/src',
  ])('%s', (folder) => {
    const all = sources(folder).flatMap((file) => {
      const code = readFileSync(join(root, file), 'utf8');
      // Most files have none of the words, not even in comments: they need no parser.
      return findings(code).length === 0
        ? []
        : textsOf(file, code).flatMap((text) => findings(text).map((f) => `${file}: ${f}`));
    });
    expect(all).toEqual([]);
  });

  // The two coverage pages and the reference are written by their own tests, from texts elsewhere.
  const pages = readdirSync(join(root, 'docs'))
    .filter((f) => f.endsWith('.md') && !/^(?:mpi-coverage|typescript-)/.test(f))
    .map((f) => `docs/${f}`);

  it.each(['README.md', 'CONTRIBUTING.md', 'apps/cli/README.md', ...pages])('%s', (file) => {
    expect(readFileSync(join(root, file), 'utf8').split('\n').flatMap(findings)).toEqual([]);
  });
});
