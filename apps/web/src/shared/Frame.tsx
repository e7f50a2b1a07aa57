/** What every page has: the way to the others, and what is shown when a page is missing or breaks. */
import { Link, Outlet, useRouterState, type ErrorComponentProps } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { usePresence } from './presence.ts';
import { Tag } from './Tag.tsx';
import { Wings } from './Wings.tsx';

export function Frame() {
  const presence = usePresence();
  const path = useRouterState({ select: (s) => s.location.pathname });
  const main = useRef<HTMLElement>(null);
  const first = useRef(true);
  useEffect(() => {
    // A screen reader is told of a new page by the focus, except for the first one, where the browser does it.
    if (!first.current) main.current?.focus({ preventScroll: true });
    first.current = false;
  }, [path]);
  // Embedded in another site: that one has its own ways.
  if (path === '/widget')
    return (
      <main id="main">
        <Outlet />
      </main>
    );
  return (
    <>
      <a className="skip" href="#main">
        Skip to the content
      </a>
      <header className="top">
        <Link to="/" className="brand">
          <Wings />
          <span>Mayfly</span>
        </Link>
        {presence && !path.startsWith('/volunteer') && (
          <Link to="/volunteer" className="presence" aria-label={`This tab volunteers: ${presence.text}`}>
            <Tag tone={presence.tone}>{presence.text}</Tag>
          </Link>
        )}
        <nav aria-label="Pages">
          <Link to="/volunteer" activeProps={{ className: 'here' }}>
            Volunteer
          </Link>
          <Link to="/dashboard" activeProps={{ className: 'here' }}>
            Dashboard
          </Link>
          <Link to="/docs" activeProps={{ className: 'here' }}>
            Docs
          </Link>
        </nav>
      </header>
      <main id="main" ref={main} tabIndex={-1}>
        <Outlet />
      </main>
    </>
  );
}

export function Missing() {
  const docs = useRouterState({ select: (s) => /^\/docs(\/|$)/.test(s.location.pathname) });
  return (
    <section className="narrow stack">
      <title>Not found – Mayfly</title>
      <h1>Page not found</h1>
      <p className="muted">{docs ? 'There is no document with that name.' : 'Nothing is at this address.'}</p>
      <p className="row">
        <Link to="/docs" className={docs ? 'button primary' : 'button'}>
          Documentation
        </Link>
        <Link to="/volunteer" className="button">
          Volunteer this tab
        </Link>
        <Link to="/dashboard" className="button">
          Dashboard
        </Link>
      </p>
    </section>
  );
}

export function Crash({ error }: ErrorComponentProps) {
  return (
    <section className="narrow" role="alert">
      <title>Error – Mayfly</title>
      <h1>This page failed</h1>
      <p className="muted">
        This is an error in the page, not in your job: jobs keep running. Reload the page to continue.
      </p>
      <pre className="block">{error instanceof Error ? (error.stack ?? error.message) : String(error)}</pre>
      <button className="button primary" onClick={() => location.reload()}>
        Reload
      </button>
    </section>
  );
}
