/**
 * Every example compiles with the real toolchain without a warning, and its parts that need no MPI are right. Runs on
 * nodes: playwright/.
 */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inflateSync, crc32 as zlibCrc } from 'node:zlib';
import { createCompiler, readProgram, type Compiler } from '@mayfly/toolchain';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseMatrixMarket, partition, poisson } from './cg/matrix.ts';
import { temperature } from './heat/exact.ts';
import { thermal } from './heat/palette.ts';
import { Png } from './heat/png.ts';
import { escapeTimes } from './mandelbrot/escape.ts';

const here = fileURLToPath(new URL('.', import.meta.url));
/** Folders with a manifest; a folder without one (`nas-common`) holds what several examples share. */
const names = readdirSync(here).filter((n) => existsSync(join(here, n, 'example.json')));
const manifest = (name: string): Manifest =>
  JSON.parse(readFileSync(join(here, name, 'example.json'), 'utf8')) as Manifest;
const isC = (name: string): boolean => manifest(name).language !== undefined;
const NAMES = ['cg', 'heat', 'mandelbrot', 'pi', 'ring', 'sample-sort'];

interface Manifest {
  title: string;
  description: string;
  size: number;
  /** TypeScript */
  entry: string;
  /** C and C++: paths from the folder, which stay below examples/. */
  language?: 'c' | 'c++';
  sources?: string[];
  flags?: string[];
  args: string[];
  files: string[];
}

/** Those that each must have. */
const keysOf = (about: Manifest): string[] =>
  Object.keys(about)
    .filter((k) => k !== 'options' && k !== 'place')
    .sort();

let compiler: Compiler;
beforeAll(() => {
  compiler = createCompiler();
});
afterAll(() => compiler.close());

