/** Result files: sizes that grow, downloads, pictures in place. What grows is below what does not. */
import { useMutation } from '@tanstack/react-query';
import { bytes } from '../../shared/format.ts';
import { getFile, saveBlob } from '../api.ts';
import { Problem } from '../Problem.tsx';
import { hasEnded } from '../status-texts.ts';
import { picturesOf, resultFiles } from './result.ts';
import { ResultPicture } from './ResultPicture.tsx';
import type { ViewProps } from './view-props.ts';

/** `shown`: a picture that stands elsewhere on the page. */
export function Files({ job, files: news, shown }: ViewProps & { shown?: string | undefined }) {
  const files = resultFiles(job, news);
  const className = hasEnded(job.state) ? 'stack files' : 'stack files kept';
  const save = useMutation({
    mutationFn: async (path: string) => saveBlob(await getFile(job.id, path), path.split('/').at(-1) ?? path),
  });
  if (files.length === 0)
    return (
      <section className={className} aria-label="Result files">
        <h2>Result files</h2>
        <p className="muted small">
          {hasEnded(job.state)
            ? 'The program wrote no files.'
            : 'No files yet. Files that the program writes appear here while they grow.'}
        </p>
      </section>
    );
  const pictures = picturesOf(files).filter((p) => p.path !== shown);
  return (
    <section className={className} aria-label="Result files">
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
