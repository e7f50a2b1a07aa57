/** Checkpoints that all ranks took together, and how the job went back to them; newest first. */
import type { ReactNode } from 'react';
import { useMemo, useState } from 'react';
import { bytes, duration, elapsed } from '../../../shared/format.ts';
import { Tag } from '../../../shared/Tag.tsx';
import { useServerNow } from '../../context.tsx';
import { Newer } from '../../Newer.tsx';
import { hasEnded, isPaused } from '../../status-texts.ts';
import { useStableRows } from '../../useStableRows.ts';
import type { ViewProps } from '../view-props.ts';
import {
  backTo,
  levelText,
  membersText,
  messagesText,
  rollbackCause,
  sumsLine,
  waveLine,
  type Rollback,
  type Wave,
  type Waves as Figures,
  raisedText,
} from './wave-texts.ts';
import './waves.css';

const HOW: Partial<Record<string, string>> = {
  vcl: ', without stopping for each other',
  pcl: '; each sends nothing until no message is under way and it has taken its own',
  hc3i: ', when it is due or a message from another cluster asks for it',
};
const idOf = (w: Wave): string => `${w.at} ${w.cluster ?? ''}`;

/** One line, for the overview. */
export function WavesLine({ job }: Pick<ViewProps, 'job'>) {
  const rests = hasEnded(job.state) || isPaused(job.state);
  const now = useServerNow(1000, !rests);
  if (!job.waves) return null;
  return (
    <p className="muted small num wave-line" data-testid="wave-line">
      {waveLine(job.waves, job.endedAt ?? now, rests)}
    </p>
  );
}

export function Waves({ job }: Pick<ViewProps, 'job'>) {
  const waves = job.waves;
  const things = useMemo(
    () => ({ all: waves?.recent ?? [], listed: (waves?.recent ?? []).toReversed(), id: idOf }),
    [waves?.recent],
  );
  const { rows, newcomers, renew } = useStableRows(things, { join: false, chosen: job.id });
  /** Lists of a job that was watched have their height before they have their rows. */
  const [watched] = useState(!hasEnded(job.state));
  if (!waves) return null;
  return (
    <section className="stack" aria-label="Waves">
      <div>
        <h2>Waves</h2>
        <p className="muted small">
          A wave is a checkpoint that all ranks {waves.clusters && 'of a cluster '}take together
          {HOW[job.protocol] ?? ''}.
        </p>
        <WavesLine job={job} />
        <p className="muted small num wave-line">{sumsLine(waves)}</p>
        <Newer n={newcomers.length} what="new wave" renew={renew}>
          <span className="muted">{rows.length > 0 && 'Newest first.'}</span>
        </Newer>
      </div>
      {waves.clusters && <Clusters clusters={waves.clusters} />}
      {(watched || rows.length > 0) && (
        <WaveTable
          rows={rows.map((r) => r.item)}
          start={job.startedAt ?? job.submittedAt}
          parity={job.parity !== undefined}
          watched={watched}
        />
      )}
      <Rollbacks waves={waves} start={job.startedAt ?? job.submittedAt} watched={watched} />
    </section>
  );
}

