/** One figure of a `dl` of class facts: its name, its value, and what it is of. */
import type { ReactNode } from 'react';

export function Fact({ name, value, more }: { name: string; value: ReactNode; more?: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {value}
        {more !== undefined && <span className="muted small aside">{more}</span>}
      </dd>
    </div>
  );
}
