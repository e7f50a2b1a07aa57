/** One-sided communication (MPI 4.1 chapter 12). state.ts says what a window is, sync.ts what travels when. */
export * from './create-window.ts';
export {
  accumulate,
  checkRank,
  compareAndSwap,
  get,
  getAccumulate,
  put,
  sourceOf,
  windowOf,
  NOTHING,
  type Combining,
  type Source,
  type Target,
} from './origin.ts';
export { Lock, WINDOW_HINTS, type Flavor, type Place, type WindowRecord } from './state.ts';
export * from './sync.ts';
export { commOfWindow } from './target.ts';
