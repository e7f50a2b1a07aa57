/** `/dashboard/tokens`: make a token for somebody, see who has one, revoke it. Of the owner. */
import { ROLES, type NewToken, type Role, type TokenCreated, type TokenView } from '@mayfly/wire';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useRef, useState, type FormEvent } from 'react';
import { Input, Label, TextField } from 'react-aria-components';
import { CopyButton } from '../../shared/CopyButton.tsx';
import { ago, day } from '../../shared/format.ts';
import { baseOf, reachOf } from '../address.ts';
import { createToken, getInfo, getTokens, revokeToken } from '../api.ts';
import { Confirm } from '../Confirm.tsx';
import { useServerNow } from '../context.tsx';
import { Problem } from '../Problem.tsx';
import { QrCode } from '../rooms/QrCode.tsx';
import './tokens.css';

const DAY_MS = 24 * 3600 * 1000;
const MAY: Record<Role, string> = {
  viewer: 'reads everything: jobs, their output and files, nodes, rooms',
  submitter: 'reads everything, submits jobs, and manages its own jobs',
  owner: 'does everything, including rooms, tokens and backups',
};
const ENDS = [
  ['', 'never'],
  ['1', 'in a day'],
  ['7', 'in a week'],
  ['30', 'in 30 days'],
  ['365', 'in a year'],
] as const;

export function TokensPage() {
  const tokens = useQuery({ queryKey: ['tokens'], queryFn: getTokens, refetchInterval: 5000, retry: false });
  const [made, setMade] = useState<TokenCreated>();
  return (
    <div className="stack">
      <title>Tokens – Mayfly</title>
      <div>
        <h1>Tokens</h1>
        <p className="muted">
          Give each person their own token. Jobs show its name, and you can revoke it without affecting the others.
        </p>
      </div>
      <Problem error={tokens.error} title="Could not load the tokens" />
      {tokens.data && <Create onMade={setMade} />}
      {made && <Made token={made} />}
      {tokens.data && <List tokens={tokens.data} />}
    </div>
  );
}

function Create({ onMade }: { onMade: (t: TokenCreated) => void }) {
  const [name, setName] = useState('');
  const [role, setRole] = useState<Role>('submitter');
  const [days, setDays] = useState('');
  const client = useQueryClient();
  const create = useMutation({
    mutationFn: (wish: NewToken) => createToken(wish),
    onSuccess: (t) => {
      setName('');
      onMade(t);
      return client.invalidateQueries({ queryKey: ['tokens'] });
    },
  });
  const send = (e: FormEvent) => {
    e.preventDefault();
    const wanted = name.trim();
    if (wanted !== '')
      create.mutate({ name: wanted, role, ...(days === '' ? {} : { expiresAt: Date.now() + Number(days) * DAY_MS }) });
  };
  return (
    <form className="card" aria-label="A new token" onSubmit={send}>
      <div className="row end">
        <TextField className="field grow" value={name} onChange={setName} maxLength={40}>
          <Label>Name</Label>
          <Input placeholder="e.g. Ada, or the class that uses it" autoComplete="off" />
        </TextField>
        <label className="field">
          <span className="label">Role</span>
          <select className="in" value={role} onChange={(e) => setRole(e.target.value as Role)}>
            {ROLES.map((r) => (
              <option key={r} value={r}>
                {r}
              </option>
            ))}
          </select>
        </label>
        <label className="field">
          <span className="label">Expires</span>
          <select className="in" value={days} onChange={(e) => setDays(e.target.value)}>
            {ENDS.map(([value, text]) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </select>
        </label>
        <button className="button primary" type="submit" disabled={create.isPending || name.trim() === ''}>
          Create the token
        </button>
      </div>
      <p className="muted small">
        {role === 'owner' ? 'An owner' : `A ${role}`} {MAY[role]}.
      </p>
      <Problem error={create.error} title="Could not create the token" />
    </form>
  );
}

/** The one time that it is seen. */
function Made({ token }: { token: TokenCreated }) {
  const shown = useRef<HTMLElement>(null);
  const linked = useRef<HTMLAnchorElement>(null);
  const info = useQuery({ queryKey: ['info'], queryFn: getInfo, staleTime: 60_000 });
  const base = baseOf(info.data?.publicUrl);
  const link = `${base}/dashboard?token=${token.token}`;
  return (
    <section className="notice tone-good" role="status" aria-label="The new token">
      <p>
        <strong>The token of {token.name}</strong> is shown only once. Share it privately: anyone who has it can act as{' '}
        {token.name} on this server.
      </p>
      <div className="row">
        <code className="made" data-testid="new-token" ref={shown}>
          {token.token}
        </code>
        <CopyButton key={token.token} text={token.token} label="Copy" where={shown} />
      </div>
      <p>
        This link brings it along:{' '}
        <a className="break" href={link} ref={linked}>
          {link}
        </a>
      </p>
      <div className="row">
        <CopyButton key={token.token} text={link} label="Copy the link" where={linked} />
      </div>
      {reachOf(base) !== 'here' && <QrCode text={link} label={`QR code of the link with the token of ${token.name}`} />}
    </section>
  );
}

function List({ tokens }: { tokens: TokenView[] }) {
  const now = useServerNow(5000);
  const client = useQueryClient();
  const revoke = useMutation({
    mutationFn: revokeToken,
    onSettled: () => client.invalidateQueries({ queryKey: ['tokens'] }),
  });
  return (
    <section className="stack" aria-label="Active tokens">
      <Problem error={revoke.error} title="Could not revoke the token" />
      <div className="card scroll-x" tabIndex={0} role="region" aria-label="List of tokens">
        <table className="table fixed token-table">
          <thead>
            <tr>
              <th>Name</th>
              <th className="c-role">Role</th>
              <th className="wide-only c-created">Created</th>
              <th className="wide-only c-used">Last used</th>
              <th className="wide-only c-used">Expires</th>
              <th className="right c-revoke">
                <span className="visually-hidden">Revoke</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {tokens.map((t) => (
              <tr key={t.id ?? 'first'}>
                <td className="wraps">
                  {t.name}
                  <span className="muted small narrow-only one-line">
                    {t.lastUsedAt === undefined ? 'never used' : `used ${ago(t.lastUsedAt, now)}`}
                  </span>
                </td>
                <td className="wraps">
                  {t.role}
                  {t.login && <span className="muted small"> {t.login === 'browser' ? 'signed in' : 'terminal'}</span>}
                </td>
                <td className="muted wide-only">
                  {t.createdAt === undefined ? 'at the first start' : ago(t.createdAt, now)}
                </td>
                <td className="muted wide-only">{t.lastUsedAt === undefined ? 'never' : ago(t.lastUsedAt, now)}</td>
                <td className="muted wide-only">
                  {t.expiresAt === undefined ? '–' : t.expiresAt <= now ? 'expired' : day(t.expiresAt)}
                </td>
                <td className="right">
                  {t.id !== undefined && (
                    <Confirm
                      label="Revoke"
                      small
                      title={`Revoke the token of ${t.name}?`}
                      text="The token stops working and its connections are closed. Its jobs stay."
                      yes="Revoke it"
                      no="Keep it"
                      busy={revoke.isPending}
                      onYes={() => revoke.mutate(t.id!)}
                    />
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
