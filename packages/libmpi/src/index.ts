export * from './program.ts';
