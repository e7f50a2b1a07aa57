/**
 * LLVM in wasm (clang, wasm-ld, ar, nm …: one module, the first argument says which) and its sysroot, from the package
 * @yowasp/clang.
 *
 * The module is validated lazily: reading and compiling 75 MB then takes 0.1 s in place of 0.3 s, and functions compile
 * when first called. It stays warm: V8 shares compiled and optimised functions among the instances of one module, so
 * later calls run faster.
 * V8 optimises a function of it ten times later than it would by default: clang has tens of thousands that run a
 * little, and optimising them took more processor time than it saved (six small programs in a cold process: 4.7 s, then
 * 2.7 s; two of C and two of C++ with iostream: 17.1 s, then 12.9 s, and with a budget of 60 million 13.5 s).
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { engine, type WasmModule } from './engine.ts';
import { MemoryFiles } from './files.ts';

/** Where the sysroot appears among the files of a tool. No real folder may have this name. */
export const SYSROOT = '/.mayfly/sysroot';

/** Of V8 11 (Node 20), whose own is the first. Later versions have a larger one themselves. */
const TIERING_BUDGET = { usual: 1_800_000, forClang: 18_000_000 };

let module: WasmModule | undefined;
let sysroot: MemoryFiles | undefined;

function packageFile(name: string): string {
  return join(dirname(createRequire(import.meta.url).resolve('@yowasp/clang')), name);
}

export function llvmVersion(): string {
  return (JSON.parse(readFileSync(packageFile('../package.json'), 'utf8')) as { version: string }).version;
}

export function llvmModule(): WasmModule {
  if (module === undefined) {
    // A module keeps the budget that it was made with.
    const budget = (bytes: number): void => {
      if (process.versions.v8.startsWith('11.')) setFlagsFromString(`--wasm-tiering-budget=${bytes}`);
    };
    setFlagsFromString('--wasm-lazy-validation');
    budget(TIERING_BUDGET.forClang);
    try {
      module = new engine.Module(readFileSync(packageFile('llvm.core.wasm')));
    } finally {
      setFlagsFromString('--no-wasm-lazy-validation');
      budget(TIERING_BUDGET.usual);
    }
  }
  return module;
}

/** lib/, include/ and share/ of wasi-libc, libc++ and clang. Read-only by agreement: all runs share it. */
export function sysrootFiles(): MemoryFiles {
  sysroot ??= new MemoryFiles(untar(readFileSync(packageFile('llvm-resources.tar'))));
  return sysroot;
}

/** The regular files of an ustar archive, by absolute path. */
function untar(tar: Uint8Array): Record<string, Uint8Array> {
  const files: Record<string, Uint8Array> = {};
  const text = (from: number, length: number): string => {
    const field = tar.subarray(from, from + length);
    const end = field.indexOf(0);
    return new TextDecoder().decode(end === -1 ? field : field.subarray(0, end));
  };
  for (let at = 0; at + 512 <= tar.length && tar[at] !== 0;) {
    const size = parseInt(text(at + 124, 12).trim() || '0', 8);
    const type = String.fromCharCode(tar[at + 156]!);
    const prefix = text(at + 257, 5) === 'ustar' ? text(at + 345, 155) : '';
    if (type === '0' || type === '\0')
      files[`/${prefix === '' ? '' : `${prefix}/`}${text(at, 100)}`] = tar.subarray(at + 512, at + 512 + size);
    at += 512 + Math.ceil(size / 512) * 512;
  }
  return files;
}
