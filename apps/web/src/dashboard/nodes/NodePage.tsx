/**
 * `/dashboard/nodes/<id>`: one node: what it is, how its slots were used, its ranks, and those that were lost there. Of
 * one that has gone, what is known.
 */
import type { NodeDetail, NodeView } from '@mayfly/wire';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { Fact } from '../../shared/Fact.tsx';
import { ago, bytes, clock, duration } from '../../shared/format.ts';
import { Tag } from '../../shared/Tag.tsx';
import { getNode } from '../api.ts';
import { useServerNow } from '../context.tsx';
import { lossText } from '../node-list.ts';
import { Problem } from '../Problem.tsx';
import { doingText, engineText, faultCause, nodeWord, quarantineText, rankWord } from '../status-texts.ts';
import { UseView } from './UseView.tsx';
import { useStableRows } from '../useStableRows.ts';
import { isMissing, useSheet } from './useSheet.ts';

const POLL_MS = 2000;
/** Slots that have a line each. */
const MOST_LINES = 32;

export function NodePage() {
  const { id } = useParams({ from: '/dashboard/nodes/$id' });
  const detail = useQuery({
    queryKey: ['node', id],
    queryFn: () => getNode(id),
    retry: false,
    refetchInterval: (q) => (isMissing(q.state.error) ? false : POLL_MS),
  });
  const { sheet } = useSheet(id);
  const now = useServerNow(1000);
  const d = detail.data;
  if (!d)
    return (
      <div className="stack">
        <title>Node – Mayfly</title>
        <h1>Node</h1>
        {detail.error ? (
          <Problem error={detail.error} title="Could not show this node" />
        ) : (
          <p className="muted">Asking…</p>
        )}
        <p>
          <Link to="/dashboard" hash="nodes">
            All nodes
          </Link>
        </p>
      </div>
    );
  const forgotten = isMissing(detail.error);
  const node: NodeView = forgotten ? { ...d.node, state: 'gone', busy: 0 } : d.node;
  const word = nodeWord(node);
  return (
    <div className="stack node-page">
      <title>{`${node.name} – Mayfly`}</title>
      <div>
        <p className="small">
          <Link to="/dashboard" hash="nodes">
            All nodes
          </Link>
        </p>
        <div className="row">
          <h1 className="break">{node.name}</h1>
          <span role="status">
            <Tag tone={word.tone}>{word.text}</Tag>
          </span>
        </div>
        <p className="muted num node-state">{presence(node, forgotten, now)}</p>
      </div>
      {!forgotten && <Problem error={detail.error} title="Cannot reach the server; the data shown is older" />}
      <dl className="facts" aria-label="What it is">
        <Fact name="Busy" value={`${node.busy} of ${node.slots}`} more="slots" />
        <Fact
          name="Memory"
          value={d.memory === undefined || forgotten ? '–' : bytes(d.memory)}
          more="of its C and C++ ranks"
        />
        <Fact name="Engine" value={engineText(node)} />
        <Fact name="Room" value={node.room ?? '–'} />
        <Fact name="Cores" value={node.cores === undefined ? '–' : String(node.cores)} />
        <Fact
          name="Speed"
          value={node.speed === undefined ? '–' : `${Math.round(node.speed)} M/s`}
          more="steps of a fixed loop on one core"
        />
        <Fact name="Round trip" value={node.rttMs === undefined ? '–' : duration(node.rttMs)} more="of a heartbeat" />
        <Fact
          name="Trusted"
          value={node.record === true ? 'yes' : 'not yet'}
          more={node.record === true ? 'it has done useful work here' : 'once it has done useful work here'}
        />
        <Fact name="Lost ranks" value={lossText(node)} more="excluding manual kills" />
      </dl>
      <UseView
        cells={sheet?.byNode.get(id)}
        memory={sheet?.memory}
        until={sheet?.until}
        widthMs={sheet?.widthMs ?? 0}
        slots={node.slots}
      />
      <RanksNow key={id} detail={forgotten ? { ...d, ranks: [] } : d} node={node} now={now} />
      {/* Grows, and nothing is below. */}
      <Losses key={`lost ${id}`} detail={d} now={now} />
    </div>
  );
}

