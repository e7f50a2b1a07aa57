/** Input files that the program reads: dropped, uploaded, or those of an example. */
import { Button, DropZone, FileTrigger } from 'react-aria-components';
import { bytes } from '../../shared/format.ts';
import { safePath, type InputFile } from '../draft.ts';

export function InputFiles({ files, onChange, wrong }: { files: InputFile[]; onChange: (files: InputFile[]) => void; wrong: string[] }) {
  const add = async (list: readonly File[]) => {
    const read = await Promise.all(
      list.map(async (f): Promise<InputFile> => {
        const data = new Uint8Array(await f.arrayBuffer());
        return { path: safePath(f.name), bytes: data.length, content: { kind: 'bytes', data } };
      }),
    );
    const names = new Set(read.map((r) => r.path));
    onChange([...files.filter((f) => !names.has(f.path)), ...read]);
  };
  return (
    <DropZone
      className="field input-files"
      aria-label="Input files; drop files here"
      onDrop={(e) => {
        void Promise.all(e.items.map((i) => (i.kind === 'file' ? i.getFile() : undefined))).then((all) => add(all.filter((f) => f !== undefined)));
      }}
    >
      <div className="row apart">
        <span className="label">Input files</span>
        <FileTrigger allowsMultiple onSelect={(list) => void add([...(list ?? [])])}>
          <Button className="button small ghost">Add…</Button>
        </FileTrigger>
      </div>
      {files.length === 0 ? (
        <span className="hint">None. Drop some here, if the program reads any.</span>
      ) : (
        <ul className="file-list">
          {files.map((f) => (
            <li key={f.path} className="row apart">
              <span className="mono break">{f.path}</span>
              <span className="row">
                <span className="muted small num">{bytes(f.bytes)}</span>
                <button type="button" className="button small ghost" aria-label={`Remove ${f.path}`} onClick={() => onChange(files.filter((x) => x !== f))}>
                  ×
                </button>
              </span>
            </li>
          ))}
        </ul>
      )}
      {wrong.map((t) => (
        <span key={t} className="wrong">
          {t}
        </span>
      ))}
    </DropZone>
  );
}
