/** `/docs`: what there is to read. */
import { Link } from '@tanstack/react-router';
import { GROUPS } from './documents.ts';

export function DocsPage() {
  return (
    <article className="stack">
      <title>Documentation – Mayfly</title>
      <h1>Documentation</h1>
      <p className="muted">This server serves these pages; nothing loads from elsewhere.</p>
      {GROUPS.map((g) => (
        <section key={g.title} className="stack">
          <h2>{g.title}</h2>
          <ul className="docs-list">
            {g.documents.map((d) => (
              <li key={d.name}>
                <Link to="/docs/$name" params={{ name: d.name }}>
                  {d.title}
                </Link>
                <span className="muted">: {d.about}</span>
              </li>
            ))}
            {g.title === 'Running jobs' && (
              <li>
                <Link to="/docs/api">REST API</Link>
                <span className="muted">: what the dashboard and the command line do, for programs of your own</span>
              </li>
            )}
          </ul>
        </section>
      ))}
    </article>
  );
}
