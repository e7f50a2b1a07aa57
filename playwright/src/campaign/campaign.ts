/**
 * A campaign of faults on real processes: a server, tabs of real Chromium, headless nodes.
 *
 * What every job must show
 *  1 It ends with the very answer of an undisturbed run: standard output of every rank, result files, byte for byte.
 *  2 Only ranks of the victim are lost, with the causes that the kind of fault stands for.
 *  3 Only lost ranks have new incarnations, and no more than they were lost.
 *  4 Every lost rank is again where it was, or where it would have got, before the next fault.
 */
import type { JobView } from '@mayfly/wire';
import { chance } from '../chance.ts';
import { Client, progressOf, type Answer } from '../client.ts';
import type { VolunteerNode } from '../nodes/node.ts';
import { BrowserTab } from '../nodes/tab.ts';
import { ServerProcess } from '../server.ts';
import { kindOf, type Kind, type Scene } from './kinds.ts';
import type { PlannedFault, PlannedJob } from './plan.ts';
import { Pool, type PoolSize } from './pool.ts';
import { held, type Workload } from './workloads.ts';

export interface Struck {
  kind: string;
  job: number;
  example: string;
  victim: string;
  /** Ranks that were lost by it. */
  lost: number[];
  causes: string[];
  /** The longest of their recoveries. */
  recoveredAfterMs: number;
  tookMs: number;
  /** The program still computed; else it was held at its end. */
  midway: boolean;
}
export interface JobReport {
  index: number;
  example: string;
  struck: Struck[];
  /** Kinds that found no victim. */
  missed: string[];
  /** What was wrong; absent: everything was as it must be. */
  wrong?: string;
}

const LIMIT_MS = 300_000;

class Wrong extends Error {}
function must(holds: boolean, says: string): asserts holds {
  if (!holds) throw new Wrong(says);
}

/** The program has come to its end and waits for the line. */
const atEnd = (j: JobView): boolean => j.tasks[0]?.activity?.call === 'stdin';
const over = (j: JobView): boolean => j.endedAt !== undefined;

export class Campaign {
  private readonly undisturbed = new Map<Workload, { answer: Answer; messages: number[] }>();

  private constructor(
    readonly seed: number,
    readonly server: ServerProcess,
    readonly client: Client,
    readonly pool: Pool,
    private readonly say: (line: string) => void,
  ) {}

  static async start(seed: number, say: (line: string) => void, size: PoolSize = { tabs: 2, headless: 2, slots: 2 }): Promise<Campaign> {
    const server = await ServerProcess.start();
    const campaign = new Campaign(seed, server, new Client(server), new Pool(server.url, size), say);
    try {
      await campaign.pool.full();
    } catch (error) {
      await campaign.close();
      throw error;
    }
    return campaign;
  }

  async close(): Promise<void> {
    await this.pool.close();
    await this.server.stop();
  }

  private async submit(w: Workload): Promise<string> {
    return (await this.client.submit(await held(w.example), w.size, w.args, { checkpointMs: 200, interactive: true, timeLimitMs: 3_600_000 })).id;
  }

  private async reference(w: Workload): Promise<{ answer: Answer; messages: number[] }> {
    let known = this.undisturbed.get(w);
    if (!known) {
      const began = performance.now();
      const id = await this.submit(w);
      await this.client.input(id);
      const end = await this.client.ended(id, LIMIT_MS);
      must(end.state === 'done' && end.faults.length === 0, `the undisturbed run of ${w.example} is ${end.state}: ${JSON.stringify(end)}`);
      known = { answer: await this.client.answer(end), messages: end.tasks.map(progressOf) };
      this.undisturbed.set(w, known);
      this.say(`${w.example} undisturbed: ${((performance.now() - began) / 1000).toFixed(1)} s, ${known.messages.reduce((a, b) => a + b, 0) / 2} messages`);
    }
    return known;
  }

  /** Runs one job through its faults. Never throws: what was wrong is in the report. */
  async run(planned: PlannedJob): Promise<JobReport> {
    const { index, workload } = planned;
    const report: JobReport = { index, example: workload.example, struck: [], missed: [] };
    let id: string | undefined;
    try {
      await this.pool.renew();
      const calm = await this.reference(workload);
      id = await this.submit(workload);
      const draw = chance(this.seed, `moments of job ${index}`);
      for (const fault of planned.faults) {
        const struck = await this.strike(id, planned, fault, calm.messages, draw);
        if (struck) report.struck.push(struck);
        else report.missed.push(fault.kind);
      }
      await this.client.input(id);
      const end = await this.client.ended(id, LIMIT_MS);
      must(end.state === 'done', `the job is ${end.state}: ${JSON.stringify(end.error)}`);
      for (const t of end.tasks) {
        const times = end.faults.filter((f) => f.task === t.task).length;
        must(t.incarnation <= times, `rank ${t.task} has incarnation ${t.incarnation} and was lost ${times} times`);
      }
      this.compare(calm.answer, await this.client.answer(end));
    } catch (error) {
      report.wrong = error instanceof Wrong ? error.message : String((error as Error).stack ?? error);
      if (id !== undefined) {
        const seen = await this.client.job(id).catch(() => undefined);
        report.wrong += `\nthe job: ${JSON.stringify(seen)}`;
        await this.client.json('POST', `/api/jobs/${id}/cancel`).catch(() => undefined);
      }
      // Whatever state they are in, the next job begins with new ones.
      for (const n of [...this.pool.nodes]) await this.pool.drop(n);
    }
    return report;
  }

