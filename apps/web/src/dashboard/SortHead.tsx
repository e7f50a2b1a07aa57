/** The head of a column that sorts its table. */
import type { ReactNode } from 'react';

interface Props {
  title: string;
  hint?: string | undefined;
  className?: string | undefined;
  /** Which way the table is sorted by it; undefined: by another column. */
  order: 'ascending' | 'descending' | undefined;
  onSort: () => void;
  children?: ReactNode;
}

export function SortHead({ title, hint, className, order, onSort, children }: Props) {
  return (
    <th scope="col" className={className} aria-sort={order ?? 'none'}>
      <button type="button" className="sort" title={hint} onClick={onSort}>
        {title}
        <span aria-hidden="true">{order === undefined ? '' : order === 'descending' ? ' ↓' : ' ↑'}</span>
      </button>
      {children}
    </th>
  );
}
