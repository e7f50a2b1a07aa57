/** The search in all documents. Its index is a chunk of its own, which loads when somebody goes to the field. */
import { Link } from '@tanstack/react-router';
import { useDeferredValue, useMemo, useState } from 'react';
import { plural } from '../shared/format.ts';
import { DOCUMENTS } from './documents.ts';
import { searched, type Section } from './search.ts';

const titleOf = (doc: string): string => DOCUMENTS.find((d) => d.name === doc)?.title ?? doc;

export function Search() {
  const [query, setQuery] = useState('');
  const [index, setIndex] = useState<readonly Section[]>();
  const [failed, setFailed] = useState(false);
  const load = () =>
    void import('virtual:documents-index').then(
      (m) => setIndex(m.index),
      () => setFailed(true),
    );
  const wanted = useDeferredValue(query);
  const hits = useMemo(() => (index ? searched(index, wanted) : []), [index, wanted]);
  const asked = wanted.trim() !== '';
  return (
    <search className="docs-search">
      <input
        className="in"
        type="search"
        aria-label="Search the documentation"
        placeholder="Search the documentation"
        value={query}
        onFocus={load}
        onChange={(e) => setQuery(e.target.value)}
        onKeyDown={(e) => e.key === 'Escape' && setQuery('')}
      />
      <p className="small muted" role="status">
        {!asked
          ? ''
          : failed
            ? 'Could not load the index; the server does not answer.'
            : index === undefined
              ? 'Loading the index…'
              : hits.length === 0
                ? `Nothing found for “${wanted.trim()}”.`
                : plural(hits.length, 'section')}
      </p>
      {hits.length > 0 && (
        <ul className="docs-hits" aria-label="Sections found">
          {hits.map((h) => (
            <li key={`${h.doc}#${h.id}`}>
              <Link to="/docs/$name" params={{ name: h.doc }} hash={h.id} onClick={() => setQuery('')}>
                {h.heading}
              </Link>
              <span className="small muted"> {titleOf(h.doc)}</span>
              <p className="small muted">{h.excerpt}</p>
            </li>
          ))}
        </ul>
      )}
    </search>
  );
}
