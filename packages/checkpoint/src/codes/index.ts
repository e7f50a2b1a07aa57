/** Codes of checkpoints: GF(2⁸) for exact bytes, weighted sums of floating-point numbers, and who holds what. */
export * from './field.ts';
export * from './cauchy.ts';
export * from './kernel.ts';
export * from './erasure.ts';
export * from './real.ts';
export * from './layout.ts';
export * from './survive.ts';
export * from './shares.ts';
