/** For the tests of other workspaces, which run a share of the ways. */
export { ClientArena } from './arena.ts';
export { WAYS } from './ways/index.ts';
