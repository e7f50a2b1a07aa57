/** What a campaign did, as tables: by kind of fault, by example. */
import { KINDS } from './kinds.ts';
import type { JobReport } from './campaign.ts';
import type { TeamRestarts } from './wave.ts';

const median = (sorted: readonly number[]): number => sorted[Math.floor(sorted.length / 2)] ?? 0;

export function histogram(reports: readonly JobReport[]): string {
  const struck = reports.flatMap((r) => r.struck);
  const lines = [
    `${'kind'.padEnd(16)}${'faults'.padStart(7)}${'midway'.padStart(8)}${'overlapping'.padStart(13)}${'ranks lost'.padStart(12)}${'recovered in ms: median'.padStart(25)}${'worst'.padStart(8)}`,
  ];
  for (const { name } of KINDS) {
    const of = struck.filter((s) => s.kind === name);
    if (of.length === 0) continue;
    const times = of
      .filter((s) => s.lost.length > 0)
      .map((s) => s.recoveredAfterMs)
      .sort((a, b) => a - b);
    const lost = of.reduce((n, s) => n + s.lost.length, 0);
    lines.push(
      `${name.padEnd(16)}${String(of.length).padStart(7)}${String(of.filter((s) => s.midway).length).padStart(8)}${String(of.filter((s) => s.overlaps).length).padStart(13)}${String(lost).padStart(12)}${(times.length ? String(median(times)) : '–').padStart(25)}${(times.length ? String(times.at(-1)) : '–').padStart(8)}`,
    );
  }
  const midway = struck.filter((s) => s.midway).length;
  lines.push(
    `${'all'.padEnd(16)}${String(struck.length).padStart(7)}${String(midway).padStart(8)}${String(struck.filter((s) => s.overlaps).length).padStart(13)}${String(struck.reduce((n, s) => n + s.lost.length, 0)).padStart(12)}`,
  );
  return lines.join('\n');
}

/** What became of lost teams; empty: there were none. */
export function ofTeams(reports: readonly JobReport[]): string {
  const teams = reports.flatMap((r) => r.struck.map((s) => s.teams));
  const sum = (of: keyof TeamRestarts): number => teams.reduce((n, t) => n + t[of], 0);
  if (sum('lost') === 0) return '';
  return (
    `teams lost: ${sum('lost')}; restarted with more ranks than slots: ${sum('oversubscribed')}; ` +
    `moved between a tab and a headless node: ${sum('moved')}`
  );
}

/** A row for each example, in the order in which they came. */
export function byExample(reports: readonly JobReport[]): string {
  const lines = [
    `${'example'.padEnd(20)}${'jobs'.padStart(6)}${'kills'.padStart(7)}${'midway'.padStart(8)}${'all at once'.padStart(13)}${'ranks lost'.padStart(12)}${'recovered in ms: median'.padStart(25)}${'worst'.padStart(8)} ` +
      ' answer',
  ];
  for (const example of new Set(reports.map((r) => r.example))) {
    const of = reports.filter((r) => r.example === example);
    const struck = of.flatMap((r) => r.struck);
    const times = struck
      .filter((s) => s.lost.length > 0)
      .map((s) => s.recoveredAfterMs)
      .sort((a, b) => a - b);
    const wrong = of.filter((r) => r.wrong !== undefined).length;
    const cells = [
      of.length,
      struck.length,
      struck.filter((s) => s.midway).length,
      struck.filter((s) => s.kind === 'everybody').length,
      struck.reduce((n, s) => n + s.lost.length, 0),
      median(times),
      times.at(-1) ?? 0,
    ].map(String);
    lines.push(
      example.padEnd(20) +
        cells.map((c, i) => c.padStart([6, 7, 8, 13, 12, 25, 8][i]!)).join('') +
        (wrong === 0 ? '  the same' : `  ${wrong} WRONG`),
    );
  }
  return lines.join('\n');
}
