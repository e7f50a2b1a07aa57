/** Input files that the program reads: dropped, uploaded, or those of an example. */
import { useState } from 'react';
import { Button, DropZone, FileTrigger } from 'react-aria-components';
import { bytes } from '../../shared/format.ts';
import { safePath, type InputFile } from '../draft.ts';

interface Props {
  files: InputFile[];
  /** Bytes of all input files that the server takes; undefined while that is not known. */
  most: number | undefined;
  onChange: (files: InputFile[]) => void;
  wrong: string[];
}

export function InputFiles({ files, most = Infinity, onChange, wrong }: Props) {
  /** Why the files of the last try are not in the list. */
  const [refusal, setRefusal] = useState<string>();
  const add = async (getting: Promise<readonly File[]>) => {
    setRefusal(undefined);
    try {
      await take(await getting);
    } catch (error) {
      setRefusal(error instanceof Error ? error.message : String(error));
    }
  };
  const take = async (list: readonly File[]) => {
    // Sizes first: a file of some gigabytes cannot even be read.
    const names = new Set(list.map((f) => safePath(f.name)));
    const others = files.filter((f) => !names.has(f.path)).reduce((n, f) => n + f.bytes, 0);
    const total = list.reduce((n, f) => n + f.size, 0);
    if (others + total > most) {
      const largest = list.reduce((a, b) => (b.size > a.size ? b : a));
      throw new Error(
        `${largest.name} (${bytes(largest.size)}) was not added: the input files of a job can have at most ` +
          `${bytes(most)}${others > 0 ? `, and the others have ${bytes(others)}` : ''}.`,
      );
    }
    const read = await Promise.all(
      list.map(async (f): Promise<InputFile> => {
        const buffer = await f.arrayBuffer().catch((error: Error) => {
          throw new Error(`${f.name} could not be read: ${error.message}`);
        });
        const data = new Uint8Array(buffer);
        return { path: safePath(f.name), bytes: data.length, content: { kind: 'bytes', data } };
      }),
    );
    onChange([...files.filter((f) => !names.has(f.path)), ...read]);
  };
  return (
    <DropZone
      className="field input-files"
      aria-label="Input files; drop files here"
      onDrop={(e) => {
        const folder = e.items.find((i) => i.kind === 'directory');
        if (folder) setRefusal(`${folder.name} is a folder; drop its files instead.`);
        else void add(Promise.all(e.items.flatMap((i) => (i.kind === 'file' ? [i.getFile()] : []))));
      }}
    >
      <div className="row apart">
        <span className="label">Input files</span>
        <FileTrigger allowsMultiple onSelect={(list) => void add(Promise.resolve([...(list ?? [])]))}>
          <Button className="button small ghost">Add…</Button>
        </FileTrigger>
      </div>
      {files.length === 0 ? (
        <span className="hint">None. If the program reads files, drop them here.</span>
      ) : (
        <ul className="file-list">
          {files.map((f) => (
            <li key={f.path} className="row apart">
              <span className="mono break">{f.path}</span>
              <span className="row">
                <span className="muted small num">{bytes(f.bytes)}</span>
                <button
                  type="button"
                  className="button small ghost"
                  aria-label={`Remove ${f.path}`}
                  onClick={() => onChange(files.filter((x) => x !== f))}
                >
                  ×
                </button>
              </span>
            </li>
          ))}
        </ul>
      )}
      {refusal && (
        <span className="wrong" role="alert">
          {refusal}
        </span>
      )}
      {wrong.map((t) => (
        <span key={t} className="wrong">
          {t}
        </span>
      ))}
    </DropZone>
  );
}
