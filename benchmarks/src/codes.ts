/**
 * Erasure codes: how fast members are encoded per coefficient, in Node and in a Chromium tab, against a copy and an
 * exclusive or in JavaScript in the same run.
 *
 * Goal: 1.5 GB/s per coefficient. The exit code says whether every number with SIMD reaches half of it (the machine is
 * noisy).
 */
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CHECKSUMS, measure, type Speeds } from './codes-measure.ts';
import { launchBrowser } from './mayfly-side.ts';
import { quick } from './short.ts';
import { print, times } from './table.ts';

const GOAL = 1.5;

async function inTab(): Promise<Speeds> {
  const script = await readFile(join(dirname(fileURLToPath(import.meta.url)), 'codes-tab.js'), 'utf8');
  const browser = await launchBrowser();
  try {
    const page = await browser.newPage();
    await page.addScriptTag({ content: script });
    return await page.evaluate(() => (globalThis as unknown as { measureCodes(): Speeds }).measureCodes());
  } finally {
    await browser.close();
  }
}

export async function codes(): Promise<boolean> {
  let held = true;
  for (const [where, speeds] of [
    ['Node', measure()],
    ['Chromium', await inTab()],
  ] as const) {
    console.log(
      `\nerasure codes in ${where}, 8 members of 1 MB: GB/s per coefficient (exclusive or in JavaScript: ` +
        `${speeds.xor.toFixed(2)} GB/s, copy: ${speeds.copy.toFixed(2)} GB/s)`,
    );
    const rows = Object.entries(speeds.kernels).flatMap(([kernel, numbers]) =>
      numbers.map((gb, i) => [
        `${kernel}, ${CHECKSUMS[i]} checksum${i > 0 ? 's' : ''}`,
        gb.toFixed(2),
        times(gb / speeds.xor),
        times(gb / speeds.copy),
      ]),
    );
    print(['kernel', 'GB/s', 'of exclusive or', 'of copy'], rows);
    const simd = speeds.kernels.simd ?? [];
    held &&= simd.length > 0 && quick(simd.every((gb) => gb >= GOAL / 2));
  }
  console.log(
    `  Goal: ${GOAL} GB/s per coefficient with SIMD. Not measured: decoding, members of other sizes, other engines.`,
  );
  return held;
}
