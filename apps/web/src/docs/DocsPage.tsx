/** `/docs`: what there is to read. */
import { Link } from '@tanstack/react-router';
import { DOCUMENTS } from './documents.ts';
import './document.css';

export function DocsPage() {
  return (
    <article className="narrow stack">
      <title>Documentation – Mayfly</title>
      <h1>Documentation</h1>
      <p className="muted">This server serves these pages; nothing loads from elsewhere.</p>
      <ul className="docs-list">
        {DOCUMENTS.map((d) => (
          <li key={d.name}>
            <Link to="/docs/$name" params={{ name: d.name }}>
              {d.title}
            </Link>
            <span className="muted">: {d.about}</span>
          </li>
        ))}
        <li>
          <Link to="/docs/trust">Trust</Link>
          <span className="muted">: what a volunteer could falsify, and what you can do about it</span>
        </li>
        <li>
          <Link to="/docs/api">REST API</Link>
          <span className="muted">: what the dashboard and the command line do, for programs of your own</span>
        </li>
      </ul>
    </article>
  );
}
