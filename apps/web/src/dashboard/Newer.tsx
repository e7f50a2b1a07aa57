/**
 * The line above a list that keeps its rows in their places: what has come since, and the button that lets it in. It is
 * there before there is something to say.
 */
import type { ReactNode } from 'react';
import { plural } from '../shared/format.ts';

interface NewerProps {
  n: number;
  /** One of them. */
  what: string;
  renew(): void;
  children?: ReactNode;
  id?: string;
}

export function Newer({ n, what, renew, children, id }: NewerProps) {
  return (
    <p className="row nowrap news small" role="status" data-testid={id}>
      {n > 0 && (
        <button className="button small" onClick={renew}>
          Show {plural(n, what)}
        </button>
      )}
      {/* Other words, not the same ones elsewhere. */}
      <span key={n > 0 ? 'beside' : 'alone'} className="one-line">
        {children}
      </span>
    </p>
  );
}
