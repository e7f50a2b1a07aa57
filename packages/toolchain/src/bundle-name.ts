/** Name of the bundle in stacks. */
export const BUNDLE_NAME = 'mayfly-program.js';
