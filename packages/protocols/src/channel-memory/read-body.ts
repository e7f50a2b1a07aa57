/** Frames of comm workers whose body is JSON. */
import type { Static, TSchema } from 'typebox';
import { Check } from 'typebox/value';
import { parse } from './records.ts';
import { protocolError } from './refuse.ts';

/** @throws ProtocolError */
export function readBody<S extends TSchema>(what: string, schema: S, body: Uint8Array): Static<S> {
  let m: unknown;
  try {
    m = parse(body);
  } catch {
    throw protocolError('BAD_FRAME', `${what} is no JSON`);
  }
  if (!Check(schema, m)) throw protocolError('BAD_FRAME', `${what} does not match its schema`);
  return m;
}
