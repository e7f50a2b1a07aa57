/** `/dashboard`: the gate (token), the live connection, and the place where its pages appear. */
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { Link, Outlet } from '@tanstack/react-router';
import { useEffect, useState, type FormEvent } from 'react';
import { Input, Label, TextField } from 'react-aria-components';
import { elapsed } from '../shared/format.ts';
import { useNow } from '../shared/useNow.ts';
import { LiveContext, useLive } from './context.tsx';
import { EndNotices } from './EndNotices.tsx';
import { Live, useLiveView } from './live.ts';
import { Sections } from './Sections.tsx';
import { setToken, tokenWasRefused, useToken } from './token.ts';
import './dashboard.css';

const queries = new QueryClient({
  defaultOptions: { queries: { staleTime: 10_000, retry: 1, refetchOnWindowFocus: false } },
});

export function Dashboard() {
  const token = useToken();
  return token ? <Connected key={token} token={token} /> : <Gate />;
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

function Gate() {
  const [typed, setTyped] = useState('');
  const enter = (e: FormEvent) => {
    e.preventDefault();
    if (typed.trim()) setToken(typed.trim());
  };
  return (
    <form className="narrow gate" onSubmit={enter}>
      <title>Dashboard – Mayfly</title>
      <h1>Dashboard</h1>
      <p className="muted">
        The dashboard requires a token. Ask the owner of the server for one, or use the one that the server printed at
        its first start, also as a link that ends in <code>?token=…</code>
      </p>
      <TextField
        className="field"
        value={typed}
        onChange={setTyped}
        isRequired
        autoFocus
        type="password"
        autoComplete="current-password"
      >
        <Label>Token</Label>
        <Input />
        {tokenWasRefused() && (
          <span className="wrong" role="alert">
            The server rejected the last token: it was revoked, has expired, or comes from another server.
          </span>
        )}
      </TextField>
      <div className="row">
        <button className="button primary" type="submit">
          Open the dashboard
        </button>
        <Link to="/volunteer" className="button ghost">
          I only want to volunteer
        </Link>
      </div>
    </form>
  );
}
