/**
 * Tables whose content changes while somebody looks have columns of fixed widths: the class `fixed` (styles/parts.css).
 * That they stand still with short and with long content: playwright/tests/layout.spec.ts, which a new one joins.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const SOURCES = import.meta.dirname;

/** By file: tables without fixed columns, and why their content does not change under anybody's eyes. */
const EXEMPT: Readonly<Record<string, { tables: number; why: string }>> = {
  'report/Report.tsx': { tables: 1, why: 'a report is made when it is asked for, and does not grow' },
};
/** Fixed while somebody watches, and free in a report, which does not grow. */
const WATCHED = "${watched ? ' fixed' : ''}";

const tablesOf = (source: string): string[] => source.match(/<table\b[^>]*>/g) ?? [];
const isFixed = (tag: string): boolean => tag.includes(WATCHED) || /className=("|\{`)([^"`]* )?fixed[ "`$]/.test(tag);

test('a table in the pages has fixed columns, or a reason why not', () => {
  const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter((f) => f.endsWith('.tsx'));
  const free: Record<string, number> = {};
  let fixed = 0;
  for (const file of files)
    for (const tag of tablesOf(readFileSync(join(SOURCES, file), 'utf8'))) {
      if (isFixed(tag)) fixed++;
      else free[file.replaceAll('\\', '/')] = (free[file.replaceAll('\\', '/')] ?? 0) + 1;
    }
  expect(fixed).toBeGreaterThan(15);
  expect(free).toEqual(Object.fromEntries(Object.entries(EXEMPT).map(([file, { tables }]) => [file, tables])));
});

test('the class makes columns fixed', () => {
  expect(readFileSync(join(SOURCES, 'styles/parts.css'), 'utf8')).toMatch(
    /^table\.fixed \{\s*table-layout: fixed;\s*\}/m,
  );
  for (const tag of ['<table className="table">', '<table className="table num unfixed">', '<table>'])
    expect(isFixed(tag), tag).toBe(false);
});
