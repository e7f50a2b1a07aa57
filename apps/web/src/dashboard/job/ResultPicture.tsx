/** A picture that a program writes, drawn again while it grows. */
import { useEffect, useRef, useState } from 'react';
import { draw, type PictureKind } from '../../shared/pictures.ts';
import { getFile } from '../api.ts';
import { Problem } from '../Problem.tsx';
import type { ResultFile } from './result.ts';

/** Between two looks at a picture that grows, ms. */
const REFRESH = 700;

interface Shown {
  /** State of the file that this was made from. */
  of: string;
  url: string;
  size?: { width: number; height: number };
}

export function ResultPicture({
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
