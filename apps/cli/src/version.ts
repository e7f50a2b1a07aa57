declare const MAYFLY_VERSION: string | undefined;
/** Set by the build; 'dev' under Vitest. */
export const VERSION = typeof MAYFLY_VERSION === 'string' ? MAYFLY_VERSION : 'dev';
