/**
 * Which file an import means. The only resolver of the toolchain: the bundler, the type checker and the reader of
 * programs on disk all ask it, so that none of them reaches further than the others.
 *
 * Pure: it knows the set of submitted paths and nothing else. A program may import its own files and 'mayfly';
 * everything else is refused by name of what it is.
 */
export type Resolution =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'mayfly' }
  | { readonly kind: 'forbidden'; readonly message: string }
  | { readonly kind: 'missing'; readonly message: string };

export const MODULE = 'mayfly';

/** Extensions that a program may consist of. */
export const EXTENSIONS = ['.ts', '.tsx', '.mts', '.js', '.mjs', '.jsx', '.json', '.txt'] as const;

export const extensionOf = (path: string): string => /\.[A-Za-z0-9]+$/.exec(path)?.[0].toLowerCase() ?? '';

const SCRIPT = new Set(['.ts', '.tsx', '.mts', '.js', '.mjs', '.jsx']);
export const isScript = (path: string): boolean => SCRIPT.has(extensionOf(path));

const forbidden = (message: string): Resolution => ({ kind: 'forbidden', message });

/** Node's modules, to name the mistake; the list need not be complete. */
const NODE_MODULES = new Set(
  (
    'assert async_hooks buffer child_process cluster console constants crypto dgram dns domain events fs http ' +
    'http2 https inspector module net os path perf_hooks process punycode querystring readline repl stream ' +
    'string_decoder sys timers tls tty url util v8 vm wasi worker_threads zlib'
  ).split(' '),
);

/**
 * @param specifier text of the import
 * @param importer path of the importing file, relative to the program's root
 * @param has whether a path is one of the program's files
 */
export function resolveImport(specifier: string, importer: string, has: (path: string) => boolean): Resolution {
  const shown = JSON.stringify(specifier.length > 120 ? `${specifier.slice(0, 117)}…` : specifier);
  if (specifier === MODULE) return { kind: 'mayfly' };
  if (specifier.includes('\0')) return forbidden(`${shown} is not a path.`);
  if (specifier.startsWith('/') || specifier.startsWith('\\') || /^[A-Za-z]:[\\/]/.test(specifier))
    return forbidden(
      `${shown} is an absolute path. A program may import its own files (by a path that starts with "./") ` +
        'and "mayfly" only.',
    );
  if (specifier.startsWith('node:') || NODE_MODULES.has(specifier.split('/')[0]!))
    return forbidden(
      `${shown} is a module of Node.js, which is not there in a browser tab. Files are read and written with ` +
        `\`files\`, arguments are \`args\`, both from "mayfly".`,
    );
  if (/^https?:/i.test(specifier))
    return forbidden(
      `${shown} lies on the network. Submit the file with the program and import it by a path that starts with "./".`,
    );
  if (/^[A-Za-z][A-Za-z0-9+.-]*:/.test(specifier))
    return forbidden(`${shown} is a URL. A program may import its own files and "mayfly" only.`);
  if (!/^\.\.?(?:\/|$)/.test(specifier))
    return forbidden(
      `${shown} is a package. Packages cannot be imported: submit the source files that you need with the ` +
        'program, and import them by a path that starts with "./".',
    );

  const segments = importer.split('/').slice(0, -1);
  for (const segment of specifier.split('/')) {
    if (segment === '' || segment === '.') continue;
    if (segment !== '..') segments.push(segment);
    else if (segments.pop() === undefined)
      return forbidden(
        `${shown} leaves the program's folder. Only files that are submitted with the program can be imported.`,
      );
  }
  const base = segments.join('/');
  for (const path of candidates(base)) if (has(path)) return { kind: 'file', path };
  return { kind: 'missing', message: `Cannot find ${shown} among the files of the program.` };
}

/**
 * TypeScript's order: the very file, then with an extension, then the folder's index. A written `.js` may mean the
 * `.ts`.
 */
function* candidates(base: string): Generator<string> {
  if (base !== '') {
    yield base;
    for (const e of EXTENSIONS) if (e !== '.txt') yield base + e;
    yield `${base}.d.ts`;
    const written = /^(.*)\.(m?)js(x?)$/.exec(base);
    if (written !== null) {
      yield `${written[1]}.${written[2]}ts`;
      yield `${written[1]}.tsx`;
    }
  }
  const folder = base === '' ? '' : `${base}/`;
  for (const e of EXTENSIONS) if (e !== '.txt' && e !== '.json') yield `${folder}index${e}`;
}
