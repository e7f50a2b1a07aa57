/** The factor by which the limits of the tests are multiplied on this machine, 1 to 20: pace.mjs. */
export function pace(): number;
/**
 * @param ms a limit for a machine that is busy with the tests alone
 * @returns the limit on this machine, ms
 */
export function patient(ms: number): number;
