/** D28 in the dispatcher's model: teams whose end is durable, and those that the dispatcher has shown in this life. */
import type { JobId, TaskId } from '@mayfly/wire';
import { expect } from 'vitest';
import type { Dissolved, JobRecord } from '../../src/index.ts';

export class DissolvedTeams {
  readonly #durable = new Map<string, { readonly job: JobId; readonly team: readonly TaskId[] }>();
  readonly #shown = new Set<string>();

  get size(): number {
    return this.#durable.size;
  }

  /** Of a commit. `formed`: each task's team, by job and task. */
  commit(
    job: JobId,
    record: JobRecord | undefined,
    formed: Map<string, string>,
    exitOf: (task: TaskId) => unknown,
  ): void {
    for (const { team, from } of record?.dissolved ?? []) {
      const key = `${job} ${String(team)}`;
      if (this.#durable.has(key)) continue;
      expect(record!.teams!.map(String), 'D28: a team is dissolved, or it is not').not.toContain(String(team));
      expect(String(from.map((f) => f.task)), 'D28: all members').toBe(String(team));
      for (const t of team) {
        expect(formed.get(`${job}/${t}`), 'D28: the team as it was').toBe(String(team));
        expect(exitOf(t), 'D28: nobody has ended').toBeUndefined();
        formed.delete(`${job}/${t}`);
      }
      this.#durable.set(key, { job, team });
    }
  }

  shown(job: JobId, dissolved: readonly Dissolved[] = []): void {
    for (const { team } of dissolved) {
      const key = `${job} ${String(team)}`;
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
