/**
 * Gives one Channel Memory core the answers of the file service that the logs of its tasks do not have: each once, in
 * order. A closed log keeps answers until it opens, so one core gets no answer twice. Another core, after a recovery,
 * starts from what its log has.
 */
import { FILES, MayflyError, type TaskId } from '@mayfly/wire';

export interface AnswerSource {
  /** Number of the last answer that may go out. */
  answerable(task: TaskId): number;
  /** Undefined: it is not kept any more. */
  answer(task: TaskId, r: number): { error: number; body: Uint8Array } | undefined;
}

type Core = { logged(src: TaskId, dst: TaskId): number };

export class AnswerFeed {
  readonly #given = new Map<TaskId, number>();
  #to: Core | undefined;

  constructor(private readonly source: AnswerSource) {}

  /**
   * @param give may replace the core: then the rest is for the next one. @param room asked before each answer: whether
   * it may go out now. @returns whether answers wait for room. @throws MayflyError LOST_LOG; what the source throws
   */
  feed(
    core: Core,
    task: TaskId,
    current: () => Core | undefined,
    give: (r: number, answer: { error: number; body: Uint8Array }) => void,
    room: () => boolean,
  ): boolean {
    if (this.#to !== core) this.#given.clear();
    this.#to = core;
    const last = this.source.answerable(task);
    for (let r = (this.#given.get(task) ?? core.logged(FILES, task)) + 1; r <= last && current() === core; r++) {
      const logged = r <= core.logged(FILES, task);
      if (!logged && !room()) return true;
      // It may throw; then the answer did not go out.
      const a = logged ? undefined : this.source.answer(task, r);
      this.#given.set(task, r);
      if (logged) continue;
      if (!a)
        throw new MayflyError('LOST_LOG', `The answer to request ${r} of task ${task} to the file service is lost.`);
      give(r, a);
    }
    return false;
  }
}
