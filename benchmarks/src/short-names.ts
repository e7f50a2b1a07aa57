/**
 * What short.test.ts runs. Names alone: who imports the benchmarks themselves would run again after every change
 * (`npm test -- --changed`).
 */
export const BENCH_NAMES = [
  'pingpong',
  'contention',
  'reexecution',
  'images',
  'slowdown',
  'recovery',
  'overhead',
  'stall',
  'nas',
  'bt-faults',
  'overload',
  'nodes',
  'micro',
  'live',
  'sandbox',
  'closed',
  'protocols',
  'team',
  'codes',
  'parity',
  'compile',
  'store',
  'scale',
] as const;
export type BenchName = (typeof BENCH_NAMES)[number];

/** The papers of `papers/registry.ts`, which papers.test.ts compares. */
export const PAPER_NAMES = ['blocking-vs-nonblocking', 'hc3i', 'diskless', 'operation-level'] as const;
