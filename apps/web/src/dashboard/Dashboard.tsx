/** `/dashboard`: the gate, the live connection, and the place where its pages appear. */
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { Outlet } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { elapsed } from '../shared/format.ts';
import { useNow } from '../shared/useNow.ts';
import { LiveContext, useLive } from './context.tsx';
import { EndNotices } from './EndNotices.tsx';
import { Gate } from './Gate.tsx';
import { Live, useLiveView } from './live.ts';
import { Sections } from './Sections.tsx';
import { useToken } from './token.ts';
import { isUpgraded } from './upgraded.ts';
import './dashboard.css';

const queries = new QueryClient({
  defaultOptions: { queries: { staleTime: 10_000, retry: 1, refetchOnWindowFocus: false } },
});

export function Dashboard() {
  const token = useToken();
  return token === undefined ? <Gate /> : <Connected key={token} token={token} />;
}

function Connected({ token }: { token: string }) {
  const [live, setLive] = useState<Live>();
  useEffect(() => {
    const opened = new Live(token);
    setLive(opened);
    return () => {
      opened.close();
      queries.clear();
    };
  }, [token]);
  if (!live) return null;
  return (
    <QueryClientProvider client={queries}>
      <LiveContext value={live}>
        <Sections />
        <Away />
        <Upgraded />
        <EndNotices />
        <Outlet />
      </LiveContext>
    </QueryClientProvider>
  );
}

/** Said as soon as the server has been away for a moment; jobs go on without this page. */
function Away() {
  const { status, since } = useLiveView(useLive());
  const away = status !== 'online';
  const now = useNow(1000, away);
  if (!away || now - since < 1500) return <div role="status" />;
  return (
    <div role="status" className="notice tone-warn away">
      <p>
        <strong>{status === 'offline' ? 'No connection to the server' : 'Connecting to the server'}</strong>
        <span className="muted"> for {elapsed(now - since)}. The data shown may be out of date. Reconnecting…</span>
      </p>
    </div>
  );
}

/** Said when the server has come back with other pages: these go on with the old code until somebody reloads. */
function Upgraded() {
  const { status, since } = useLiveView(useLive());
  const wasAway = useRef(false);
  const [upgraded, setUpgraded] = useState(false);
  useEffect(() => {
    if (status === 'offline') wasAway.current = true;
    if (status === 'online' && wasAway.current) isUpgraded().then(setUpgraded, () => undefined);
  }, [status, since]);
  if (!upgraded || status !== 'online') return <div role="status" />;
  return (
    <div role="status" className="notice away">
      <p className="row">
        <span>
          <strong>Mayfly was upgraded.</strong> <span className="muted">This page still runs the old version.</span>
        </span>
        <button className="button small" onClick={() => location.reload()}>
          Reload
        </button>
        <button className="button small" onClick={() => setUpgraded(false)}>
          Later
        </button>
      </p>
    </div>
  );
}
