/**
 * The engine's WebAssembly, as far as the headless node's messages name it: TypeScript declares it in the DOM's library
 * only.
 */
declare namespace WebAssembly {
  type Module = object;
}
