/** Faults, what a next one would cost (the images that the server keeps of each rank), and all that happened. */
import { useQuery } from '@tanstack/react-query';
import { ago, bytes, duration, elapsed } from '../../shared/format.ts';
import { getImages } from '../api.ts';
import { useServerNow } from '../context.tsx';
import { Problem } from '../Problem.tsx';
import { Tag } from '../../shared/Tag.tsx';
import { hasEnded, uploadText } from '../words.ts';
import { Events } from './Events.tsx';
import { Faults } from './Faults.tsx';
import type { ViewProps } from './views.tsx';

export function FaultsAndImages(props: ViewProps) {
  return (
    <>
      <Faults {...props} />
      {!hasEnded(props.job.state) && props.job.protocol !== 'none' && <Images {...props} />}
      <Events job={props.job} />
    </>
  );
}

function Images({ job }: ViewProps) {
  const now = useServerNow(1000);
  // Asked for again as soon as there is another image.
  const count = job.tasks.reduce((n, t) => n + t.images, 0);
  const { data, error } = useQuery({ queryKey: ['images', job.id, count], queryFn: () => getImages(job.id), placeholderData: (old) => old });
  const back = job.faults.flatMap((f) => (f.startedAfterMs === undefined ? [] : [f.startedAfterMs])).toSorted((a, b) => a - b);
  return (
    <section className="stack" aria-label="Images">
      <div>
        <h2>Images</h2>
        <p className="muted small">
          The two newest of each rank are kept. A rank that is lost fetches the newest and repeats what it has done since
          {back.length > 0 && `; here it took ${duration(back[back.length >> 1]!)} (median) until a lost rank had begun again`}.
        </p>
      </div>
      <Problem error={error} title="The images could not be read" />
      <div className="card scroll-x image-table" tabIndex={0} role="group" aria-label="Images by rank">
        <table className="table num">
          <thead>
            <tr>
              <th>Rank</th>
              <th>Newest</th>
              <th className="right">Size</th>
              <th className="right wide-only">Sent for it</th>
              <th className="wide-only">The one before</th>
              <th>A restart now</th>
            </tr>
          </thead>
          <tbody>
            {job.tasks.map((t) => {
              const mine = (data ?? []).filter((i) => i.task === t.task).toSorted((a, b) => b.serial - a.serial);
              const [newest, older] = mine;
              const ended = t.state === 'done' || t.state === 'failed';
              return (
                <tr key={t.task}>
                  <td>{t.task}</td>
                  <td className="keep">
                    {t.uploading && <Tag tone="work">{uploadText(t.uploading)}</Tag>} {newest ? ago(newest.at, now) : t.uploading ? '' : '–'}
                  </td>
                  <td className="right keep">{newest ? bytes(newest.bytes) : '–'}</td>
                  <td className="right muted wide-only">{newest ? bytes(newest.sentBytes) : '–'}</td>
                  <td className="muted wide-only">{older ? `${ago(older.at, now)}, ${bytes(older.bytes)}` : '–'}</td>
                  <td className="muted">
                    {ended
                      ? 'none: it has ended'
                      : newest
                        ? `fetches ${bytes(newest.bytes)}, repeats ${elapsed((job.pausedAt ?? now) - newest.at)} at most`
                        : job.startedAt === undefined
                          ? 'has not begun'
                          : 'begins anew, repeats all of its log'}
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
