/** The gate of the dashboard: signing in where the server offers it, or a token. */
import { Link } from '@tanstack/react-router';
import { useEffect, useState, type FormEvent } from 'react';
import { Input, Label, TextField } from 'react-aria-components';
import type { InfoView } from '@mayfly/wire';
import { getInfo, hasSession } from './api.ts';
import { loginProblem } from './login-problem.ts';
import { setToken, tokenWasRefused, takeSession } from './token.ts';

/** Taken once, and out of the address: a reload is a new attempt. */
function problemFromAddress(): string | undefined {
  const url = new URL(location.href);
  const code = url.searchParams.get('login');
  if (code === null) return undefined;
  url.searchParams.delete('login');
  history.replaceState(history.state, '', url);
  return loginProblem(code);
}

/** What the server says of signing in; undefined until it has. */
function useLogin(): InfoView['login'] {
  const [login, setLogin] = useState<InfoView['login']>();
  useEffect(() => {
    let gone = false;
    const look = async () => {
      const info = await getInfo();
      if (gone || !info.login) return;
      // The cookie of an earlier visit, which no script can see.
      if (!tokenWasRefused() && (await hasSession()) && !gone) takeSession();
      else if (!gone) setLogin(info.login);
    };
    look().catch(() => undefined); // the form for a token is there
    return () => {
      gone = true;
    };
  }, []);
  return login;
}

export function Gate() {
  const [problem] = useState(problemFromAddress);
  const [typed, setTyped] = useState('');
  const login = useLogin();
  const enter = (e: FormEvent) => {
    e.preventDefault();
    if (typed.trim()) setToken(typed.trim());
  };
  return (
    <form className="narrow gate" onSubmit={enter}>
      <title>Dashboard – Mayfly</title>
      <h1>Dashboard</h1>
      {(problem !== undefined || (login && tokenWasRefused())) && (
        <div className="notice tone-warn" role="alert">
          <p>{problem ?? 'You are not signed in any more: the session has ended, or was ended.'}</p>
        </div>
      )}
      {login && (
        <>
          <a className="button primary" href={`/login?to=${encodeURIComponent(location.pathname)}`}>
            Sign in with {login.by}
          </a>
          {!login.ready && (
            <p className="muted small">{login.by} has not answered this server yet; signing in asks it again.</p>
          )}
          <p className="muted">Or use a token that the owner of the server gave you.</p>
        </>
      )}
      {!login && (
        <p className="muted">
          The dashboard requires a token. Ask the owner of the server for one, or use the one that the server printed at
          its first start, also as a link that ends in <code>?token=…</code>
        </p>
      )}
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
        {tokenWasRefused() && !login && (
          <span className="wrong" role="alert">
            The server rejected the last token: it was revoked, has expired, or comes from another server.
          </span>
        )}
      </TextField>
      <div className="row">
        <button className={`button ${login ? '' : 'primary'}`} type="submit">
          Open the dashboard
        </button>
        <Link to="/volunteer" className="button ghost">
          I only want to volunteer
        </Link>
      </div>
    </form>
  );
}
