/** Bundles a test's worker, as build.mjs does with the real ones. */
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

export async function bundled(entry: string): Promise<string> {
  const r = await build({
    entryPoints: [fileURLToPath(new URL(entry, import.meta.url))],
    bundle: true,
    write: false,
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    logLevel: 'warning',
  });
  return r.outputFiles[0]!.text;
}