/** Of a job whose ranks form clusters (protocol hc3i). */
export function Clusters({ clusters }: { clusters: NonNullable<Figures['clusters']> }) {
  return (
    <Card label="Clusters">
      <table className="table num fixed cluster-table" data-testid="clusters">
        <thead>
          <tr>
            <th className="c-cluster">Cluster</th>
            <th>Ranks</th>
            <th className="c-cluster" title="sequence number: that of its newest checkpoint">
              SN
            </th>
            <th className="c-depends" title="by cluster: the highest interval that it depends on">
              Depends on
            </th>
            <th className="right c-sum" title="checkpoints that messages from other clusters have asked for">
              Forced
            </th>
            <th className="right c-sum" title="checkpoints whose time had come, or that somebody asked for">
              Timed
            </th>
            <th className="right c-sum" title="checkpoints that a loss may need">
              Kept
            </th>
            <th className="right c-sum" title="messages from other clusters that wait for a checkpoint">
              Waiting
            </th>
          </tr>
        </thead>
        <tbody>
          {clusters.map((c) => (
            <tr key={c.cluster}>
              <td>{c.cluster}</td>
              <td title={membersText(c.ranks)}>{membersText(c.ranks)}</td>
              <td>{c.sn}</td>
              <td title={dependsText(c)}>{dependsText(c)}</td>
              <td className="right">{c.forced}</td>
              <td className="right" title={timerText(c)}>
                {c.timed}
              </td>
              <td className="right">{c.stored}</td>
              <td className="right">{c.waiting}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Card>
  );
}

const timerText = ({ periodMs, askedMs }: NonNullable<Figures['clusters']>[number]): string =>
  periodMs === undefined
    ? 'this cluster has no timer'
    : `one every ${duration(periodMs)}${askedMs === undefined ? '' : ` (${raisedText(askedMs)})`}`;

/** By cluster: the highest interval that this one depends on. */
const dependsText = ({ cluster, ddv }: NonNullable<Figures['clusters']>[number]): string =>
  ddv.flatMap((interval, i) => (i === cluster || interval === 0 ? [] : [`${i}: ${interval}`])).join(', ') || '–';

interface WaveTableProps {
  /** In the order in which they are shown. */
  rows: readonly Wave[];
  start: number;
  /** Images of some may be with the nodes. */
  parity: boolean;
  watched?: boolean;
}

export function WaveTable({ rows, start, parity, watched = false }: WaveTableProps) {
  const most = Math.max(1, ...rows.map((w) => w.ms ?? 0));
  const clusters = rows.some((w) => w.cluster !== undefined);
  if (rows.length === 0)
    return (
      <Card label="Waves, newest first" watched={watched}>
        <p className="muted small">No waves yet.</p>
      </Card>
    );
  return (
    <Card label="Waves, newest first" watched={watched}>
      <table className={`table num fixed wave-table${clusters ? ' of-clusters' : ''}`}>
        <thead>
          <tr>
            <th className="c-wave">Wave</th>
            <th className="c-began wide-only">Began after</th>
            <th className="c-took">Took</th>
            <th>Outcome</th>
            <th className="right c-size">Images</th>
            <th className="right c-size roomy-only" title="pages that the server lacked">
              Uploaded
            </th>
            <th
              className="right c-messages wide-only"
              title="messages that were under way between the images; kept with them"
            >
              In the channels
            </th>
            <th
              className="right c-messages roomy-only"
              title="most messages that waited for their receiver's image at one time"
            >
              Held back
            </th>
            <th
              className="right c-messages wide-only"
              title="how long ranks stood still for the copy of their memory: mean, longest"
            >
              Stood still
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((w) => (
            <tr key={idOf(w)}>
              <td>
                <Cluster of={w} />
                {w.wave}
              </td>
              <td className="muted wide-only">{elapsed(w.at - start)}</td>
              <td>
                {w.ms === undefined ? (
                  '–'
                ) : (
                  <span className="wave-took">
                    <span>{duration(w.ms)}</span>
                    <i
                      className={w.state === 'committed' ? 'wave-bar' : 'wave-bar given-up'}
                      style={{ width: `${Math.max(2, (100 * w.ms) / most)}%` }}
                    />
                  </span>
                )}
              </td>
              {/* While somebody watches it stays one line, whatever comes of the wave. */}
              <td className={watched ? undefined : 'wraps'} title={outcomeText(w, parity)}>
                {w.state === 'committed' ? STATES[w.state] : <Tag tone={TONES[w.state]}>{STATES[w.state]}</Tag>}
                {notesOf(w, parity).map((note) => (
                  <span key={note} className="muted">
                    {' '}
                    · {note}
                  </span>
                ))}
              </td>
              <td className="right">{w.images === 0 ? '–' : bytes(w.imageBytes)}</td>
              <td className="right muted roomy-only">{w.images === 0 ? '–' : bytes(w.sentBytes)}</td>
              <td className="right wide-only">{messagesText(w.recorded, w.recordedBytes)}</td>
              <td className="right muted roomy-only">{messagesText(w.held, w.heldBytes)}</td>
              <td className="right muted wide-only">{stallText(w)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Card>
  );
}

/** On a narrow page its number alone. */
const Cluster = ({ of }: { of: { cluster?: number | undefined } }) =>
  of.cluster !== undefined && (
    <span className="muted">
      <span className="wide-only">cluster </span>
      {of.cluster}:{' '}
    </span>
  );

const notesOf = (w: Wave, parity: boolean): string[] =>
  [levelText(w, parity), w.forced && 'forced', w.reason].filter((note) => typeof note === 'string');
const outcomeText = (w: Wave, parity: boolean): string => [STATES[w.state], ...notesOf(w, parity)].join(' · ');

const STATES = { committed: 'committed', underWay: 'under way', abandoned: 'abandoned' };
const TONES = { committed: 'good', underWay: 'work', abandoned: 'warn' } as const;

const stallText = ({ stallMs: s }: Wave): string =>
  s === undefined ? '–' : s.most < 10 ? `${s.mean} ms, ${s.most} ms` : `${duration(s.mean)}, ${duration(s.most)}`;

const rollbackId = (r: Rollback): string => `${r.epoch} ${r.at} ${r.cluster ?? ''}`;

/** Newest first; where there was none, nothing but what somebody watches. */
export function Rollbacks({ waves, start, watched = false }: { waves: Figures; start: number; watched?: boolean }) {
  const things = useMemo(() => {
    const all: readonly Rollback[] = waves.rolledBack;
    return { all, listed: all.toReversed(), id: rollbackId };
  }, [waves.rolledBack]);
  const { rows, newcomers, renew } = useStableRows(things, { join: false, chosen: '' });
  const clusters = rows.some((r) => r.item.cluster !== undefined);
  if (rows.length === 0 && !watched) return null;
  return (
    <>
      <div>
        <h3>Rollbacks</h3>
        {watched && (
          <Newer n={newcomers.length} what="new rollback" renew={renew}>
            <span className="muted">{rows.length > 0 && 'Newest first.'}</span>
          </Newer>
        )}
      </div>
      <Card label="Rollbacks, newest first" watched={watched}>
        {rows.length === 0 ? (
          <p className="muted small">None so far.</p>
        ) : (
          <table className={`table num fixed rollback-table${clusters ? ' of-clusters' : ''}`}>
            <thead>
              <tr>
                <th className="c-began">After</th>
                <th>Cause</th>
                <th className="c-back">Back to</th>
                <th className="right c-undone" title="time of all ranks since that wave's cut">
                  Work undone
                </th>
                <th className="right c-undone wide-only" title="of the rank that lost most">
                  Of one rank
                </th>
              </tr>
            </thead>
            <tbody>
              {rows.map(({ id, item: r }) => (
                <tr key={id}>
                  <td className="wraps">{elapsed(r.at - start)}</td>
                  <td className="wraps">{rollbackCause(r)}</td>
                  <td className="wraps">
                    <Cluster of={r} />
                    {backTo(r.wave)}
                  </td>
                  <td className="right wraps">{duration(r.lostMs)}</td>
                  <td className="right muted wide-only">{duration(r.mostMs)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </Card>
    </>
  );
}

function Card({ label, watched = false, children }: { label: string; watched?: boolean; children: ReactNode }) {
  return (
    <div className={`card scroll-x list${watched ? ' kept short' : ''}`} tabIndex={0} role="group" aria-label={label}>
      {children}
    </div>
  );
}
