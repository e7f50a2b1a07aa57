/**
 * How much memory a process and its descendants use, by the kernel's account, and a lower priority for them. Linux;
 * elsewhere a job's process reports its own memory.
 */
import { readFileSync, writeFileSync } from 'node:fs';

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined; // It has ended meanwhile, or this is another system.
  }
}

/** The process and its descendants; undefined where the kernel does not list children. */
export function treeOf(pid: number): number[] | undefined {
  const children = read(`/proc/${pid}/task/${pid}/children`);
  if (children === undefined) return undefined;
  const below = children.trim().split(' ').filter(Boolean).map(Number);
  return [pid, ...below.flatMap((p) => treeOf(p) ?? [])];
}

export function residentBytes(pid: number): number | undefined {
  const tree = treeOf(pid);
  return tree?.reduce(
    (sum, p) => sum + 1024 * Number(/^VmRSS:\s*(\d+) kB/m.exec(read(`/proc/${p}/status`) ?? '')?.[1] ?? 0),
    0,
  );
}

/**
 * When the machine runs out of memory, the kernel ends a job's process before the volunteer. And where it shares the
 * processor among sessions first (autogroup), the nice value of a process counts within its session only: the session
 * gets the same.
 */
export function stepBack(pid: number, nice: number): void {
  for (const p of treeOf(pid) ?? [])
    for (const [file, value] of [
      ['oom_score_adj', '500'],
      ['autogroup', String(nice)],
    ] as const)
      try {
        writeFileSync(`/proc/${p}/${file}`, value);
      } catch {
        // This kernel has none, or the process has ended.
      }
}
