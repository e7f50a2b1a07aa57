/**
 * Bundles a program into one classic script with esbuild. Every path is answered by our plugin from the submitted
 * texts: esbuild itself never looks at the disk (its own resolver would happily bundle any file of the server that an
 * import names).
 */
import type { BuildFailure, Message, Plugin, Loader } from 'esbuild';
import * as esbuild from 'esbuild';
import { BUNDLE_NAME } from './bundle-name.ts';
import { extensionOf, resolveImport } from './resolve.ts';
import type { ProgramDiagnostic } from './compile-request.ts';

export type Bundling =
  | {
      readonly ok: true;
      readonly bundle: string;
      readonly sourceMap: string;
      readonly diagnostics: ProgramDiagnostic[];
    }
  | { readonly ok: false; readonly diagnostics: ProgramDiagnostic[] };

const LOADERS: Record<string, Loader> = {
  '.ts': 'ts',
  '.mts': 'ts',
  '.tsx': 'tsx',
  '.js': 'js',
  '.mjs': 'js',
  '.jsx': 'jsx',
  '.json': 'json',
  '.txt': 'text',
};

/**
 * The text of the module 'mayfly' as seen by the bundler: every export is a constant, read once from what the rank host
 * has put into the global `__mayfly`; those that nobody imports are dropped.
 */
const moduleText = (names: readonly string[]): string =>
  'const from = (name) => ' +
  `globalThis.__mayfly[name];\n${names.map((n) => `export const ${n} = /* @__PURE__ */ from("${n}");`).join('\n')}\n`;

const programFiles = (entry: string, sources: ReadonlyMap<string, string>, exports: readonly string[]): Plugin => ({
  name: 'program-files',
  setup(build) {
    build.onResolve({ filter: /.*/ }, (args) => {
      if (args.kind === 'entry-point') return { path: entry, namespace: 'program' };
      const r = resolveImport(args.path, args.importer, (p) => sources.has(p));
      if (r.kind === 'file' && args.kind !== 'dynamic-import') return { path: r.path, namespace: 'program' };
      if (r.kind === 'mayfly' && args.kind !== 'dynamic-import') return { path: 'mayfly', namespace: 'mayfly' };
      return { errors: [{ text: 'message' in r ? r.message : 'Only import statements can import.' }] };
    });
    build.onLoad({ filter: /.*/, namespace: 'mayfly' }, () => ({ contents: moduleText(exports), loader: 'js' }));
    build.onLoad({ filter: /.*/, namespace: 'program' }, ({ path }) => {
      const contents = sources.get(path);
      const loader = LOADERS[extensionOf(path)];
      if (contents === undefined || loader === undefined)
        return { errors: [{ text: `"${path}" cannot be part of a program.` }] };
      return { contents, loader };
    });
    // Whatever comes without a namespace of ours would be read from the disk.
    build.onLoad({ filter: /.*/ }, ({ path }) => ({
      errors: [{ text: `"${path}" is not one of the program's files.` }],
    }));
  },
});

/** @param workingDir an empty folder: esbuild wants one, and nothing in it can be meant */
export async function bundle(
  entry: string,
  sources: ReadonlyMap<string, string>,
  exports: readonly string[],
  workingDir: string,
): Promise<Bundling> {
  try {
    const result = await esbuild.build({
      entryPoints: [entry],
      absWorkingDir: workingDir,
      outfile: BUNDLE_NAME,
      bundle: true,
      write: false,
      format: 'iife',
      platform: 'neutral',
      target: 'es2023',
      // `x ** y` would be the engine's own pow, whose last bit differs between browsers: make it Math.pow, which is
      // ours.
      supported: { 'exponent-operator': false },
      tsconfigRaw: { compilerOptions: { target: 'ES2023', useDefineForClassFields: true, strict: true } },
      sourcemap: 'external',
      sourcesContent: true,
      charset: 'utf8',
      legalComments: 'none',
      logLevel: 'silent',
      logLimit: 100,
      plugins: [programFiles(entry, sources, exports)],
    });
    const output = (suffix: string): string => result.outputFiles.find((f) => f.path.endsWith(suffix))!.text;
    const text = withBigIntPow(output(BUNDLE_NAME));
    const map = JSON.parse(output('.map')) as { sources: string[]; sourcesContent: string[]; file?: string };
    map.sourcesContent = map.sourcesContent.map((text, i) => (map.sources[i]!.startsWith('mayfly:') ? '' : text));
    map.sources = map.sources.map((s) => s.replace(/^(?:program|mayfly):/, ''));
    map.file = BUNDLE_NAME;
    return {
      ok: true,
      bundle: `${text}//# sourceURL=${BUNDLE_NAME}\n`,
      sourceMap: JSON.stringify(map),
      diagnostics: result.warnings.map((m) => convert(m, 'warning')),
    };
  } catch (error) {
    const failure = error as Partial<BuildFailure>;
    if (failure.errors === undefined || failure.errors.length === 0) throw error;
    return {
      ok: false,
      diagnostics: [
        ...failure.errors.map((m) => convert(m, 'error')),
        ...(failure.warnings ?? []).map((m) => convert(m, 'warning')),
      ],
    };
  }
}

/**
 * esbuild's helper for `**` refuses BigInts, whose power is exact on every engine. Same line count: the source map
 * holds.
 */
function withBigIntPow(text: string): string {
  return text.replace(/^(\s*var __pow = )Math\.pow;$/m, '$1(a, b) => typeof a === "bigint" ? a ** b : Math.pow(a, b);');
}

function convert(m: Message, severity: 'error' | 'warning'): ProgramDiagnostic {
  return {
    file: m.location?.file.replace(/^program:/, '') ?? '',
    line: m.location?.line ?? 1,
    column: (m.location?.column ?? 0) + 1,
    code: m.id === '' ? 'BUNDLE' : m.id,
    message: m.text.slice(0, 4000),
    severity,
  };
}
