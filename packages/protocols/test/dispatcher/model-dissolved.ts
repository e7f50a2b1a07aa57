/** D28 in the dispatcher's model: teams whose end is durable, and those that the dispatcher has shown in this life. */
import type { JobId, TaskId } from '@mayfly/wire';
import { expect } from 'vitest';
import { teamsBefore, type Dissolved, type JobRecord } from '../../src/index.ts';
import type { Images } from './model-images.ts';

export class DissolvedTeams {
  readonly #durable = new Map<string, { readonly job: JobId; readonly team: readonly TaskId[] }>();
  readonly #shown = new Set<string>();

  constructor(private readonly images: Images) {}

  get size(): number {
    return this.#durable.size;
  }

  /** Of a commit. `formed`: each task's team, by job and task. */
  commit(
    job: JobId,
    record: JobRecord | undefined,
    formed: Map<string, string>,
    stateOf: (task: TaskId) => { exit: unknown; fenced: boolean },
  ): void {
    for (const d of record?.dissolved ?? []) {
      const { team, from, groups = [] } = d;
      const key = keyOf(job, d);
      if (this.#durable.has(key)) continue;
      const before = teamsBefore(d);
      for (const t of before)
        if (!groups.some((g) => String(g) === String(t)))
          expect(record!.teams!.map(String), 'D28, D30: a team is there, or it is not').not.toContain(String(t));
      expect(String(from.map((f) => f.task)), 'D28, D30: all members').toBe(String(team));
      for (const t of team) {
        const mine = String(before.find((b) => b.includes(t)) ?? '');
        expect(formed.get(`${job}/${t}`) ?? '', 'D28, D30: the team as it was').toBe(mine);
        expect(stateOf(t).exit, 'D28, D30: nobody has ended').toBeUndefined();
        expect(stateOf(t).fenced, 'D28, D30: everyone has fenced all members').toBe(true);
        formed.delete(`${job}/${t}`);
      }
      this.images.judge(job, d);
      this.#durable.set(key, { job, team });
    }
  }

  shown(job: JobId, dissolved: readonly Dissolved[] = []): void {
    for (const d of dissolved) {
      const key = keyOf(job, d);
      expect([...this.#durable.keys()], 'D28: durable before it is shown').toContain(key);
      this.#shown.add(key);
    }
  }

  fenced(job: JobId, task: TaskId): void {
    for (const [key, d] of this.#durable)
      if (d.job === job && d.team.includes(task)) expect([...this.#shown], 'D28: shown before').toContain(key);
  }

  crash(): void {
    this.#shown.clear();
  }
}

const keyOf = (job: JobId, { team, merged, from }: Dissolved): string =>
  JSON.stringify([job, team, merged, from.map((f) => [f.image, f.arrivals])]);
