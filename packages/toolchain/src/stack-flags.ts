/**
 * Node's flags for a process that runs clang: templates nest deeper than V8's 1 MB of stack (clang's own limit of 1024
 * needs 4 MB). A bigger stack than the system gives would be a segmentation fault, so only what is known to be there is
 * used.
 */
import { readFileSync } from 'node:fs';

const WANTED_KB = 6000;
/** What the engine's own C++ needs beyond. */
const MARGIN_KB = 1500;

export function stackFlags(): string[] {
  if (process.platform === 'darwin') return [`--stack-size=${WANTED_KB}`];
  if (process.platform !== 'linux') return [];
  try {
    const limit = /^Max stack size\s+(\S+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return limit === 'unlimited' || Number(limit) >= (WANTED_KB + MARGIN_KB) * 1024
      ? [`--stack-size=${WANTED_KB}`]
      : [];
  } catch {
    return [];
  }
}
