/**
 * Windows in images. The memory of a C program's windows is in the image with all its memory. A window of a TypeScript
 * program is an array of the program: its bytes go into the layer's section, and back into the array that the restarted
 * program has made the window of.
 */
import { ERR, fail } from '../errors.ts';
import type { Layer } from '../layer.ts';

/** @throws MPIError ERR_PENDING when an answer is still to come into an array of the program */
export function keepContents<T>(layer: Layer, encode: () => T): T {
  const { windows } = layer.state;
  for (const r of windows.replies.rows.values())
    if ((r.into?.space ?? 0) > 0)
      fail(
        ERR.PENDING,
        'checkpoint',
        `a ${r.call} is pending: it goes to an array of the program, which an image cannot hold; complete it first`,
      );
  const own = [...windows.table.rows.values()].filter((w) => w.base.space > 0);
  for (const w of own) w.contents = layer.memory.view(w.base);
  try {
    return encode();
  } finally {
    for (const w of own) delete w.contents;
  }
}

export function putContents(layer: Layer): void {
  for (const w of layer.state.windows.table.rows.values()) {
    if (!w.contents) continue;
    layer.memory.view(w.base).set(w.contents);
    delete w.contents;
  }
}

/** Operations that are held here and whose bodies are in the log. */
export function heldOperations(layer: Layer): number[] {
  const { windows } = layer.state;
  const lists = [...windows.early.values(), ...[...windows.table.rows.values()].flatMap((w) => [...w.held.values()])];
  return lists
    .flat()
    .filter((e) => e.size > 0 && !e.body)
    .map((e) => e.arrival);
}
