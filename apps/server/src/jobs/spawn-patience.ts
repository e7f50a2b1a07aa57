/**
 * Spawns that wait for others to leave: who asks for slots that earlier children of its job hold is told to ask again
 * (SpawnRefusal.LEAVING), and hears so only when a task of the job has ended, or when its patience is over; then it is
 * refused for good. Owns who waits and since when; a restart of the server forgets it, so patience begins anew.
 *
 *  P1  Answers of a task go in order: those behind one that is held back wait too.
 *  P2  A held answer is let go by {@link slotFree} or its own clock, once.
 */
import { SpawnRefusal, type TaskId } from '@mayfly/wire';
import { clock } from '../clock.ts';

/** Children that have been disconnected end within milliseconds, on slow machines seconds. */
const PATIENCE_MS = 20_000;

export class SpawnPatience {
  /** The request that is held back while there is a timer. */
  readonly #waiting = new Map<TaskId, { request: number; since: number; timer: NodeJS.Timeout | undefined }>();
  readonly #letGo: () => void;
  readonly #patienceMs: number;

  /** @param letGo answers may be given that could not before */
  constructor(letGo: () => void, patienceMs = PATIENCE_MS) {
    this.#letGo = letGo;
    this.#patienceMs = patienceMs;
  }

  /** What request number `request` of a task is answered, when this is what the slots say. */
  decide(task: TaskId, request: number, why: number): number {
    const before = this.#waiting.get(task);
    clearTimeout(before?.timer);
    this.#waiting.delete(task);
    if (why !== SpawnRefusal.LEAVING) return why;
    const since = before?.since ?? clock();
    const left = since + this.#patienceMs - clock();
    if (left <= 0) return SpawnRefusal.SLOTS;
    this.#waiting.set(task, { request, since, timer: setTimeout(() => this.#release(task), left) });
    return why;
  }

  /** Of so many requests of a task, those that may be answered by now. */
  answering(task: TaskId, requests: number): number {
    const w = this.#waiting.get(task);
    return w?.timer ? Math.min(w.request - 1, requests) : requests;
  }

  slotFree(): void {
    for (const task of this.#waiting.keys()) this.#release(task);
  }

  close(): void {
    for (const w of this.#waiting.values()) clearTimeout(w.timer);
  }

  #release(task: TaskId): void {
    const w = this.#waiting.get(task);
    if (!w?.timer) return;
    clearTimeout(w.timer);
    w.timer = undefined;
    this.#letGo();
  }
}
