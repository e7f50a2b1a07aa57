/** Line charts of the figures as standalone SVG, readable on light and dark pages. Scales and paths are d3's. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { scaleLinear, scaleLog } from 'd3-scale';
import { line } from 'd3-shape';
import { ROOT } from './mayfly-side.ts';

export interface Chart {
  title: string;
  /** `log`: base 2; both ends of the data then have to be positive. */
  x: { label: string; log?: boolean; format?: (v: number) => string };
  y: { label: string };
  series: { name: string; points: readonly (readonly [x: number, y: number])[] }[];
  /** A horizontal line at the goal. */
  goal?: { y: number; label: string };
}

const [WIDTH, HEIGHT] = [720, 400];
const BOX = { left: 64, right: 24, top: 40, bottom: 92 };
const COLOURS = ['#2563eb', '#d97706', '#059669', '#db2777', '#7c3aed', '#0891b2', '#65a30d', '#dc2626'];

const escaped = (s: string): string => s.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

export function lineChart(chart: Chart): string {
  const xs = chart.series.flatMap((s) => s.points.map((p) => p[0]));
  const ys = [...chart.series.flatMap((s) => s.points.map((p) => p[1])), ...(chart.goal ? [chart.goal.y] : [])];
  const domain = [Math.min(...xs), Math.max(...xs)];
  const x = (chart.x.log ? scaleLog().base(2) : scaleLinear()).domain(domain).range([BOX.left, WIDTH - BOX.right]);
  const y = scaleLinear().domain([0, Math.max(...ys) * 1.05]).nice().range([HEIGHT - BOX.bottom, BOX.top]);
  const path = line<readonly [number, number]>((p) => x(p[0]), (p) => y(p[1]));
  const text = (at: number, down: number, s: string, more = ''): string => `<text x="${at.toFixed(1)}" y="${down.toFixed(1)}" ${more}>${escaped(s)}</text>`;

  const grid = y.ticks(6).map((v) => `<line class="grid" x1="${BOX.left}" x2="${WIDTH - BOX.right}" y1="${y(v).toFixed(1)}" y2="${y(v).toFixed(1)}"/>${text(BOX.left - 8, y(v) + 4, String(v), 'text-anchor="end"')}`);
  const marks = [...new Set(xs)].sort((a, b) => a - b);
  const under = marks.map((v) => text(x(v), HEIGHT - BOX.bottom + 18, (chart.x.format ?? String)(v), 'text-anchor="middle"'));
  const lines = chart.series.map((s, i) => {
    const colour = COLOURS[i % COLOURS.length]!;
    const dots = s.points.map((p) => `<circle cx="${x(p[0]).toFixed(1)}" cy="${y(p[1]).toFixed(1)}" r="3" fill="${colour}"/>`).join('');
    return `<path d="${path(s.points)!}" fill="none" stroke="${colour}" stroke-width="2"/>${dots}`;
  });
  const step = (WIDTH - BOX.left - BOX.right) / Math.min(4, chart.series.length);
  const legend = chart.series.map((s, i) => {
    const [at, down] = [BOX.left + (i % 4) * step, HEIGHT - 26 + Math.floor(i / 4) * 16];
    return `<rect x="${at}" y="${down - 9}" width="14" height="4" fill="${COLOURS[i % COLOURS.length]!}"/>${text(at + 20, down - 3, s.name)}`;
  });
  const goal = chart.goal
    ? `<line x1="${BOX.left}" x2="${WIDTH - BOX.right}" y1="${y(chart.goal.y).toFixed(1)}" y2="${y(chart.goal.y).toFixed(1)}" stroke="#888" stroke-dasharray="6 4"/>${text(WIDTH - BOX.right, y(chart.goal.y) - 5, chart.goal.label, 'text-anchor="end"')}`
    : '';
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="system-ui, sans-serif" font-size="12" role="img" aria-label="${escaped(chart.title)}">
<style>text{fill:#222}.grid{stroke:#ddd}@media(prefers-color-scheme:dark){text{fill:#ddd}.grid{stroke:#444}}</style>
${text(BOX.left, 22, chart.title, 'font-size="15" font-weight="600"')}
${grid.join('\n')}
${under.join('\n')}
${text((BOX.left + WIDTH - BOX.right) / 2, HEIGHT - BOX.bottom + 38, chart.x.label, 'text-anchor="middle"')}
<text transform="translate(16 ${(BOX.top + HEIGHT - BOX.bottom) / 2}) rotate(-90)" text-anchor="middle">${escaped(chart.y.label)}</text>
${goal}
${lines.join('\n')}
${legend.join('\n')}
</svg>
`;
}

/** Draws into docs/figures/<name>.svg. */
export async function draw(name: string, chart: Chart): Promise<void> {
  const dir = join(ROOT, 'docs', 'figures');
  await mkdir(dir, { recursive: true });
  await writeFile(join(dir, `${name}.svg`), lineChart(chart));
  console.log(`  drawn: docs/figures/${name}.svg`);
}
