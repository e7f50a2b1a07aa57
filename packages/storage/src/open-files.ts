/** How many files and connections this process may have open, and what to say when those are few. */
import { readFileSync } from 'node:fs';
import { MORE_FILES } from './storage-error.ts';

/** Below: a connection of each node and its data links would soon be too many. */
const FEW = 4096;

/** A sentence for the log at the start; undefined: there are enough, or this system does not tell. */
export function fewOpenFiles(limits: string | undefined = limitsOfProcess()): string | undefined {
  const limit = /^Max open files\s+(\d+)/m.exec(limits ?? '')?.[1];
  return limit === undefined || Number(limit) >= FEW
    ? undefined
    : `this process may have only ${limit} files and connections open: ${MORE_FILES}`;
}

function limitsOfProcess(): string | undefined {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return undefined; // not Linux
  }
}
