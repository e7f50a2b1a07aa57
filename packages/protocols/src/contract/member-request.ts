/** Requests of tasks to the membership service, which come from nodes. */
import { MESSAGE_JSON, MemberRequest, parseJson } from '@mayfly/wire';
import { Check } from 'typebox/value';

const text = new TextDecoder();

/** Undefined: not a valid request. */
export function readRequest(body: Uint8Array): MemberRequest | undefined {
  try {
    const value = parseJson(text.decode(body), MESSAGE_JSON);
    return Check(MemberRequest, value) ? value : undefined;
  } catch {
    return undefined;
  }
}
