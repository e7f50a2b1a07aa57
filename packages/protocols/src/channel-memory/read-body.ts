/** Frames of comm workers whose body is JSON. */
import type { Static, TSchema } from 'typebox';
import { Check } from 'typebox/value';
import { parse } from './records.ts';
import { protocolError } from './refuse.ts';

/**
 * `NoInfer`: where the result is an argument, TypeScript would infer `S` backwards through `Static`, for seconds in
 * each program that has this file.
 *
 * @throws ProtocolError
 */
export function readBody<S extends TSchema>(what: string, schema: S, body: Uint8Array): NoInfer<Static<S>> {
  let m: unknown;
  try {
    m = parse(body);
  } catch {
    throw protocolError('BAD_FRAME', `${what} is no JSON`);
  }
  if (!Check(schema, m)) throw protocolError('BAD_FRAME', `${what} does not match its schema`);
  return m as NoInfer<Static<S>>;
}
