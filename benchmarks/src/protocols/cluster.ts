/**
 * A server, as many headless nodes of one slot as there are ranks, and a spare one: a node that is killed is replaced
 * at once. Nodes are processes of their own.
 */
import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { JobOptions, JobView } from '@mayfly/wire';
import { MayflySide, processorTimes, spent, type Times } from '../mayfly-side.ts';
import { RANKS, type Program } from './programs.ts';

/** What a program answered: its standard output and its files. */
export interface Answer {
  readonly text: string;
  readonly files: readonly string[];
}

export interface Finished {
  readonly job: JobView;
  readonly took: number;
  readonly losses: number;
  readonly answer: Answer;
  /** Processor time of the server and of all nodes, s. */
  readonly processor: number;
}

/** Losses of a run: s after its start, then every so many s. */
export interface Losses {
  readonly first: number;
  readonly every: number;
  /** Which ranks' nodes are killed. */
  readonly victims: () => number;
}

const POLL_MS = 100;
const LIMIT_MS = 600_000;

export class Cluster {
  private readonly nodes = new Map<string, ChildProcess>();
  private started = 0;
  /** Processor times when the run began, and ms that nodes had spent in it when they were killed. */
  private before: Times = new Map();
  private gone = 0;
  private constructor(private readonly side: MayflySide) {}

  static async start(): Promise<Cluster> {
    const cluster = new Cluster(await MayflySide.start());
    try {
      await cluster.fill();
    } catch (error) {
      await cluster.stop();
      throw error;
    }
    return cluster;
  }

  stop(): Promise<void> {
    return this.side.stop();
  }

  /** Starts what is missing for all ranks and a spare. */
  private async fill(): Promise<void> {
    const missing = RANKS + 1 - this.nodes.size;
    if (missing <= 0) return;
    // The side numbers its nodes in the order of their start.
    for (const child of await this.side.headless(missing, 1)) this.nodes.set(`bench${this.started++}`, child);
  }

  /** Kills the node of a rank. False: the job ended before. */
  private async lose(id: string, rank: number): Promise<boolean> {
    await this.fill();
    const job = await this.side.job(id);
    const name = job.tasks[rank]?.nodeName;
    const node = name === undefined ? undefined : this.nodes.get(name);
    if (job.endedAt !== undefined || job.tasks[rank]?.state === 'done' || !node) return false;
    this.gone += spent(this.before, await processorTimes(node.pid!));
    node.kill('SIGKILL');
    this.nodes.delete(name!);
    this.side.left();
    return true;
  }

  async run(program: Program, args: readonly string[], options: JobOptions, losses?: Losses): Promise<Finished> {
    await this.fill();
    // It is compiled when this returns.
    const id = await this.side.submitExample(program.example, RANKS, [...args], options);
    this.before = await this.processor();
    this.gone = 0;
    const ended = (j: JobView): boolean => j.state === 'done';
    let lost = 0;
    if (losses) {
      const begun = await this.side.until(id, 'running', (j) => ended(j) || runs(j), POLL_MS, LIMIT_MS);
      for (let at = losses.first; ; at += losses.every) {
        const job = await this.waitUntil(id, (begun.startedAt ?? Date.now()) + 1000 * at);
        if (job.endedAt !== undefined || !(await this.lose(id, losses.victims()))) break;
        lost++;
      }
    }
    const job = await this.side.until(id, 'its answer', ended, POLL_MS, LIMIT_MS);
    const processor = (spent(this.before, await this.processor()) + this.gone) / 1000;
    return {
      job,
      took: (job.endedAt! - job.startedAt! - (job.pausedMs ?? 0)) / 1000,
      losses: lost,
      answer: await this.answerOf(job),
      processor,
    };
  }

  private async processor(): Promise<Times> {
    const { server, nodes } = await this.side.processor();
    return new Map([...server, ...nodes]);
  }

  /** Waits until a moment (ms since 1970), or until the job has ended. */
  private async waitUntil(id: string, moment: number): Promise<JobView> {
    for (;;) {
      const job = await this.side.job(id);
      const left = moment - Date.now();
      if (left <= 0 || job.endedAt !== undefined) return job;
      await sleep(Math.min(left, 500));
    }
  }

  private async answerOf(job: JobView): Promise<Answer> {
    const text = await this.side.text(`/api/jobs/${job.id}/tasks/0/stdout?from=0`);
    const paths = job.outputs.map((o) => o.path).sort();
    const files: string[] = [];
    for (const path of paths) files.push(`${path} ${await this.side.digest(`/api/jobs/${job.id}/files/${path}`)}`);
    return { text, files };
  }
}

const runs = (j: JobView): boolean => j.tasks.every((t) => t.state === 'running');

export const same = (a: Answer, b: Answer): boolean => a.text === b.text && a.files.join() === b.files.join();
