/**
 * `--short`: the form of a command that `npm run verify` runs (short.test.ts), below a minute each. All of its parts
 * run, on the least of everything, and it fails where an answer is wrong or a part does not run. It says nothing about
 * speed: goals of time decide nothing, and no figure is drawn.
 */
export const SHORT = process.argv.includes('--short');

/** What a command does usually, and in its short form. */
export const usually = <T>(usual: T, short: T): T => (SHORT ? short : usual);

/** Whether a goal of time lets the command pass. */
export const quick = (held: boolean): boolean => SHORT || held;
