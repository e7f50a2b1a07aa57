/**
 * Differences between two JSON values of the same shape: a viewer that has one value gets the other in few bytes. Pure.
 *
 *   nothing       undefined
 *   another       [value]
 *   an object     {key: patch, …}; a key that has gone: 0
 *   an array      {index: patch, …}, and its new length as `length` when that is another
 *
 *  patched(a, patchOf(a, b)) equals b, and shares with a all that did not change. `undefined` in an object is as good
 *  as no key.
 */
export type Patch = undefined | 0 | readonly [unknown] | { readonly [key: string]: Patch | number };

type Json = Record<string, unknown>;
const isObject = (v: unknown): v is Json => typeof v === 'object' && v !== null;

export function patchOf(before: unknown, after: unknown): Patch {
  if (Object.is(before, after)) return undefined;
  if (!isObject(before) || !isObject(after) || Array.isArray(before) !== Array.isArray(after)) return [after];
  const out: Record<string, Patch | number> = {};
  if (Array.isArray(after) && (before as unknown as unknown[]).length !== after.length) out['length'] = after.length;
  for (const key in after) {
    if (after[key] === undefined) continue;
    const change = before[key] === undefined ? ([after[key]] as const) : patchOf(before[key], after[key]);
    if (change !== undefined) out[key] = change;
  }
  if (!Array.isArray(after))
    for (const key in before) if (before[key] !== undefined && after[key] === undefined) out[key] = 0;
  return Object.keys(out).length === 0 ? undefined : out;
}

export function patched(before: unknown, patch: Patch): unknown {
  if (patch === undefined || patch === 0) return before;
  if (Array.isArray(patch)) return (patch as readonly [unknown])[0];
  const changes = patch as { readonly [key: string]: Patch | number };
  if (Array.isArray(before)) {
    const out = (before as unknown[]).slice(0, typeof changes['length'] === 'number' ? changes['length'] : undefined);
    for (const key of Object.keys(changes))
      if (key !== 'length') out[Number(key)] = patched(out[Number(key)], changes[key] as Patch);
    return out;
  }
  const out: Json = { ...(before as Json) };
  for (const key of Object.keys(changes)) {
    const change = changes[key] as Patch;
    if (change === 0) delete out[key];
    else out[key] = patched(out[key], change);
  }
  return out;
}
