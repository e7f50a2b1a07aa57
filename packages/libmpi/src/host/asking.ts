/**
 * What a call of WASI asks the job's file service about names (packages/mpi/src/files/by-name.ts).
 *
 * Owns: the answers that the call under way has, and the question that waits. Both are plain data, part of the image.
 *
 * Invariants
 *  A1 Before it has the answers to all its questions but the last, a call changes nothing but what this rank knows of
 *     the job's names. One that is interrupted is entered again (W1 of wasi.ts): a question that it asks once more has
 *     the answer that it had before, one that it does not need any more it leaves out.
 *  A2 Behind its change a call has one question at most, and does nothing else: entered again, it waits for its answer.
 */
import { ERR, files, type Layer } from '@mayfly/mpi';

export interface AskedState {
  /** By question and name. */
  answers: Map<string, files.Answer>;
  /** Request of the question that waits. */
  waiting: number | undefined;
  /** A2: its request, and what to complain of where the answer is FILE_IN_USE. */
  last: { request: number; inUse: string } | undefined;
}

/**
 * 'wait': the call can wait for an answer. 'send': it cannot, as the program's stack cannot be unwound here; others
 * hear what it does, and nothing is asked. 'no': the program was built before names were shared.
 */
export type Way = 'wait' | 'send' | 'no';

export class Asking {
  state: AskedState | undefined;

  constructor(
    private readonly layer: Layer,
    readonly way: () => Way,
  ) {}

  /** A call of WASI from its entry to its end. Those of callbacks in its wait ask nothing. */
  during(call: () => number, complain: (what: string) => void): number {
    if (this.way() !== 'wait') return call();
    const result = this.state?.last ? 0 : call();
    const last = this.state?.last;
    if (last && files.answerTo(this.layer, last.request)[0] === ERR.FILE_IN_USE && last.inUse) complain(last.inUse);
    this.state = undefined;
    return result;
  }

  /** The service's answer; undefined: nobody is asked. @throws Interrupted */
  about(question: files.Question, name: string): files.Answer | undefined {
    if (this.way() !== 'wait') return undefined;
    const state = this.mine();
    const key = `${question} ${name}`;
    const known = state.answers.get(key);
    if (known !== undefined) return known;
    state.waiting ??= files.ask(this.layer, question, name);
    const answer = files.answerTo(this.layer, state.waiting);
    state.waiting = undefined;
    state.answers.set(key, answer);
    return answer;
  }

  /** Nobody waits for what comes of it. */
  tell(question: files.Question, name: string): void {
    if (this.way() !== 'no') files.ignore(this.layer, files.ask(this.layer, question, name));
  }

  /** A2. */
  lastly(question: files.Question, name: string, inUse = ''): void {
    if (this.way() === 'wait') this.mine().last = { request: files.ask(this.layer, question, name), inUse };
    else if (question !== 'size') this.tell(question, name);
  }

  private mine(): AskedState {
    return (this.state ??= { answers: new Map(), waiting: undefined, last: undefined });
  }
}
