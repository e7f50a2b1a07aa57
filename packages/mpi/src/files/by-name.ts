/**
 * What the file service says about a name, for callers that are not MPI: stdio's files (packages/libmpi). Nothing is
 * opened, nothing is thrown, no error handler runs. The questions are requests like those of MPI-IO, so their answers
 * are logged arrivals, and a replay hears the same.
 */
import { WORLD } from '@mayfly/wire';
import { COMM_SELF } from '../constants.ts';
import { commOf, requestOf, type Layer } from '../layer.ts';
import { waitUntil } from '../progress.ts';
import { free, isComplete, wait } from '../requests.ts';
import { Schedule, startAlone } from '../schedule.ts';
import { CELL_BYTES } from './state.ts';

export type Question = 'mkdir' | 'rmdir' | 'size';

/** The request that carries it. */
export function ask(layer: Layer, question: Question, path: string): number {
  const s = new Schedule(layer, commOf(layer, COMM_SELF, question), question);
  const cell = s.scratch(CELL_BYTES);
  s.file({ do: 'ask', ask: question, session: 0, path, value: 0, cell }).next();
  s.file({ do: 'result', cell, what: `'${path}'` });
  return startAlone(s);
}

/** Nobody waits for the answer. */
export const ignore = (layer: Layer, request: number): void => free(layer, request);

/** An error class of MPI, 0: none; and the length of a file. */
export type Answer = readonly [error: number, value: number];

/**
 * Blocks.
 * @throws Interrupted: an image is due, and the same wait is entered again after it
 */
export function answerTo(layer: Layer, request: number): Answer {
  const { call } = requestOf(layer, request, 'files');
  waitUntil(
    layer,
    () => isComplete(layer, request),
    () => ({ call, peer: WORLD, tag: undefined }),
  );
  const { error, result } = wait(layer, request);
  return [error?.errorClass ?? 0, result];
}
