/** The folder where compiler calls are remembered: MAYFLY_COMPILE_CACHE, else one below the user's cache folder. */
import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';

/** Undefined: nothing is remembered (MAYFLY_COMPILE_CACHE=off). */
export function callFolder(env: NodeJS.ProcessEnv = process.env): string | undefined {
  const named = env.MAYFLY_COMPILE_CACHE;
  if (named === 'off') return undefined;
  if (named !== undefined && named !== '') return resolve(named);
  // The specification of XDG_CACHE_HOME: a relative path is to be ignored.
  const base = env.XDG_CACHE_HOME !== undefined && isAbsolute(env.XDG_CACHE_HOME) ? env.XDG_CACHE_HOME : undefined;
  return join(base ?? join(env.HOME || homedir(), '.cache'), 'mayfly', 'calls');
}
