/** `/dashboard/server`: how the server is. Rates are made here, of two answers. */
import type { ServerView } from '@mayfly/wire';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { Fact } from '../../shared/Fact.tsx';
import { bytes, count, duration, elapsed, plural } from '../../shared/format.ts';
import { Tag } from '../../shared/Tag.tsx';
import { getServer } from '../api.ts';
import { Problem } from '../Problem.tsx';
import { healthOf, ratesOf, sizeText } from './health.ts';
import { Servers } from './Servers.tsx';

export function ServerPage() {
  const server = useQuery({ queryKey: ['server'], queryFn: getServer, refetchInterval: 2000, retry: false });
  const s = server.data;
  const [earlier, setEarlier] = useState<ServerView>();
  // The answer before this one, for rates.
  useEffect(() => () => setEarlier(s), [s]);
  const health = s && healthOf(s);
  const rates = s && ratesOf(earlier, s);
  return (
    <div className="stack">
      <title>Server – Mayfly</title>
      <div>
        <h1>Server</h1>
        <p className="row" role="status">
          {server.error ? (
            <Tag tone="bad">Does not answer</Tag>
          ) : health ? (
            <Tag tone={health.tone}>{health.text}</Tag>
          ) : (
            <span className="muted">Asking…</span>
          )}
        </p>
      </div>
      <Problem error={server.error} title="Cannot reach the server" />
      {s && rates && (
        <>
          <dl className="facts" aria-label="Now">
            <Fact name="Up for" value={elapsed(s.now - s.startedAt)} />
            <Fact
              name="Messages"
              value={`${count(Math.round(rates.records))}/s`}
              more={`${bytes(rates.received)}/s in`}
            />
            <Fact name="Event loop" value={duration(s.eventLoopMs.p99)} more="p99 delay" />
            <Fact name="Nodes" value={String(s.nodes)} more={`${s.busy} of ${plural(s.slots, 'slot')} busy`} />
            <Fact name="Memory" value={bytes(s.memoryBytes)} />
            <Fact name="Processor" value={`${Math.round(s.cpu * 100)} %`} more="of a core, since the start" />
          </dl>
          {s.disk.state === 'stopped' && (
            <div className="notice tone-bad" role="alert" data-testid="disk">
              <div className="row apart">
                <strong>The server cannot store anything, for {elapsed(s.now - (s.disk.since ?? s.now))}</strong>
                <span className="code">{s.disk.code}</span>
              </div>
              <p>{s.disk.message}</p>
              <p className="muted small">
                Data directory: <span className="mono break">{s.disk.directory}</span>
              </p>
            </div>
          )}
          {s.servers && s.servers.length > 0 && <Servers servers={s.servers} />}
          <section className="card" aria-label="Storage">
            <h2>Storage</h2>
            <dl className="pairs">
              <dt>Message logs</dt>
              <dd>{sizeText(s.storage.log)}, of running jobs</dd>
              <dt>Checkpoint images</dt>
              <dd>{sizeText(s.storage.images)}</dd>
              <dt>Jobs</dt>
              <dd>{sizeText(s.storage.jobs)}: submissions, output, result files</dd>
              <dt>Registry</dt>
              <dd>{sizeText(s.storage.registry)}</dd>
              <dt>Old jobs are deleted</dt>
              <dd>above {bytes(s.storage.limitBytes)}</dd>
              <dt>Free on the disk</dt>
              <dd>
                {s.disk.freeBytes === undefined
                  ? 'not known'
                  : `${bytes(s.disk.freeBytes)} of ${bytes(s.disk.totalBytes ?? 0)}`}
              </dd>
              {s.disk.reserveBytes !== undefined && (
                <>
                  <dt>Kept in reserve</dt>
                  <dd>
                    below {bytes(s.disk.reserveBytes)} new jobs are refused, below {bytes(s.disk.reserveBytes / 4)} jobs
                    pause
                  </dd>
                </>
              )}
            </dl>
          </section>
          <section className="card" aria-label="Connections and work">
            <h2>Connections and work</h2>
            <dl className="pairs">
              <dt>Jobs</dt>
              <dd>
                {Object.entries(s.jobs)
                  .map(([state, n]) => `${n} ${state}`)
                  .join(', ')}
              </dd>
              <dt>Rank data connections</dt>
              <dd>{s.dataLinks}</dd>
              <dt>Checkpoint connections</dt>
              <dd>{s.imageLinks}</dd>
              <dt>Dashboards</dt>
              <dd>{s.dashboards}</dd>
              <dt>Logged since start</dt>
              <dd>
                {count(s.appends)} records, {bytes(s.appendedBytes)}
              </dd>
              <dt>Event loop</dt>
              <dd>
                late by {duration(s.eventLoopMs.mean)} on average, {duration(s.eventLoopMs.max)} at most, within ten
                seconds
              </dd>
              <dt>Version</dt>
              <dd>
                Mayfly {s.version} on Node {s.node}
              </dd>
            </dl>
          </section>
          <p className="muted">
            For machines: <a href="/metrics">/metrics</a> (Prometheus), <a href="/healthz">/healthz</a>,{' '}
            <a href="/docs/api">the REST API</a>.
          </p>
        </>
      )}
    </div>
  );
}