  private compare(calm: Answer, now: Answer): void {
    calm.stdout.forEach((text, task) => must(now.stdout[task] === text, `standard output of rank ${task} differs from the undisturbed run:\n${now.stdout[task]}\ninstead of\n${text}`));
    must(Object.keys(calm.files).sort().join() === Object.keys(now.files).sort().join(), `result files ${Object.keys(now.files).join()} instead of ${Object.keys(calm.files).join()}`);
    for (const [path, bytes] of Object.entries(calm.files)) must(Buffer.compare(bytes, now.files[path]!) === 0, `result file ${path} differs from the undisturbed run`);
  }

  /** undefined: none of the nodes with ranks is one where this kind can strike. */
  private async strike(id: string, planned: PlannedJob, fault: PlannedFault, messages: readonly number[], draw: () => number): Promise<Struck | undefined> {
    const kind = kindOf(fault.kind);
    const wanted = Math.floor(fault.share * messages[fault.task]!);
    await this.pool.full();
    // Point 4: nothing is under way any more; and the moment has come.
    const before = await this.client.until(
      id,
      `whole again and at ${wanted} messages of rank ${fault.task}`,
      (j) => over(j) || (j.faults.every((f) => f.recoveredAfterMs !== undefined) && j.tasks.every((t) => t.state === 'running') && (progressOf(j.tasks[fault.task]!) >= wanted || atEnd(j))),
      LIMIT_MS,
    );
    must(!over(before), `the job ended by itself, ${before.state}: ${JSON.stringify(before.error)}`);
    const found = this.victim(kind, before, fault.victims);
    if (!found) return undefined;
    const { node, task } = found;
    const victims = kind.gone === 'all' ? this.pool.nodes.map((n) => n.name) : [node.name];
    const at = before.faults.length;
    const fresh = (j: JobView): JobView['faults'] => j.faults.slice(at);
    const scene: Scene = {
      client: this.client,
      server: this.server,
      job: id,
      task,
      node: before.tasks[task]!.node!,
      nodes: this.pool.nodes,
      lost: async () => void (await this.client.until(id, 'lost', (j) => over(j) || fresh(j).length > 0, LIMIT_MS)),
      draw,
    };
    const began = performance.now();
    await (kind.run as (victim: VolunteerNode, scene: Scene) => Promise<void>)(node, scene);
    if (kind.gone) for (const n of [...this.pool.nodes]) if (victims.includes(n.name)) await this.pool.drop(n);
    // The next ones come while the lost ranks are already started elsewhere.
    const replaced = this.pool.full();
    const after = await this.client.until(
      id,
      `recovered from ${kind.name} of ${node.name}`,
      (j) => over(j) || (j.tasks.every((t) => t.state === 'running') && (!kind.loses || fresh(j).length > 0) && fresh(j).every((f) => f.recoveredAfterMs !== undefined)),
      LIMIT_MS,
    );
    await replaced;
    must(!over(after), `the job ended by itself, ${after.state}: ${JSON.stringify(after.error)}`);
    const faults = fresh(after);
    const hosted = before.tasks.filter((t) => victims.includes(t.nodeName ?? '')).map((t) => t.task);
    for (const f of faults) {
      must(hosted.includes(f.task), `${kind.name} of ${node.name}, which had ranks ${hosted.join()}, cost rank ${f.task} (${f.cause})`);
      must(kind.causes.includes(f.cause), `${kind.name} of ${node.name} cost rank ${f.task} by '${f.cause}'`);
    }
    const struck: Struck = {
      kind: kind.name,
      job: planned.index,
      example: planned.workload.example,
      victim: kind.name === 'everybody' ? 'all' : node.name,
      lost: faults.map((f) => f.task),
      causes: faults.map((f) => f.cause),
      recoveredAfterMs: Math.max(0, ...faults.map((f) => f.recoveredAfterMs ?? 0)),
      tookMs: performance.now() - began,
      midway: !atEnd(before),
    };
    const moment = struck.midway ? `at ${progressOf(before.tasks[fault.task]!)} of ${messages[fault.task]} messages of rank ${fault.task}` : 'at the end';
    const cost = faults.length === 0 ? 'nothing lost' : `lost rank ${struck.lost.join(', ')}, recovered in ${struck.recoveredAfterMs} ms`;
    this.say(`  job ${planned.index} ${struck.example}: ${kind.name} of ${struck.victim} ${moment}: ${cost} (${(struck.tookMs / 1000).toFixed(1)} s)`);
    return struck;
  }

  private victim(kind: Kind, job: JobView, order: readonly number[]): { node: VolunteerNode; task: number } | undefined {
    for (const task of order) {
      const node = this.pool.find(job.tasks[task]!.nodeName);
      if (node && (kind.on === 'any' || kind.on === node.kind) && !(kind.drives && node instanceof BrowserTab && !node.driven)) return { node, task };
    }
    return undefined;
  }
}
