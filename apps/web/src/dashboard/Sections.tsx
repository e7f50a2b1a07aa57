/** The way between the parts of the dashboard, above each of them. */
import { FIRST_TOKEN } from '@mayfly/wire';
import { Link, useRouterState } from '@tanstack/react-router';
import { useMay, useMe } from './context.tsx';

/** Which part a page belongs to. */
function partOf(path: string, hash: string): string {
  const [, part = ''] = /^\/dashboard\/(\w+)/.exec(path) ?? [];
  return part === '' && hash === 'nodes' ? 'nodes' : part === 'jobs' || part === 'new' ? '' : part;
}

export function Sections() {
  const here = useRouterState({ select: (s) => partOf(s.location.pathname, s.location.hash) });
  const me = useMe();
  const owner = useMay('owner');
  const at = (part: string) => ({
    activeOptions: { exact: true, includeHash: true },
    ...(here === part ? { className: 'here', 'aria-current': 'true' as const } : {}),
  });
  return (
    <nav className="sections" aria-label="Dashboard">
      <Link to="/dashboard" {...at('')}>
        Jobs
      </Link>
      <Link to="/dashboard" hash="nodes" {...at('nodes')}>
        Nodes
      </Link>
      <Link to="/dashboard/rooms" {...at('rooms')}>
        Rooms
      </Link>
      <Link to="/dashboard/server" {...at('server')}>
        Server
      </Link>
      <Link to="/dashboard/quotas" {...at('quotas')}>
        Quotas
      </Link>
      {owner && (
        <Link to="/dashboard/tokens" {...at('tokens')}>
          Tokens
        </Link>
      )}
      {me && (
        <Link to="/dashboard/me" {...at('me')}>
          {me.name === FIRST_TOKEN ? 'You' : me.name}
        </Link>
      )}
    </nav>
  );
}
