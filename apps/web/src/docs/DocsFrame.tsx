/**
 * What every page of the documentation has: the search, and the way to the others; at the side where there is room,
 * folded above the text where there is none.
 */
import { Link, Outlet, useRouterState } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { GROUPS } from './documents.ts';
import { Search } from './Search.tsx';
import './document.css';

const WIDE = '(min-width: 62rem)';

export function DocsFrame() {
  const path = useRouterState({ select: (s) => s.location.pathname });
  const [wide, setWide] = useState(() => matchMedia(WIDE).matches);
  const [open, setOpen] = useState(false);
  useEffect(() => {
    const media = matchMedia(WIDE);
    const look = () => setWide(media.matches);
    media.addEventListener('change', look);
    return () => media.removeEventListener('change', look);
  }, []);
  useEffect(() => setOpen(false), [path]);
  return (
    <div className="docs">
      <div className="docs-side">
        <Search key={path} />
        <nav aria-label="Documentation">
          <details open={wide || open} onToggle={(e) => !wide && setOpen(e.currentTarget.open)}>
            <summary hidden={wide}>All pages</summary>
            <Link to="/docs" activeOptions={{ exact: true }}>
              Overview
            </Link>
            {GROUPS.map((g) => (
              <section key={g.title}>
                <h2 className="label">{g.title}</h2>
                <ul>
                  {g.documents.map((d) => (
                    <li key={d.name}>
                      <Link to="/docs/$name" params={{ name: d.name }}>
                        {d.title}
                      </Link>
                    </li>
                  ))}
                  {g.title === 'Running jobs' && (
                    <li>
                      <Link to="/docs/api">REST API</Link>
                    </li>
                  )}
                </ul>
              </section>
            ))}
          </details>
        </nav>
      </div>
      <div className="docs-page">
        <Outlet />
      </div>
    </div>
  );
}
