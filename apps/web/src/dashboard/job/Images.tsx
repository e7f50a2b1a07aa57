/** Faults, what a next one would cost (the images that the server keeps of each rank), and all that happened. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { spacingText } from '@mayfly/wire';
import { ago, bytes, duration } from '../../shared/format.ts';
import { getImages } from '../api.ts';
import { useServerNow } from '../context.tsx';
import { Problem } from '../Problem.tsx';
import { Tag } from '../../shared/Tag.tsx';
import { ifLostText, keptText, restarts } from '../protocol-texts.ts';
import { hasEnded, uploadText } from '../status-texts.ts';
import { Events } from './Events.tsx';
import { Faults } from './Faults.tsx';
import { ParityLine } from './ParityLine.tsx';
import { skippedLines } from './skipped-text.ts';
import { Waves } from './waves/Waves.tsx';
import type { ViewProps } from './view-props.ts';

export function FaultsAndImages(props: ViewProps) {
  // Of a job that has ended there are none; under the eyes of one who watched, their place stays.
  const [begun] = useState(!hasEnded(props.job.state));
  return (
    <>
      <Faults {...props} />
      <Waves job={props.job} />
      <ParityLine job={props.job} />
      {begun && restarts(props.job.protocol) && <Images {...props} />}
      <Events job={props.job} />
    </>
  );
}

function Images({ job }: ViewProps) {
  const over = hasEnded(job.state);
  const now = useServerNow(1000, !over);
  // Asked for again as soon as there is another image.
  const count = job.tasks.reduce((n, t) => n + t.images, 0);
  const { data, error } = useQuery({
    queryKey: ['images', job.id, count],
    queryFn: () => getImages(job.id),
    placeholderData: (old) => old,
    enabled: !over,
  });
  const back = job.faults
    .flatMap((f) => (f.startedAfterMs === undefined ? [] : [f.startedAfterMs]))
    .toSorted((a, b) => a - b);
  const ranks = Array.from({ length: Math.max(job.size, job.tasks.length) }, (_, i) => job.tasks[i]);
  return (
    <section className="stack" aria-label="Checkpoints">
      <div>
        <h2>Checkpoints</h2>
        <p className="muted small">{keptText(job.protocol)}</p>
        <p className="muted small num place-of-two">
          {back.length === 0
            ? 'No lost rank has restarted yet.'
            : `In this job, lost ranks took ${duration(back[back.length >> 1]!)} (median) to restart.`}
        </p>
        {!over && job.tasks.some((t) => t.activity?.imageEveryMs !== undefined) && (
          <p className="small" data-testid="spacing-line">
            In this job, {spacingText(job)}.
          </p>
        )}
        {(over ? [] : skippedLines(job.tasks)).map(({ team, text }) => (
          <p key={team} className="small" data-testid="skipped-line">
            {text}
          </p>
        ))}
      </div>
      <Problem error={error} title="Could not load the checkpoints" />
      <div className="card scroll-x list" tabIndex={0} role="group" aria-label="Checkpoints by rank">
        <table className="table num fixed image-table">
          <thead>
            <tr>
              <th className="c-rank">Rank</th>
              <th className="c-newest">Newest</th>
              <th className="right c-bytes">Size</th>
              <th className="right wide-only c-bytes">Uploaded</th>
              {job.waves && (
                <th className="right wide-only c-bytes" title="for the copy of its memory, in its newest wave">
                  Stood still
                </th>
              )}
              <th className="wide-only c-before">Previous</th>
              <th>If lost now</th>
            </tr>
          </thead>
          <tbody>
            {ranks.map((t, rank) => {
              const mine = over
                ? []
                : (data ?? []).filter((i) => i.task === rank).toSorted((a, b) => b.serial - a.serial);
              const [newest, older] = mine;
              const ended = over || t?.state === 'done' || t?.state === 'failed';
              return (
                <tr key={rank}>
                  <td>{rank}</td>
                  <td>
                    {!over && t?.uploading ? (
                      <Tag tone="work">{uploadText(t.uploading)}</Tag>
                    ) : newest ? (
                      ago(newest.at, now)
                    ) : (
                      '–'
                    )}
                  </td>
                  <td className="right">{newest ? bytes(newest.bytes) : '–'}</td>
                  <td className="right muted wide-only">{newest ? bytes(newest.sentBytes) : '–'}</td>
                  {job.waves && (
                    <td className="right muted wide-only">{t?.stallMs === undefined ? '–' : duration(t.stallMs)}</td>
                  )}
                  <td className="muted wide-only">{older ? `${ago(older.at, now)}, ${bytes(older.bytes)}` : '–'}</td>
                  <td className="muted">
                    {over
                      ? 'no restart: the job has ended'
                      : ended
                        ? 'no restart: it has ended'
                        : job.startedAt === undefined
                          ? 'has not started'
                          : ifLostText(job.protocol, newest, job.pausedAt ?? now)}
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </section>
  );
}
