/** The licences of what a bundle contains of the registry's packages, as most of them demand. */
import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';

/** @param metafile esbuild's; its inputs are relative to the current folder */
export async function thirdParty(metafile) {
  const folders = new Set(
    Object.keys(metafile.inputs).flatMap((input) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0] ?? []),
  );
  const entries = await Promise.all(
    [...folders].map(async (folder) => {
      const about = JSON.parse(await readFile(resolve(folder, 'package.json'), 'utf8'));
      const files = (await readdir(resolve(folder))).filter((f) => /^(licen[cs]e|notice)/i.test(f));
      const texts = await Promise.all(files.map((f) => readFile(join(resolve(folder), f), 'utf8')));
      return `${about.name} ${about.version} (${about.license})\n\n${texts.map((t) => t.trim()).join('\n\n')}\n`;
    }),
  );
  return entries.sort().join(`\n${'-'.repeat(80)}\n\n`);
}
