/**
 * Gives one Channel Memory core the answers of the file service that the logs of its tasks do not have: each once, in
 * order. A log that is closed keeps what it is given until it opens, so nothing is given twice to one core; another
 * core, after a recovery, begins with what its log has.
 */
import { FILES, MayflyError, type TaskId } from '@mayfly/wire';
import type { ChannelMemory } from '../channel-memory/channel-memory.ts';

export interface AnswerSource {
  /** Up to which answers may be given. */
  answerable(task: TaskId): number;
  /** Undefined: it is not kept any more. */
  answer(task: TaskId, r: number): { error: number; body: Uint8Array } | undefined;
}

export class AnswerFeed {
  readonly #given = new Map<TaskId, number>();
  #to: ChannelMemory | undefined;

  constructor(private readonly source: AnswerSource) {}

  /** @param give may replace the core: then the rest is for the next one. @throws MayflyError LOST_LOG */
  feed(
    core: ChannelMemory,
    task: TaskId,
    current: () => ChannelMemory | undefined,
    give: (r: number, answer: { error: number; body: Uint8Array }) => void,
  ): void {
    if (this.#to !== core) this.#given.clear();
    this.#to = core;
    const last = this.source.answerable(task);
    for (let r = (this.#given.get(task) ?? core.logged(FILES, task)) + 1; r <= last && current() === core; r++) {
      const logged = r <= core.logged(FILES, task);
      // It may throw: then it was not given.
      const a = logged ? undefined : this.source.answer(task, r);
      this.#given.set(task, r);
      if (logged) continue;
      if (!a)
        throw new MayflyError('LOST_LOG', `The answer to request ${r} of task ${task} to the file service is lost.`);
      give(r, a);
    }
  }
}
