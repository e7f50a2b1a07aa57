declare const MAYFLY_VERSION: string | undefined;
/** Set by the build; 'dev' under Vitest. */
export const VERSION = typeof MAYFLY_VERSION === 'string' ? MAYFLY_VERSION : 'dev';

declare const MAYFLY_VOLUNTEER: string | undefined;
/** How people start a volunteer: the package @mayfly/volunteer has this command alone. */
export const VOLUNTEER = typeof MAYFLY_VOLUNTEER === 'string' ? MAYFLY_VOLUNTEER : 'mayfly volunteer';
