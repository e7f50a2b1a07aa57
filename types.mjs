#!/usr/bin/env node
/**
 * Checks the types of every project (a tsconfig that names files) of the workspace, or of those given: `node types.mjs
 * [folder or tsconfig…]`.
 *
 * One process of the native compiler for all of them. Packages are used as sources, so that a `tsc` for each would
 * parse and check what lies below it again and again; here a file is parsed once for all projects, and is checked by
 * the projects of its own package. A file that no project of its package has is checked where it was met.
 */
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { API } from 'typescript-native/unstable/sync';

const root = dirname(fileURLToPath(import.meta.url));
const PLACES = ['packages', 'apps', 'playwright', 'benchmarks'];
/** The program that the toolchain lays out for others; its paths hold only there. */
const NOT_OURS = join('packages', 'toolchain', 'template');

function* configsBelow(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (
      entry.isDirectory() &&
      entry.name !== 'node_modules' &&
      entry.name !== 'dist' &&
      relative(root, path) !== NOT_OURS
    )
      yield* configsBelow(path);
    else if (/^tsconfig(?:\.\w+)?\.json$/.test(entry.name)) yield path;
  }
}

const said = new Set();
/** Diagnostics with all their text. Two projects of a package report the same about a file of both: printed once. */
async function report(diagnostics) {
  if (diagnostics.length === 0) return;
  // The checker is the native compiler; the one in JavaScript has the formatter, and is loaded for it alone.
  const { default: ts } = await import('typescript');
  const chain = (d) => ({ ...d, messageText: d.text, next: d.messageChain?.map(chain) });
  const format = { getCanonicalFileName: (name) => name, getCurrentDirectory: () => root, getNewLine: () => '\n' };
  const print = process.stderr.isTTY ? ts.formatDiagnosticsWithColorAndContext : ts.formatDiagnostics;
  for (const d of diagnostics) {
    const file =
      d.fileName && ts.createSourceFile(d.fileName, readFileSync(d.fileName, 'utf8'), ts.ScriptTarget.Latest);
    const text = print(
      [{ ...d, file, start: d.pos, length: d.end - d.pos, messageText: chain(d), relatedInformation: undefined }],
      format,
    );
    if (!said.has(text)) process.stderr.write(text);
    said.add(text);
  }
}

const packageOf = (file) => {
  for (let folder = dirname(file); folder !== root && folder.length > 1; folder = dirname(folder))
    if (existsSync(join(folder, 'package.json'))) return folder + sep;
  return dirname(file) + sep;
};

const checked = new Set();
/** Files that no project of their package has, by the project that met them. */
const met = new Map();

async function check({ configFileName, program, rootFiles }, only) {
  if (!only)
    await report([
      ...program.getConfigFileParsingDiagnostics(),
      ...program.getProgramDiagnostics(),
      ...program.getGlobalDiagnostics(),
    ]);
  const own = packageOf(configFileName);
  const roots = new Set(rootFiles);
  for (const name of program.getSourceFileNames().map((file) => resolve(file))) {
    if (name.includes(`${sep}node_modules${sep}`)) continue;
    if (only ? only.has(name) : roots.has(name) || name.startsWith(own)) {
      await report([...program.getSyntacticDiagnostics(name), ...program.getSemanticDiagnostics(name)]);
      checked.add(name);
    } else if (!met.has(name)) met.set(name, configFileName);
  }
}

const given = process.argv.slice(2).map((path) => resolve(path));
const configs =
  given.length > 0
    ? given.flatMap((path) => (statSync(path).isDirectory() ? [...configsBelow(path)] : [path]))
    : PLACES.flatMap((place) => [...configsBelow(join(root, place))]);
const api = new API({ cwd: root });
const snapshot = api.updateSnapshot({ openProjects: configs });
const projects = new Map(configs.map((config) => [config, snapshot.getProject(config)]));
for (const project of projects.values()) if (project.rootFiles.length > 0) await check(project);
// With some projects alone, the others are checked by theirs.
const left = given.length > 0 ? [] : [...met].filter(([name]) => !checked.has(name));
for (const config of new Set(left.map(([, by]) => by)))
  await check(projects.get(config), new Set(left.flatMap(([name, by]) => (by === config ? [name] : []))));
api.close();
if (said.size > 0) console.error(`${said.size} problem${said.size === 1 ? '' : 's'}`);
process.exitCode = said.size > 0 ? 1 : 0;
