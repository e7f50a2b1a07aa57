/**
 * A campaign of faults on real processes: a server, tabs of real Chromium, headless nodes.
 *
 * What every job must show
 *  1 It ends with the very answer of an undisturbed run: standard output of every rank, result files, byte for byte.
 *    Where the workload has the output of a native run, the undisturbed one printed that, too.
 *  2 Only ranks of a victim are lost, with the causes that the kind of fault stands for.
 *  3 Only lost ranks have new incarnations, and every incarnation that a node was given is in the history of losses.
 *    Where ranks go back together, this holds for the job; under `hc3i` for each cluster.
 *  4 Every lost rank is again where it was, or where it would have got, before the next wave of faults.
 */
import { goesBackTogether } from '@mayfly/protocols/manifests';
import type { JobView, ProtocolName } from '@mayfly/wire';
import { below, chance } from '../chance.ts';
import { ApiError, Client, progressOf, type Answer } from '../client.ts';
import { PATIENT, ServerProcess, type Served } from '../server.ts';
import { Servers } from '../servers.ts';
import type { PlannedFault, PlannedJob } from './plan.ts';
import { Pool, type PoolSize } from './pool.ts';
import { LIMIT_MS, must, Wave, Wrong, type Stage, type Struck } from './wave.ts';
import { held, type Workload } from './workloads.ts';

export type { Struck };
export interface JobReport {
  index: number;
  example: string;
  /** The server's name of it. */
  id?: string;
  struck: Struck[];
  /** Kinds that found no victim. */
  missed: string[];
  /** What was wrong; absent: everything was as it must be. */
  wrong?: string;
}

export interface CampaignOptions {
  seed: number;
  say: (line: string) => void;
  size?: PoolSize;
  /** Options of the server. */
  server?: readonly string[];
  /** Waves do not wait for the last node that is still to come. */
  hurried?: boolean;
  /** Of the jobs; default: the server's. */
  protocol?: ProtocolName | undefined;
  /** Ranks of one node form teams of at most so many; the undisturbed run, by which they are judged, has none. */
  teams?: readonly number[];
  /** Server processes over one PostgreSQL; 1: one on a data directory. */
  servers?: number;
}

/** In tables: rows of native-runs.json differ in their arguments and ranks. */
const nameOf = (w: Workload): string =>
  w.native === undefined
    ? w.example
    : `${w.example}${w.example.startsWith('nas-') ? ` ${w.args[0]}` : ''} on ${w.size}`;

export class Campaign {
  private readonly undisturbed = new Map<Workload, { answer: Answer; messages: number[] }>();

  private constructor(
    readonly seed: number,
    readonly server: Served,
    readonly client: Client,
    readonly pool: Pool,
    private readonly say: (line: string) => void,
    private readonly hurried: boolean,
    private readonly protocol: ProtocolName = 'pessimistic',
    private readonly teams: readonly number[] = [1],
  ) {}

