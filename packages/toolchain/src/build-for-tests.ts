/** vitest.setup.mjs builds once before all tests; nothing is left to do. */
export function buildForTests(): void {}
