/**
 * What /proc says of a browser's processes: signals to a renderer silence or end a tab as no protocol command does.
 * Linux only.
 */
import { readdirSync, readFileSync } from 'node:fs';

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // It has ended meanwhile.
  }
}

/** The process's descendants. */
export function descendants(pid: number): number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    // pid (comm) state ppid …; comm may hold anything.
    const stat = read(`/proc/${name}/stat`);
    const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
    children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const all: number[] = [];
  for (const queue = [pid]; queue.length > 0;) {
    const next = children.get(queue.pop()!) ?? [];
    all.push(...next);
    queue.push(...next);
  }
  return all;
}

export const renderersOf = (browser: number): number[] =>
  descendants(browser).filter((p) => read(`/proc/${p}/cmdline`).includes('--type=renderer'));

function workersIn(renderer: number): number {
  let threads: string[];
  try {
    threads = readdirSync(`/proc/${renderer}/task`);
  } catch {
    return 0;
  }
  return threads.filter((t) => read(`/proc/${renderer}/task/${t}/comm`).startsWith('DedicatedWorker')).length;
}

/**
 * The renderer of the job's sandboxed frame: it runs the comm worker and a worker per rank, the page's own runs the
 * daemon alone.
 */
export function frameRendererOf(browser: number): number | undefined {
  const [most] = renderersOf(browser)
    .map((pid) => ({ pid, workers: workersIn(pid) }))
    .sort((a, b) => b.workers - a.workers);
  return most && most.workers >= 2 ? most.pid : undefined;
}

/** Each process is stopped for certain before this returns: `T` in its state. */
export async function stopped(pids: readonly number[]): Promise<void> {
  for (const pid of pids) process.kill(pid, 'SIGSTOP');
  for (const pid of pids)
    for (;;) {
      const stat = read(`/proc/${pid}/stat`);
      if (stat === '' || /^[TtZX]/.test(stat.slice(stat.lastIndexOf(')') + 2))) break;
      await new Promise((r) => setTimeout(r, 5));
    }
}

export function resumed(pids: readonly number[]): void {
  for (const pid of pids)
    try {
      process.kill(pid, 'SIGCONT');
    } catch {
      // It has ended.
    }
}
