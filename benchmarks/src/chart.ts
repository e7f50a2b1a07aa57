/**
 * Line and bar charts of the figures as standalone SVG, readable on light and dark pages. Scales and paths are d3's.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { scaleBand, scaleLinear, scaleLog } from 'd3-scale';
import { line } from 'd3-shape';
import { ROOT } from './mayfly-side.ts';
import { SHORT } from './short.ts';

interface Frame {
  title: string;
  y: { label: string };
  /** A horizontal line at the goal. */
  goal?: { y: number; label: string };
}

export interface LineChart extends Frame {
  /** `log`: base 2; both ends of the data then have to be positive. */
  x: { label: string; log?: boolean; format?: (v: number) => string };
  series: { name: string; points: readonly (readonly [x: number, y: number])[] }[];
}

/** A bar per name, of parts that stand on each other. */
export interface BarChart extends Frame {
  parts: readonly string[];
  bars: { name: string; values: readonly number[] }[];
}

const [WIDTH, HEIGHT] = [720, 400];
const BOX = { left: 64, right: 24, top: 40, bottom: 92 };
const COLOURS = ['#2563eb', '#d97706', '#059669', '#db2777', '#7c3aed', '#0891b2', '#65a30d', '#dc2626'];

const escaped = (s: string): string => s.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
const text = (at: number, down: number, s: string, more = ''): string =>
  `<text x="${at.toFixed(1)}" y="${down.toFixed(1)}" ${more}>${escaped(s)}</text>`;
const colourOf = (i: number): string => COLOURS[i % COLOURS.length]!;
const upTo = (most: number, frame: Frame) =>
  scaleLinear()
    .domain([0, Math.max(most, frame.goal?.y ?? 0) * 1.05])
    .nice()
    .range([HEIGHT - BOX.bottom, BOX.top]);

/** What all charts have: title, grid and labels of the y axis, goal and legend around what is drawn. */
function framed(frame: Frame, y: ReturnType<typeof upTo>, names: readonly string[], drawn: readonly string[]): string {
  const across = (v: number, look: string): string =>
    `<line x1="${BOX.left}" x2="${WIDTH - BOX.right}" y1="${y(v).toFixed(1)}" y2="${y(v).toFixed(1)}" ${look}/>`;
  const grid = y
    .ticks(6)
    .map((v) => across(v, 'class="grid"') + text(BOX.left - 8, y(v) + 4, String(v), 'text-anchor="end"'));
  const step = (WIDTH - BOX.left - BOX.right) / Math.min(4, names.length);
  const legend = names.map((name, i) => {
    const [at, down] = [BOX.left + (i % 4) * step, HEIGHT - 26 + Math.floor(i / 4) * 16];
    return (
      `<rect x="${at}" y="${down - 9}" width="14" height="4" ` +
      `fill="${colourOf(i)}"/>${text(at + 20, down - 3, name)}`
    );
  });
  const goal = frame.goal
    ? [
        across(frame.goal.y, 'stroke="#888" stroke-dasharray="6 4"') +
          text(WIDTH - BOX.right, y(frame.goal.y) - 5, frame.goal.label, 'text-anchor="end"'),
      ]
    : [];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="system-ui, sans-serif" font-size="12" role="img" aria-label="${escaped(frame.title)}">
<style>text{fill:#222}.grid{stroke:#ddd}@media(prefers-color-scheme:dark){text{fill:#ddd}.grid{stroke:#444}}</style>
${text(BOX.left, 22, frame.title, 'font-size="15" font-weight="600"')}
<text transform="translate(16 ${(BOX.top + HEIGHT - BOX.bottom) / 2}) rotate(-90)" text-anchor="middle">${escaped(frame.y.label)}</text>
${[...grid, ...drawn, ...goal, ...legend].join('\n')}
</svg>
`;
}

function lineChart(chart: LineChart): string {
  const xs = chart.series.flatMap((s) => s.points.map((p) => p[0]));
  const domain = [Math.min(...xs), Math.max(...xs)];
  const x = (chart.x.log ? scaleLog().base(2) : scaleLinear()).domain(domain).range([BOX.left, WIDTH - BOX.right]);
  const y = upTo(Math.max(...chart.series.flatMap((s) => s.points.map((p) => p[1]))), chart);
  const path = line<readonly [number, number]>(
    (p) => x(p[0]),
    (p) => y(p[1]),
  );
  const marks = [...new Set(xs)].sort((a, b) => a - b);
  const under = marks.map((v) =>
    text(x(v), HEIGHT - BOX.bottom + 18, (chart.x.format ?? String)(v), 'text-anchor="middle"'),
  );
  const lines = chart.series.map((s, i) => {
    const dots = s.points
      .map((p) => `<circle cx="${x(p[0]).toFixed(1)}" cy="${y(p[1]).toFixed(1)}" r="3" fill="${colourOf(i)}"/>`)
      .join('');
    return `<path d="${path(s.points)!}" fill="none" stroke="${colourOf(i)}" stroke-width="2"/>${dots}`;
  });
  const label = text(
    (BOX.left + WIDTH - BOX.right) / 2,
    HEIGHT - BOX.bottom + 38,
    chart.x.label,
    'text-anchor="middle"',
  );
  return framed(
    chart,
    y,
    chart.series.map((s) => s.name),
    [...under, label, ...lines],
  );
}

function barChart(chart: BarChart): string {
  const x = scaleBand()
    .domain(chart.bars.map((b) => b.name))
    .range([BOX.left, WIDTH - BOX.right])
    .padding(0.35);
  const y = upTo(Math.max(...chart.bars.map((b) => b.values.reduce((sum, v) => sum + v, 0))), chart);
  const bars = chart.bars.map(({ name, values }) => {
    let below = 0;
    const rects = values.map((v, i) => {
      const [from, to] = [y(below), y((below += v))];
      return (
        `<rect x="${x(name)!.toFixed(1)}" width="${x.bandwidth().toFixed(1)}" y="${to.toFixed(1)}" ` +
        `height="${(from - to).toFixed(1)}" fill="${colourOf(i)}"/>`
      );
    });
    return rects.join('') + text(x(name)! + x.bandwidth() / 2, HEIGHT - BOX.bottom + 18, name, 'text-anchor="middle"');
  });
  return framed(chart, y, chart.parts, bars);
}

/** Draws into docs/figures/<name>.svg. */
export async function draw(name: string, chart: LineChart | BarChart): Promise<void> {
  if (SHORT) return;
  const dir = join(ROOT, 'docs', 'figures');
  await mkdir(dir, { recursive: true });
  await writeFile(join(dir, `${name}.svg`), 'bars' in chart ? barChart(chart) : lineChart(chart));
  console.log(`  drawn: docs/figures/${name}.svg`);
}
