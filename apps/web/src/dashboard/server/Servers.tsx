/** The server processes of a database that several share; the owner may let another one serve. */
import type { PeerView, ServerView } from '@mayfly/wire';
import { useMutation } from '@tanstack/react-query';
import { Fragment } from 'react';
import { drainServer } from '../api.ts';
import { Confirm } from '../Confirm.tsx';
import { useMay } from '../context.tsx';
import { count, plural } from '../../shared/format.ts';
import { Problem } from '../Problem.tsx';

const passesOn = ({ memories, jobs, messagesPerSecond }: PeerView): string =>
  memories === 0
    ? 'passes no messages on'
    : `passes ${count(messagesPerSecond)} messages a second on, for ${plural(jobs, 'job')}`;

export function Servers({ servers }: { servers: NonNullable<ServerView['servers']> }) {
  const mayDrain = useMay('owner');
  const drain = useMutation({ mutationFn: drainServer });
  const several = servers.length > 1;
  return (
    <section className="card" aria-label="Servers">
      <h2>Servers of this database</h2>
      <dl className="pairs">
        {servers.map((server) => (
          <Fragment key={server.who}>
            <dt>{server.owns ? 'Serves' : 'Stands by'}</dt>
            <dd>
              {server.who}
              {server.address && (
                <>
                  , <span className="mono break">{server.address}</span>
                </>
              )}
              <div className="muted small">{passesOn(server)}</div>
            </dd>
          </Fragment>
        ))}
      </dl>
      <p className="muted small">
        {several
          ? 'They share the messages of new jobs. If the one that serves ends or does not answer, one that ' +
            'stands by takes over within seconds.'
          : 'None stands by: if this one ends, jobs wait until a server starts again.'}
      </p>
      {several && mayDrain && (
        <div className="row">
          <Confirm
            label="Let another one serve"
            small
            mild
            title="Let another server serve?"
            text={
              'Jobs stand still for about a second; ranks keep running. The server that serves now stands by from ' +
              'then on, so that you can end or upgrade it.'
            }
            yes="Hand over"
            no="Go on with this one"
            busy={drain.isPending}
            onYes={() => drain.mutate()}
          />
        </div>
      )}
      <Problem error={drain.error} title="Nothing has changed" />
    </section>
  );
}
