export * from './program.ts';
export * from './host/index.ts';
export { createBinding } from './binding/index.ts';
export { SUSPENDING } from './binding/suspending-calls.ts';
