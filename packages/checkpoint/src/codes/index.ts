/** Erasure codes of checkpoints: GF(2⁸) for exact bytes. */
export * from './field.ts';
export * from './cauchy.ts';
export * from './kernel.ts';
export * from './erasure.ts';
