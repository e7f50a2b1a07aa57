/**
 * What a run took: the time of its ranks by what they did, and on whose machines, from what heartbeats say. For the report only; when a job
 * ends it is written to `<dataDir>/jobs/<job>/run.json`. What was before the last start of the server is not known, but for the incarnations
 * that live: they tell their whole time.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SPENT, type Heartbeat, type Incarnation, type JobId, type NodeId, type TaskId } from '@mayfly/wire';

export interface RunSummary {
  /** By {@link SPENT}. */
  spentMs: number[];
  nodes: { name: string; engine: string; ranks: number[] }[];
}

export interface Place {
  id: NodeId;
  name: string;
  engine: string;
}

/** Nodes of one job that are remembered. */
const MAX_NODES = 1000;

interface Run {
  /** Of incarnations that are over. */
  spent: number[];
  acting: Map<TaskId, { incarnation: number; spent: readonly number[] }>;
  nodes: Map<NodeId, { name: string; engine: string; ranks: Set<number> }>;
}

export class RunLog {
  readonly #root: string;
  readonly #runs = new Map<JobId, Run>();

  constructor(jobsRoot: string) {
    this.#root = jobsRoot;
  }

  /** `placeOf`: the node of the acting incarnation, if it is this one. */
  heard(m: Heartbeat, placeOf: (job: JobId, task: TaskId, incarnation: Incarnation) => Place | undefined): void {
    for (const t of m.tasks) {
      const place = placeOf(t.job, t.task, t.incarnation);
      if (!place) continue;
      let run = this.#runs.get(t.job);
      if (!run) this.#runs.set(t.job, (run = { spent: SPENT.map(() => 0), acting: new Map(), nodes: new Map() }));
      const acting = run.acting.get(t.task);
      if (acting && acting.incarnation !== t.incarnation) add(run.spent, acting.spent);
      run.acting.set(t.task, { incarnation: t.incarnation, spent: t.spent ?? [] });
      let node = run.nodes.get(place.id);
      if (!node && run.nodes.size < MAX_NODES) run.nodes.set(place.id, (node = { name: place.name, engine: place.engine, ranks: new Set() }));
      node?.ranks.add(t.task);
    }
  }

  of(job: JobId): RunSummary {
    const run = this.#runs.get(job);
    if (!run) {
      try {
        return JSON.parse(readFileSync(this.#path(job), 'utf8')) as RunSummary;
      } catch {
        return { spentMs: SPENT.map(() => 0), nodes: [] };
      }
    }
    const spentMs = [...run.spent];
    for (const a of run.acting.values()) add(spentMs, a.spent);
    return { spentMs, nodes: [...run.nodes.values()].map((n) => ({ ...n, ranks: [...n.ranks].sort((a, b) => a - b) })) };
  }

  /** The job has ended. The first word stands. */
  write(job: JobId): void {
    try {
      // Statistics of an ended job: not worth a sync, nor that a full disk keeps it from ending.
      if (this.#runs.has(job) && !existsSync(this.#path(job))) writeFileSync(this.#path(job), JSON.stringify(this.of(job)), { mode: 0o600 });
    } catch {
      // Its report will say less.
    }
    this.#runs.delete(job);
  }

  #path(job: JobId): string {
    return join(this.#root, job, 'run.json');
  }
}

function add(sum: number[], more: readonly number[]): void {
  for (let i = 0; i < sum.length; i++) sum[i]! += more[i] ?? 0;
}
