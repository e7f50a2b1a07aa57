export * from './program.ts';
export * from './host/index.ts';
