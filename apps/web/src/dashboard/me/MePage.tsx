/** `/dashboard/me`: as whom this browser is here; a token for a terminal; the end of the session. */
import type { Me, TokenCreated } from '@mayfly/wire';
import { useMutation } from '@tanstack/react-query';
import { useRef } from 'react';
import { CopyButton } from '../../shared/CopyButton.tsx';
import { day, dayAndClock } from '../../shared/format.ts';
import { createOwnToken, signOut } from '../api.ts';
import { useMe } from '../context.tsx';
import { Problem } from '../Problem.tsx';
import { forgetToken } from '../token.ts';

export function MePage() {
  const me = useMe();
  return (
    <div className="stack">
      <title>You – Mayfly</title>
      {me && (
        <>
          <div>
            <h1 className="break">{me.name}</h1>
            <p className="muted">
              {me.login === 'browser' ? 'Signed in' : 'With a token'} as {me.role}. Jobs that you submit belong to{' '}
              {me.name}
              {me.expiresAt === undefined ? '.' : `. This ends on ${dayAndClock(me.expiresAt)}.`}
            </p>
          </div>
          {me.login === 'browser' && <Terminal me={me} />}
          <Leave me={me} />
        </>
      )}
    </div>
  );
}

function Terminal({ me }: { me: Me }) {
  const create = useMutation({ mutationFn: createOwnToken });
  return (
    <section className="card stack" aria-label="A token for a terminal">
      <div>
        <h2>Token for a terminal or a script</h2>
        <p className="muted">
          It acts as {me.name} for 30 days. Run <code>mayfly login {location.origin}</code> and paste it there.
        </p>
      </div>
      {create.data ? (
        <Made token={create.data} />
      ) : (
        <div className="row">
          <button className="button primary" type="button" disabled={create.isPending} onClick={() => create.mutate()}>
            Create a token
          </button>
        </div>
      )}
      <Problem error={create.error} title="Could not create the token" />
    </section>
  );
}

/** The one time that it is seen. */
function Made({ token }: { token: TokenCreated }) {
  const shown = useRef<HTMLElement>(null);
  return (
    <div className="notice tone-good" role="status">
      <p>
        This token is shown only once. Anyone who has it can act as {token.name} until {day(token.expiresAt!)}.
      </p>
      <div className="row">
        <code className="made" data-testid="new-token" ref={shown}>
          {token.token}
        </code>
        <CopyButton text={token.token} label="Copy" where={shown} />
      </div>
    </div>
  );
}

function Leave({ me }: { me: Me }) {
  const leave = useMutation({ mutationFn: signOut, onSuccess: forgetToken });
  const signedIn = me.login === 'browser';
  return (
    <section className="stack" aria-label="Leave">
      <div className="row">
        <button
          className="button"
          type="button"
          disabled={leave.isPending}
          onClick={() => (signedIn ? leave.mutate() : forgetToken())}
        >
          {signedIn ? 'Sign out' : 'Forget the token in this browser'}
        </button>
      </div>
      <Problem error={leave.error} title="Could not sign out" />
    </section>
  );
}
