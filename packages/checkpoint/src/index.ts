export * from './hash.ts';
export * from './codec.ts';
export * from './pages.ts';
export * from './store/local.ts';
export * from './store/memory.ts';
