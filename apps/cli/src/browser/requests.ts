/**
 * Requests and answers by number, as both DevTools and WebDriver BiDi have them. Owns those that are not answered yet.
 */
const ANSWER_MS = 30_000;

interface Answer {
  id?: number;
  result?: unknown;
  error?: unknown;
  message?: unknown;
}

export class Requests {
  readonly #waiting = new Map<number, (a: Answer | undefined) => void>();
  #next = 1;
  #closed = false;

  constructor(private readonly send: (message: string) => void) {}

  ask<T>(method: string, params: object, more: object = {}): Promise<T> {
    const id = this.#next++;
    return new Promise<T>((resolve, reject) => {
      const fail = (why: string): void => reject(new Error(`${method}: ${why}`));
      if (this.#closed) return fail('the browser is gone');
      const late = setTimeout(() => {
        this.#waiting.delete(id);
        fail(`no answer within ${ANSWER_MS / 1000} s`);
      }, ANSWER_MS);
      this.#waiting.set(id, (a) => {
        clearTimeout(late);
        this.#waiting.delete(id);
        if (!a) fail('the browser is gone');
        else if (a.error !== undefined)
          fail(
            typeof a.error === 'string'
              ? `${a.error}: ${String(a.message)}`
              : String((a.error as { message?: unknown }).message),
          );
        else resolve(a.result as T);
      });
      this.send(JSON.stringify({ id, method, params, ...more }));
    });
  }

  /** @returns whether it was the answer to a request */
  answered(message: Answer): boolean {
    if (typeof message.id !== 'number') return false;
    this.#waiting.get(message.id)?.(message);
    return true;
  }

  close(): void {
    this.#closed = true;
    for (const w of [...this.#waiting.values()]) w(undefined);
  }
}