it.each(names)('%s states its progress', (name) => {
  const sources = isC(name) ? manifest(name).sources! : [manifest(name).entry];
  const own = sources.filter((path) => !path.startsWith('../'));
  expect(own.map((path) => readFileSync(join(here, name, path), 'utf8')).join('')).toMatch(/[ .](state_)?progress\(/);
});

it('are all here', () => expect(names.filter((n) => !isC(n)).sort()).toEqual(NAMES));

describe.each(NAMES)('%s', (name) => {
  const folder = join(here, name);
  const about = manifest(name);

  it('says what it is', () => {
    expect(keysOf(about)).toEqual(['args', 'description', 'entry', 'files', 'size', 'title']);
    expect(about.size).toBeGreaterThan(0);
    for (const f of about.files) expect(existsSync(join(folder, f))).toBe(true);
    const readme = readFileSync(join(folder, 'README.md'), 'utf8');
    expect(readme).toContain('**Check:**');
    for (const option of readFileSync(join(folder, about.entry), 'utf8').matchAll(/option\('([a-z]+)'/g))
      expect(readme).toContain(`--${option[1]!}\``);
  });
  it('compiles without a warning', async () => {
    const program = await readProgram(join(folder, about.entry));
    const texts = readdirSync(folder).filter((n) => n.endsWith('.ts'));
    // The server offers the whole folder; nothing in it is superfluous.
    expect(Object.keys(program.sources).sort()).toEqual(texts.sort());
    const result = await compiler.compile(program);
    expect(result.ok ? result.warnings : result.diagnostics).toEqual([]);
  });
});

describe.each(names.filter(isC))('%s', (name) => {
  const folder = join(here, name);
  const about = manifest(name);

  it('says what it is', () => {
    expect(keysOf(about)).toEqual(['args', 'description', 'files', 'flags', 'language', 'size', 'sources', 'title']);
    expect(readFileSync(join(folder, 'README.md'), 'utf8')).toContain('**Check:**');
  });
  it('lists every source that is in it or that it includes, and nothing else', () => {
    const sources = about.sources!;
    for (const path of [...sources, ...about.files]) {
      expect(relative(here, join(folder, path)), path).not.toMatch(/^\.\./);
      expect(existsSync(join(folder, path)), path).toBe(true);
    }
    const texts = readdirSync(folder).filter((n) => /\.(c|h|cc|cpp|hpp)$/.test(n));
    expect(sources.filter((s) => !s.startsWith('..')).sort()).toEqual(texts.sort());
    for (const path of sources)
      for (const [, included] of readFileSync(join(folder, path), 'utf8').matchAll(/#include "(.+)"/g))
        expect(sources, path).toContain(relative(folder, join(folder, dirname(path), included!)));
  });
  it('has a row among the native runs, and the output that is expected of it', () => {
    const rows = (
      JSON.parse(readFileSync(join(here, 'native-runs.json'), 'utf8')) as {
        name: string;
        ranks: number[];
        expected?: string;
      }[]
    ).filter((row) => row.name === name);
    expect(rows.length).toBeGreaterThan(0);
    for (const { ranks, expected } of rows)
      for (const n of ranks)
        expect(
          existsSync(join(folder, `${expected ?? 'expected'}-${n}.txt`)),
          `${expected ?? 'expected'}-${n}.txt`,
        ).toBe(true);
  });
});

describe('the picture file', () => {
  it('is the same in both examples', () => {
    expect(readFileSync(join(here, 'mandelbrot/png.ts'), 'utf8')).toBe(readFileSync(join(here, 'heat/png.ts'), 'utf8'));
  });

  interface Chunk {
    type: string;
    data: Uint8Array;
  }
  function chunksOf(file: Uint8Array): Chunk[] {
    expect([...file.subarray(0, 8)]).toEqual([137, 80, 78, 71, 13, 10, 26, 10]);
    const v = new DataView(file.buffer, file.byteOffset, file.byteLength);
    const chunks: Chunk[] = [];
    for (let at = 8; at < file.length;) {
      const length = v.getUint32(at);
      const body = file.subarray(at + 4, at + 8 + length);
      expect(v.getUint32(at + 8 + length)).toBe(crc(body));
      chunks.push({ type: Buffer.from(body.subarray(0, 4)).toString(), data: body.subarray(4) });
      at += 12 + length;
    }
    return chunks;
  }
  // zlib.crc32 came with Node 20.15.
  const crc = (bytes: Uint8Array): number => zlibCrc(bytes);
  const rows = (file: Uint8Array): Buffer =>
    inflateSync(
      Buffer.concat(
        chunksOf(file)
          .filter((c) => c.type === 'IDAT')
          .map((c) => c.data),
      ),
    );

  it.each([
    [5, 7, 3],
    [300, 217, 217],
    [254, 254, undefined],
    [1, 1, undefined],
    [768, 512, 8],
  ] as const)('holds %d × %d pixels in bands of %s rows', (width, height, band) => {
    const png = new Png(width, height, thermal(), band);
    const colours = Uint8Array.from({ length: width * height }, (_, i) => (i * 7919) % 256);
    expect(rows(png.bytes).every((b) => b === 0)).toBe(true);
    png.setAll(colours);
    const raw = rows(png.bytes);
    expect(raw.length).toBe((width + 1) * height);
    for (let y = 0; y < height; y++)
      expect(
        raw.subarray(y * (width + 1) + 1, (y + 1) * (width + 1)).equals(colours.subarray(y * width, (y + 1) * width)),
      ).toBe(true);
    expect(chunksOf(png.bytes).map((c) => c.type)).toEqual([
      'IHDR',
      'PLTE',
      ...Array.from({ length: png.bands + 1 }, () => 'IDAT'),
      'IEND',
    ]);
  });
  it('is valid after each part that is written, in any order', () => {
    const [width, height, band] = [40, 30, 8];
    const png = new Png(width, height, thermal(), band);
    const file = png.bytes.slice();
    for (const k of [2, 0, 3, 1]) {
      for (const { offset, bytes } of png.setBand(k, new Uint8Array(width * png.rowsOf(k)).fill(k + 1)))
        file.set(bytes, offset);
      expect(file).toEqual(png.bytes);
      expect(rows(file)[(k * band + 1) * (width + 1) + 1]).toBe(k + 1);
    }
  });
});

describe('the parts of the programs', () => {
  it('cg reads the matrices', () => {
    const bus = parseMatrixMarket(readFileSync(join(here, 'cg/1138_bus.mtx'), 'utf8'));
    expect([bus.n, bus.value.length]).toEqual([1138, 2 * 2596 - 1138]);
    const floor = parseMatrixMarket(readFileSync(join(here, 'cg/bcsstk26.mtx'), 'utf8'));
    expect([floor.n, floor.value.length]).toEqual([1922, 2 * 16129 - 1922]);
    expect(() => parseMatrixMarket('%%MatrixMarket matrix array real general\n1 1\n1')).toThrow('coordinate');
    expect(() => parseMatrixMarket('%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1')).toThrow(
      '1 entries less',
    );
    for (const parts of [1, 2, 3, 4, 7, 64]) {
      const bounds = partition(bus, parts);
      expect(bounds).toHaveLength(parts + 1);
      expect(bounds).toEqual([...bounds].sort((a, b) => a - b));
      expect([bounds[0], bounds.at(-1)]).toEqual([0, 1138]);
    }
    expect(partition(poisson(2), 9).at(-1)).toBe(4);
    expect([...poisson(2).column]).toEqual([0, 1, 2, 0, 1, 3, 0, 2, 3, 1, 2, 3]);
  });
  it('heat: a Jacobi step on the exact answer is the exact answer of the next step', () => {
    const n = 30;
    for (const steps of [0, 17]) {
      const [u, v] = [temperature(n, steps), temperature(n, steps + 1)];
      for (const [i, j] of [
        [1, 1],
        [7, 22],
        [30, 15],
        [n, n],
      ] as const)
        expect(Math.abs((u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1)) / 4 - v(i, j))).toBeLessThan(1e-14);
    }
  });
  it('mandelbrot: knows points of the set', () => {
    const view = { width: 3, height: 1, left: -1.5, top: 0.5, scale: 1 };
    expect([...escapeTimes(view, 0, 1, 100)]).toEqual([100, 100, 3]);
  });
});
