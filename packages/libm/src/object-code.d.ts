/** dist/libm.js, written by build.mjs: wasi-libc's libm as a WebAssembly module without imports, in base64. */
export const libm: string;
