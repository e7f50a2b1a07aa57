/**
 * Objects of the compatibility layer (../../../compat), which every link gets. They are compiled once, when the package
 * is built (build.mjs), and read from there; what is not there, because its flags are others, is compiled at first use
 * in a process.
 *
 * Invariant: an object is used only under the hash of all that it was made of, so that one of before is never taken.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MemoryFiles } from '../files.ts';
import { llvmVersion, SYSROOT } from '../llvm.ts';
import { RESOURCES, resources } from '../resources.ts';
import { DEFAULT_UNWIND_BYTES } from './arguments.ts';
import { DriverRun, TEMPORARY } from './run.ts';

/** The functions of the C library that wasi-libc lacks, or has differently. */
const LIBRARY = [
  'glibc.c',
  'locale.c',
  'mntent.c',
  'obstack.c',
  'options.c',
  'posix.c',
  'random.c',
  'signals.c',
  'system.c',
  'threads.c',
  'times.c',
];

const compiled = new Map<string, Uint8Array>();

export const compatOfC = (run: DriverRun, unwindBytes: number): string[] => [
  compat(run, 'unwind.c', `-DMAYFLY_UNWIND_BYTES=${unwindBytes}`),
  compat(run, 'throw.c'),
];
/** What calls a main() with so many parameters. */
export const compatOfMain = (run: DriverRun, parameters: 1 | 3): string =>
  compat(run, 'main.c', `-DMAYFLY_MAIN_PARAMETERS=${parameters}`);
export const compatOfLibrary = (run: DriverRun, cxx: boolean): string[] => [
  ...LIBRARY.map((name) => compat(run, name)),
  ...(cxx ? [compat(run, 'exceptions.cc')] : []),
];

function command(name: string, flags: readonly string[]): string[] {
  const cxx = name.endsWith('.cc');
  return [
    cxx ? 'clang++' : 'clang',
    `--sysroot=${SYSROOT}`,
    '-resource-dir',
    SYSROOT,
    '-isystem',
    `${RESOURCES}/compat/include`,
    '-D_GNU_SOURCE',
    '-D_WASI_EMULATED_SIGNAL',
    '-D_WASI_EMULATED_PROCESS_CLOCKS',
    '-D_WASI_EMULATED_GETPID',
    '-O2',
    ...(cxx ? ['-std=c++17'] : []),
    ...flags,
    '-c',
    `${RESOURCES}/compat/${name}`,
    '-o',
    `${TEMPORARY}/own-${name}.o`,
  ];
}

/** The hash of the object's command, of every file of the layer, and of clang. */
function keyOf(name: string, flags: readonly string[]): string {
  const hash = createHash('sha256').update([llvmVersion(), ...command(name, flags)].join('\n'));
  for (const [path, bytes] of resources().files.files)
    if (path.startsWith('/compat/')) hash.update(`\n${path} ${bytes.length}\n`).update(bytes);
  return hash.digest('hex').slice(0, 32);
}

/** @returns the path of the object among the run's files */
function compat(run: DriverRun, name: string, ...flags: string[]): string {
  const path = `/own-${name}.o`;
  const key = keyOf(name, flags);
  let object = compiled.get(key) ?? readBuilt(key);
  if (object === undefined) {
    const r = run.llvm(...command(name, flags));
    object = run.temporary.read(path);
    if (r.exit !== 0 || object === undefined)
      throw new Error(`The compatibility layer does not compile: ${new TextDecoder().decode(r.stderr)}`);
  }
  compiled.set(key, object);
  run.temporary.write(path, object);
  return TEMPORARY + path;
}

const pathOf = (key: string): string => join(resources().objects, `${key}.o`);

function readBuilt(key: string): Uint8Array | undefined {
  return existsSync(pathOf(key)) ? new Uint8Array(readFileSync(pathOf(key))) : undefined;
}

/** Compiles what is not in the folder of objects yet, and removes what has no use any more. */
export function buildCompat(): void {
  const folder = resources().objects;
  mkdirSync(folder, { recursive: true });
  const run = new DriverRun({ files: new MemoryFiles(), cwd: '/', driver: 'mpicc' }, []);
  const all: [string, ...string[]][] = [
    ['unwind.c', `-DMAYFLY_UNWIND_BYTES=${DEFAULT_UNWIND_BYTES}`],
    ['throw.c'],
    ...[1, 3].map((n): [string, string] => ['main.c', `-DMAYFLY_MAIN_PARAMETERS=${n}`]),
    ...LIBRARY.map((name): [string] => [name]),
    ['exceptions.cc'],
  ];
  const keys = new Set<string>();
  for (const [name, ...flags] of all) {
    const key = keyOf(name, flags);
    keys.add(`${key}.o`);
    if (existsSync(pathOf(key))) continue;
    compat(run, name, ...flags);
    // Readers beside us see a whole file or none.
    writeFileSync(`${pathOf(key)}.${process.pid}`, compiled.get(key)!);
    renameSync(`${pathOf(key)}.${process.pid}`, pathOf(key));
  }
  for (const name of readdirSync(folder))
    if (name.endsWith('.o') && !keys.has(name)) rmSync(join(folder, name), { force: true });
}