function presence(n: NodeView, forgotten: boolean, now: number): string {
  if (forgotten) return `Last heard at ${clock(n.lastSeen)}; the server no longer lists it.`;
  if (n.state === 'gone') return `Last heard at ${clock(n.lastSeen)}; the data shown is from then.`;
  return n.state === 'suspect'
    ? `Last heard at ${clock(n.lastSeen)}.`
    : (quarantineText(n, now) ?? `Connected since ${clock(n.since)} (${ago(n.since, now)}).`);
}

/** A line for each slot, with its rank or free: what comes and goes moves nothing, nor does the end of the node. */
function RanksNow({ detail, node, now }: { detail: NodeDetail; node: NodeView; now: number }) {
  const { ranks } = detail;
  const gone = node.state === 'gone';
  const [watched] = useState(!gone);
  const free = watched || !gone ? Math.max(0, Math.min(MOST_LINES, node.slots) - ranks.length) : 0;
  return (
    <section className="stack" aria-label="Ranks now">
      <h2>Ranks now</h2>
      {ranks.length + free === 0 ? (
        <p className="muted">None.</p>
      ) : (
        <div className="card scroll-x" tabIndex={0} role="region" aria-label="Table of ranks">
          <table className="table fixed node-ranks" data-testid="node-ranks">
            <thead>
              <tr>
                <th>Job</th>
                <th className="right c-seat">Rank</th>
                <th className="c-seat-state">State</th>
                <th className="wide-only c-doing">Doing</th>
              </tr>
            </thead>
            <tbody>
              {ranks.map((r) => {
                const word = rankWord(r);
                return (
                  <tr key={`${r.job} ${r.task}`}>
                    <td title={r.name}>
                      <Link to="/dashboard/jobs/$id" params={{ id: r.job }}>
                        {r.name}
                      </Link>
                    </td>
                    <td className="right num" title={r.incarnation > 0 ? `incarnation ${r.incarnation}` : undefined}>
                      {r.task}
                    </td>
                    <td>
                      <Tag tone={word.tone}>{word.text}</Tag>
                    </td>
                    <td className="muted num wide-only">{doingText(r, now)}</td>
                  </tr>
                );
              })}
              {Array.from({ length: free }, (_, i) => (
                <tr key={i} className={gone ? 'past' : undefined}>
                  <td className="muted">{gone ? 'gone' : 'free'}</td>
                  <td />
                  <td>
                    {/* As high as a line with a rank. */}
                    <span className="tag" aria-hidden="true">
                      {'\u00a0'}
                    </span>
                  </td>
                  <td className="wide-only" />
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

const lossId = (l: NodeDetail['losses'][number]): string => `${l.job} ${l.task} ${l.incarnation}`;

/** Newest first when it is opened; what comes then stands at the end, so that no row moves. */
function Losses({ detail, now }: { detail: NodeDetail; now: number }) {
  const { losses, lossesLeftOut } = detail;
  const things = useMemo(() => ({ all: losses, listed: losses, id: lossId }), [losses]);
  const { rows } = useStableRows(things, { join: true, chosen: '' });
  return (
    <section className="stack" aria-label="Ranks lost here">
      <h2>Ranks lost here</h2>
      {rows.length === 0 ? (
        <p className="muted">None in the jobs that the server still has.</p>
      ) : (
        <div className="card scroll-x" tabIndex={0} role="region" aria-label="Table of lost ranks">
          <table className="table fixed node-losses" data-testid="node-losses">
            <thead>
              <tr>
                <th className="c-when">When</th>
                <th>Job</th>
                <th className="right c-seat">Rank</th>
                <th className="c-why">Why</th>
                <th className="right wide-only c-when">Back after</th>
              </tr>
            </thead>
            <tbody>
              {rows.map(({ id, item: l }) => (
                <tr key={id}>
                  <td className="num" title={clock(l.at)}>
                    {ago(l.at, now)}
                  </td>
                  <td className="wraps">
                    <Link to="/dashboard/jobs/$id" params={{ id: l.job }} search={{ view: 'faults' }}>
                      {l.name}
                    </Link>
                  </td>
                  <td className="right num">{l.task}</td>
                  <td className="wraps">{faultCause(l.cause)}</td>
                  <td className="right muted num wide-only">
                    {l.recoveredAfterMs === undefined ? '–' : duration(l.recoveredAfterMs)}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {lossesLeftOut > 0 && <p className="muted small">{`${lossesLeftOut} older ones are not shown.`}</p>}
    </section>
  );
}
