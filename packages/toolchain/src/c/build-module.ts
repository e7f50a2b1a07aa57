/** C sources in memory to a checkpointable module: for tests, and the core of what the compile process does. */
import { MemoryFiles, MountedFiles, type FileTree } from './files.ts';
import { instrument, type ModuleInfo } from './instrument.ts';
import { llvmModule, SYSROOT, sysrootFiles } from './llvm.ts';
import { runWasi } from './wasi-process.ts';

const text = new TextDecoder();

export interface BuiltModule {
  readonly wasm: Uint8Array;
  readonly info: ModuleInfo;
  /** Before the instrumentation. */
  readonly linked: Uint8Array;
}


/** @throws Error with clang's or the linker's messages */
export function buildModule(sources: Readonly<Record<string, string>>, options: { flags?: string[]; includes?: Readonly<Record<string, string>>; suspending: readonly string[] }): BuiltModule {
  const memory = new MemoryFiles(sources);
  for (const [path, content] of Object.entries(options.includes ?? {})) memory.write(`/.mayfly-include/${path}`, new TextEncoder().encode(content));
  memory.write('/.unwind.c', new TextEncoder().encode('char mayfly_unwind_buffer[(1 << 20) + 16] __attribute__((aligned(16)));\n'));
  const files: FileTree = new MountedFiles(memory, [{ at: SYSROOT, tree: sysrootFiles() }]);
  const run = (...args: string[]): void => {
    const r = runWasi(llvmModule(), { args: ['llvm', ...args], files, cwd: '/', absolutePrefixes: [] });
    if (r.exit !== 0) throw new Error(text.decode(r.stderr));
  };
  const common = [`--sysroot=${SYSROOT}`, '-resource-dir', SYSROOT, '-I/.mayfly-include', '-O1', ...(options.flags ?? [])];
  const objects: string[] = [];
  let cxx = false;
  for (const path of ['.unwind.c', ...Object.keys(sources)]) {
    const isCxx = /\.(cc|cpp|cxx|C)$/.test(path);
    if (!isCxx && !path.endsWith('.c')) continue;
    cxx ||= isCxx;
    run(isCxx ? 'clang++' : 'clang', ...common, '-c', path, '-o', `${path}.o`);
    objects.push(`${path}.o`);
  }
  const names = new Set<string>();
  for (const source of [...Object.values(sources), ...Object.values(options.includes ?? {})]) for (const m of source.matchAll(/\bP?MPIX?_\w+/g)) names.add(m[0]);
  memory.write('/.undefined', new TextEncoder().encode([...names].join('\n')));
  const lib = `${SYSROOT}/lib/wasm32-wasip1`;
  run(
    'wasm-ld', '-m', 'wasm32', `-L${lib}`, `${lib}/crt1-command.o`, ...objects, ...(cxx ? ['-lc++', '-lc++abi'] : []), '-lc', `${SYSROOT}/lib/wasm32-unknown-wasip1/libclang_rt.builtins.a`,
    '--stack-first', '-z', 'stack-size=4194304', '--max-memory=1073741824', '--export=malloc', '--export=free', '--export-table', '--export=mayfly_unwind_buffer', '--allow-undefined-file=/.undefined', '-o', 'a.out',
  );
  const linked = memory.read('/a.out')!;
  return { linked, ...instrument(linked, { suspending: options.suspending, language: cxx ? 'c++' : 'c' }) };
}
