/**
 * The engine's WebAssembly with the few types that are needed: TypeScript has them in DOM's library only, and this
 * package runs in Node.
 */
export type WasmModule = { readonly ofWebAssembly: 'module' };
export interface WasmMemory {
  readonly buffer: ArrayBuffer;
}
export interface WasmInstance {
  readonly exports: Readonly<Record<string, unknown>>;
}
interface Engine {
  readonly Module: (new (bytes: Uint8Array) => WasmModule) & {
    customSections(module: WasmModule, name: string): ArrayBuffer[];
  };
  readonly Instance: new (
    module: WasmModule,
    imports: Readonly<Record<string, Readonly<Record<string, unknown>>>>,
  ) => WasmInstance;
  validate(bytes: Uint8Array): boolean;
}

export const engine = (globalThis as unknown as { readonly WebAssembly: Engine }).WebAssembly;
