/**
 * BLAKE3-256 of pages and programs, in hexadecimal. The hash is wasm (about 0.7 GB/s per core), compiled once per
 * thread.
 */
import { createBLAKE3 } from 'hash-wasm';

export type Hash = (bytes: Uint8Array) => string;

let made: Promise<Hash> | undefined;

/** A synchronous hash function; resolves when its wasm is compiled. */
export function createHash(): Promise<Hash> {
  return (made ??= createBLAKE3(256).then((h) => (bytes) => h.init().update(bytes).digest('hex')));
}

export const hashBytes = async (bytes: Uint8Array): Promise<string> => (await createHash())(bytes);