  static async start({
    seed,
    say,
    size = { tabs: 2, headless: 2, slots: 2 },
    server: args = PATIENT,
    hurried = false,
    protocol,
    teams,
    servers = 1,
  }: CampaignOptions): Promise<Campaign> {
    const server = servers > 1 ? await Servers.start(servers, args) : await ServerProcess.start(args);
    const pool = new Pool(server, size);
    const campaign = new Campaign(seed, server, new Client(server), pool, say, hurried, protocol, teams);
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

  /** Ends everything and keeps the server's data and what everybody printed. Returns where. */
  async keep(): Promise<string> {
    const nodes = this.pool.log;
    await this.pool.close();
    return this.server.keep({ 'nodes.log': nodes });
  }

  private async submit(w: Workload, team = 1): Promise<string> {
    return (
      await this.client.submit(await held(w.example), w.size, w.args, {
        checkpointMs: goesBackTogether(this.protocol) ? 1000 : 200,
        interactive: true,
        timeLimitMs: 3_600_000,
        protocol: this.protocol,
        team,
        ...(this.protocol === 'hc3i' ? { clusters: 2 } : {}),
      })
    ).id;
  }

  private async reference(w: Workload): Promise<{ answer: Answer; messages: number[] }> {
    let known = this.undisturbed.get(w);
    if (!known) {
      const began = performance.now();
      const id = await this.submit(w);
      await this.client.input(id);
      const end = await this.client.ended(id, LIMIT_MS);
      must(
        end.state === 'done' && end.faults.length === 0,
        `the undisturbed run of ${w.example} is ${end.state}: ${JSON.stringify(end)}`,
      );
      const answer = await this.client.answer(end);
      must(
        !/^FAIL/m.test(answer.stdout.join('')),
        `the undisturbed run of ${w.example} fails its own check: ${answer.stdout.join('')}`,
      );
      if (w.native !== undefined)
        answer.stdout.forEach((text, task) =>
          must(
            text === (task === 0 ? w.native : ''),
            `standard output of rank ${task} of the undisturbed run of ${w.example} differs from the native ` +
              `one:\n${text}\ninstead of\n${task === 0 ? w.native : ''}`,
          ),
        );
      known = { answer, messages: end.tasks.map(progressOf) };
      this.undisturbed.set(w, known);
      this.say(
        `${nameOf(w)} undisturbed${w.native === undefined ? '' : ', as natively'}: ` +
          `${((performance.now() - began) / 1000).toFixed(1)} s, ` +
          `${known.messages.reduce((a, b) => a + b, 0) / 2} messages`,
      );
    }
    return known;
  }

  /** Runs one job through its faults. Never throws: what was wrong is in the report. */
  async run(planned: PlannedJob): Promise<JobReport> {
    const { index, workload } = planned;
    const report: JobReport = { index, example: nameOf(workload), struck: [], missed: [] };
    let id: string | undefined;
    try {
      await this.pool.renew();
      const calm = await this.reference(workload);
      const draw = chance(this.seed, `moments of job ${index}`);
      const team = this.teams[below(chance(this.seed, `team of job ${index}`), this.teams.length)]!;
      id = report.id = await this.submit(workload, team);
      const stage: Stage = {
        client: this.client,
        server: this.server,
        pool: this.pool,
        id,
        job: index,
        example: nameOf(workload) + (team > 1 ? ` in teams of ${team}` : ''),
        messages: calm.messages,
        hurried: this.hurried,
        draw,
        say: this.say,
      };
      const again: PlannedFault[] = [];
      for (const wave of planned.waves) {
        const { struck, missed } = await new Wave(stage, wave).run();
        report.struck.push(...struck);
        again.push(...missed);
      }
      // Ranks have moved meanwhile.
      for (const fault of again) {
        const { struck } = await new Wave(stage, { task: 0, share: 1, faults: [fault] }).run();
        if (struck.length === 0) report.missed.push(fault.kind);
        report.struck.push(...struck);
      }
      await this.goOn(id);
      const end = await this.client.ended(id, LIMIT_MS);
      must(end.state === 'done', `the job is ${end.state}: ${JSON.stringify(end.error)}`);
      this.countLosses(end);
      this.compare(calm.answer, await this.client.answer(end));
    } catch (error) {
      report.wrong = error instanceof Wrong ? error.message : String((error as Error).stack ?? error);
      if (id !== undefined) {
        const seen = await this.client.job(id).catch(() => undefined);
        report.wrong += `\nthe job: ${JSON.stringify(seen)}`;
      }
    }
    return report;
  }

  /**
   * After a job that went wrong, where the same server has to serve the next one. Whatever state its nodes are in, that
   * begins with new ones.
   */
  async clear({ id }: JobReport): Promise<void> {
    if (id !== undefined) await this.client.json('POST', `/api/jobs/${id}/cancel`).catch(() => undefined);
    for (const n of [...this.pool.nodes]) await this.pool.drop(n);
  }

  /** The job may end. Right after a fault of servers the storage may be away for a moment (507). */
  private async goOn(id: string): Promise<void> {
    for (const end = Date.now() + LIMIT_MS; ;)
      try {
        return await this.client.input(id);
      } catch (error) {
        if (!(error instanceof ApiError && error.status === 507) || Date.now() > end) throw error;
        await new Promise((r) => setTimeout(r, 500));
      }
  }

  /**
   * Only lost ranks have new incarnations: each that was given to a node, but the last, is in the job's history of
   * faults, once. A number that was raised for a node which went before it could be given the rank is passed over. A
   * rank whose team was dissolved, moved or merged has a new incarnation without a loss, once for each.
   */
  private countLosses(end: JobView): void {
    const together = goesBackTogether(end.protocol); // what a rank lost because another was is in no history
    for (const { task, incarnation } of end.tasks) {
      const lost: number[] = end.faults.filter((f) => f.task === task).map((f) => f.incarnation);
      must(
        lost.every((n, i) => n < (lost[i + 1] ?? incarnation)),
        `rank ${task}, of incarnation ${incarnation}, was lost as ${lost.join(', ')}`,
      );
      const cluster = end.waves?.clusters?.find((c) => c.ranks.includes(task));
      if (cluster && end.waves!.rollbacks === end.waves!.rolledBack.length)
        must(
          incarnation === 0 || end.waves!.rolledBack.some((r) => r.cluster === cluster.cluster),
          `cluster ${cluster.cluster} never went back, and its rank ${task} has incarnation ${incarnation}`,
        );
      if (together) continue;
      const changes = (end.teamChanges ?? []).filter((c) => c.ranks.includes(task)).length;
      must(
        incarnation === 0 || lost.length > 0 || changes > 0,
        `rank ${task} was never lost and has incarnation ${incarnation}`,
      );
      const given = this.server.assigned(end.id, task);
      const unexplained = [...given].filter((n) => n < incarnation && !lost.includes(n));
      must(
        unexplained.length <= changes,
        `incarnations ${unexplained.join(', ')} of rank ${task} were given to a node, and their losses are in no ` +
          `history; its team changed ${changes} times, the last incarnation is ${incarnation}`,
      );
    }
  }

  private compare(calm: Answer, now: Answer): void {
    calm.stdout.forEach((text, task) =>
      must(
        now.stdout[task] === text,
        `standard output of rank ${task} differs from the undisturbed run:\n${now.stdout[task]}\ninstead of\n${text}`,
      ),
    );
    must(
      Object.keys(calm.files).sort().join() === Object.keys(now.files).sort().join(),
      `result files ${Object.keys(now.files).join()} instead of ${Object.keys(calm.files).join()}`,
    );
    for (const [path, bytes] of Object.entries(calm.files))
      must(Buffer.compare(bytes, now.files[path]!) === 0, `result file ${path} differs from the undisturbed run`);
  }
}
