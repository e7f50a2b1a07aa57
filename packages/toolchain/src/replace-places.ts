/** Places in a stack, which comes from a node: its length is bounded, what stands in it is not. */

/**
 * Replaces what `place` finds, with the address before it: all up to the last character of `ends`. Linear in the length
 * of the stack: one expression that began with "any address" would look at a long word again from each of its
 * characters (64 KB: 6 s).
 * @param place global; begins with a fixed text
 * @param by of the text (with its address) and the groups of `place`
 */
export function replacePlaces(
  stack: string,
  place: RegExp,
  ends: RegExp,
  by: (text: string, ...groups: string[]) => string,
): string {
  let out = '';
  let done = 0;
  for (const match of stack.matchAll(place)) {
    let from = match.index;
    while (from > done && !ends.test(stack[from - 1]!)) from--;
    const end = match.index + match[0].length;
    out += stack.slice(done, from) + by(stack.slice(from, end), ...match.slice(1));
    done = end;
  }
  return out + stack.slice(done);
}
