/** From a linked module to one that can be checkpointed: checks, Asyncify, exports, the section `mayfly`. */
import binaryen from 'binaryen';

export const SECTION = 'mayfly';
export const SECTION_VERSION = 1;

export interface InstrumentOptions {
  readonly suspending: readonly string[];
  readonly language?: 'c' | 'c++' | 'wasm';
}

/** JSON of the custom section `mayfly`. */
export interface ModuleInfo {
  readonly version: number;
  readonly toolchain: string;
  readonly language: 'c' | 'c++' | 'wasm';
  readonly globals: { readonly name: string; readonly type: 'i32' | 'i64' | 'f32' | 'f64' | 'v128' }[];
  /** Where Asyncify may keep the unwound stack, in the linear memory. */
  readonly unwind: { readonly start: number; readonly end: number };
  /** Pages of 64 KB. */
  readonly memory: { readonly initial: number; readonly maximum: number };
}

export function instrument(wasm: Uint8Array, options: InstrumentOptions): { wasm: Uint8Array; info: ModuleInfo } {
  const m = binaryen.readBinary(wasm);
  try {
    const globals: ModuleInfo['globals'] = [];
    for (let i = 0; i < m.getNumGlobals(); i++) {
      const g = binaryen.getGlobalInfo(m.getGlobalByIndex(i));
      if (!g.mutable || g.module !== '') continue;
      const name = `mayfly.global.${globals.length}`;
      m.addGlobalExport(g.name, name);
      globals.push({ name, type: TYPES.get(g.type)! });
    }
    const memory = m.getMemoryInfo('0');
    const value = (name: string): number => constantExport(m, name);
    const info: ModuleInfo = {
      version: SECTION_VERSION,
      toolchain: 'mayfly',
      language: options.language ?? 'c',
      globals,
      unwind: { start: value('mayfly_unwind_buffer'), end: value('mayfly_unwind_buffer') + (1 << 20) },
      memory: { initial: memory.initial, maximum: memory.max ?? 65536 },
    };
    binaryen.setDebugInfo(true);
    binaryen.setPassArgument('asyncify-imports', options.suspending.join(','));
    m.runPasses(['asyncify']);
    m.addCustomSection(SECTION, [...new TextEncoder().encode(JSON.stringify(info))] as never);
    return { wasm: m.emitBinary(), info };
  } finally {
    m.dispose();
    binaryen.clearPassArguments();
  }
}

const TYPES = new Map<number, 'i32' | 'i64' | 'f32' | 'f64' | 'v128'>([
  [binaryen.i32, 'i32'],
  [binaryen.i64, 'i64'],
  [binaryen.f32, 'f32'],
  [binaryen.f64, 'f64'],
  [binaryen.v128, 'v128'],
]);

function constantExport(m: InstanceType<typeof binaryen.Module>, name: string): number {
  const e = binaryen.getExportInfo(m.getExport(name));
  const g = binaryen.getGlobalInfo(m.getGlobal(e.value));
  return (binaryen.getExpressionInfo(g.init) as unknown as { value: number }).value;
}
