#!/usr/bin/env node
/**
 * Checks the types of every project (a tsconfig that names files) of the workspace, or of those given: `node types.mjs
 * [folder or tsconfig…]`.
 *
 * One process for all of them. Packages are used as sources, so that a `tsc` for each would parse and check what lies
 * below it again and again; here a file is parsed once for all projects whose options parse it alike, and is checked by
 * the projects of its own package. A file that no project of its package has is checked where it was met.
 */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

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

const format = { getCanonicalFileName: (name) => name, getCurrentDirectory: () => root, getNewLine: () => '\n' };
/** What was said: two projects of a package say the same of a file of both. */
const said = new Set();
function report(diagnostics) {
  for (const d of diagnostics) {
    const text = (process.stderr.isTTY ? ts.formatDiagnosticsWithColorAndContext : ts.formatDiagnostics)([d], format);
    if (!said.has(text)) process.stderr.write(text);
    said.add(text);
  }
}

const kept = new Map();
/** A host whose parsed files are shared by all projects that parse alike. */
function hostOf(options) {
  const host = ts.createCompilerHost(options, true);
  const read = host.getSourceFile;
  const how = JSON.stringify([options.target, options.jsx, options.moduleDetection, options.module, options.allowJs]);
  host.getSourceFile = (name, ...more) => {
    const key = `${how} ${name}`;
    if (!kept.has(key)) kept.set(key, read.call(host, name, ...more));
    return kept.get(key);
  };
  return host;
}

const packageOf = (file) => {
  for (let folder = dirname(file); folder !== root && folder.length > 1; folder = dirname(folder))
    if (existsSync(join(folder, 'package.json'))) return folder + sep;
  return dirname(file) + sep;
};

const checked = new Set();
/** Files that no project of their package has, by the project that met them. */
const met = new Map();

function check(config, only) {
  const parsed = ts.getParsedCommandLineOfConfigFile(
    config,
    {},
    { ...ts.sys, onUnRecoverableConfigFileDiagnostic: (d) => report([d]) },
  );
  if (!parsed || parsed.fileNames.length === 0) return;
  const program = ts.createProgram({
    rootNames: parsed.fileNames,
    options: parsed.options,
    host: hostOf(parsed.options),
    configFileParsingDiagnostics: parsed.errors,
  });
  if (!only)
    report([
      ...program.getConfigFileParsingDiagnostics(),
      ...program.getOptionsDiagnostics(),
      ...program.getGlobalDiagnostics(),
    ]);
  const own = packageOf(config);
  const roots = new Set(parsed.fileNames);
  for (const file of program.getSourceFiles()) {
    const name = resolve(file.fileName);
    if (program.isSourceFileFromExternalLibrary(file) || program.isSourceFileDefaultLibrary(file)) continue;
    if (only ? only.has(name) : roots.has(file.fileName) || name.startsWith(own)) {
      report([...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)]);
      checked.add(name);
    } else if (!name.includes(`${sep}node_modules${sep}`) && !met.has(name)) met.set(name, config);
  }
}

const given = process.argv.slice(2).map((path) => resolve(path));
const configs =
  given.length > 0
    ? given.flatMap((path) => (statSync(path).isDirectory() ? [...configsBelow(path)] : [path]))
    : PLACES.flatMap((place) => [...configsBelow(join(root, place))]);
for (const config of configs) check(config);
// With some projects alone, the others are checked by theirs.
const left = given.length > 0 ? [] : [...met].filter(([name]) => !checked.has(name));
for (const config of new Set(left.map(([, by]) => by)))
  check(config, new Set(left.flatMap(([name, by]) => (by === config ? [name] : []))));
if (said.size > 0) console.error(`${said.size} problem${said.size === 1 ? '' : 's'}`);
process.exitCode = said.size > 0 ? 1 : 0;
