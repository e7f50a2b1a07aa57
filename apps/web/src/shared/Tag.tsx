/** A state: a coloured dot and its word. The word carries the meaning, the colour only helps. */
import type { Tone } from './tone.ts';

export function Tag({ tone, children, title }: { tone: Tone; children: string; title?: string }) {
  return (
    <span className={`tag tone-${tone}`} title={title}>
      <i aria-hidden="true" />
      {children}
    </span>
  );
}
