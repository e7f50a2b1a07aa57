/** Result files: sizes that grow, downloads, pictures in place. What grows is below what does not. */
import { useMutation } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { bytes } from '../../shared/format.ts';
import { getFile, saveBlob } from '../api.ts';
import { Problem } from '../Problem.tsx';
import { hasEnded } from '../status-texts.ts';
import { draw, pictureKind, type PictureKind } from '../../shared/pictures.ts';
import type { ViewProps } from './view-props.ts';

interface ResultFile {
  path: string;
  bytes: number;
  task: number;
  /** Another number: other content. */
  change: number;
}

export function Files({ job, files: news }: ViewProps) {
  const files: ResultFile[] = job.outputs.map((o) => {
    const n = news.get(o.path);
    return { ...o, bytes: Math.max(o.bytes, n?.bytes ?? 0), change: n?.change ?? 0 };
  });
  const [begun] = useState(!hasEnded(job.state));
  const save = useMutation({
    mutationFn: async (path: string) => saveBlob(await getFile(job.id, path), path.split('/').at(-1) ?? path),
  });
  if (files.length === 0)
    return (
      <section className={begun ? 'stack files kept' : 'stack files'} aria-label="Result files">
        <h2>Result files</h2>
        <p className="muted small">
          {hasEnded(job.state)
            ? 'The program wrote no files.'
            : 'No files yet. Files that the program writes appear here while they grow.'}
        </p>
      </section>
    );
  const pictures = files.flatMap((f) => {
    const kind = pictureKind(f.path);
    return kind && f.bytes > 0 ? [{ ...f, kind }] : [];
  });
  return (
    <section className={begun ? 'stack files kept' : 'stack files'} aria-label="Result files">
      <h2>Result files</h2>
      <div className="card">
        <table className="table num fixed">
          <thead>
            <tr>
              <th>File</th>
              <th className="right c-bytes">Size</th>
              <th className="right wide-only c-from">From rank</th>
              <th className="c-button">
                <span className="visually-hidden">Download</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {files.map((f) => (
              <tr key={f.path}>
                <td className="mono wraps">{f.path}</td>
                <td className="right">{bytes(f.bytes)}</td>
                <td className="right muted wide-only">{f.task}</td>
                <td className="right">
                  <button
                    className="button small"
                    aria-label={`Download ${f.path}`}
                    onClick={() => save.mutate(f.path)}
                  >
                    Download
                  </button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
        <Problem error={save.error} title="Could not download the file" />
      </div>
      {pictures.length > 0 && (
        <div className="pictures">
          {pictures.map((p) => (
            <ResultPicture key={p.path} job={job.id} file={p} kind={p.kind} final={hasEnded(job.state)} />
          ))}
        </div>
      )}
    </section>
  );
}

/** Between two looks at a picture that grows, ms. */
const REFRESH = 700;

interface Shown {
  /** State of the file that this was made from. */
  of: string;
  url: string;
  size?: { width: number; height: number };
}

function ResultPicture({
  job,
  file,
  kind,
  final,
}: {
  job: string;
  file: ResultFile;
  kind: PictureKind;
  final: boolean;
}) {
  const [shown, setShown] = useState<Shown>();
  const [error, setError] = useState<unknown>();
  const wanted = useRef('');
  const loading = useRef(false);
  const alive = useRef(true);
  const kept = useRef<Shown>(undefined);
  const target = final ? 'final' : `${file.bytes}.${file.change}`;
  wanted.current = target;

  useEffect(() => {
    alive.current = true;
    return () => {
      alive.current = false;
      if (kept.current) URL.revokeObjectURL(kept.current.url);
      kept.current = undefined;
    };
  }, []);

  useEffect(() => {
    const look = async () => {
      if (loading.current) return;
      loading.current = true;
      try {
        while (alive.current && kept.current?.of !== wanted.current) {
          const of = wanted.current;
          const next = await render(await getFile(job, file.path), kind, of);
          if (!alive.current) {
            if (next) URL.revokeObjectURL(next.url);
            return;
          }
          if (next) {
            const old = kept.current;
            kept.current = next;
            setShown(next);
            if (old) setTimeout(() => URL.revokeObjectURL(old.url), 1000);
          }
          setError(undefined);
          await new Promise((done) => setTimeout(done, REFRESH));
          if (!next) return; // not yet a picture; the next growth looks again
        }
      } catch (e) {
        setError(e);
        await new Promise((done) => setTimeout(done, 3 * REFRESH)); // not at every growth again
      } finally {
        loading.current = false;
      }
    };
    void look();
  }, [job, file.path, kind, target]);

  if (error && !shown) return <Problem error={error} title={`${file.path} could not be read`} />;
  return (
    <figure className="picture">
      <figcaption className="muted small">
        <span className="mono break">{file.path}</span>
        {!final && <span> · growing</span>}
      </figcaption>
      {shown ? (
        <img
          src={shown.url}
          alt={`${file.path}, written by rank ${file.task}${final ? '' : ', so far'}`}
          {...shown.size}
        />
      ) : (
        <div className="picture-wait muted small">no picture data yet</div>
      )}
    </figure>
  );
}

async function render(content: Blob, kind: PictureKind, of: string): Promise<Shown | undefined> {
  const drawn = await draw(new Uint8Array(await content.arrayBuffer()), kind);
  return drawn && { of, ...drawn };
}
