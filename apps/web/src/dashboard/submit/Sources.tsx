/**
 * The program: source files (one is edited, others stand as tabs, many as a list), or a module. Files, folders and
 * archives may be dropped or uploaded.
 */
import type { Diagnostic } from '@mayfly/wire';
import { lazy, Suspense, useRef, useState } from 'react';
import { DropZone, FileTrigger, Button } from 'react-aria-components';
import { bytes } from '../../shared/format.ts';
import { TEMPLATES, templateOf } from '../templates.ts';
import { languageOf, safePath, type Draft } from '../draft.ts';
import { readChosen, readDropped } from './dropped.ts';
import { take, takeFolder, type Given } from './program-from-files.ts';

/** More files than this are a list. */
const TABS = 8;
const Editor = lazy(() => import('./Editor.tsx'));

interface Props {
  draft: Draft;
  file: string;
  onFile: (path: string) => void;
  change: (part: Partial<Draft>) => void;
  diagnostics: readonly Diagnostic[];
  wrong: string[];
}

export function Sources({ draft, file, onFile, change, diagnostics, wrong }: Props) {
  const [renaming, setRenaming] = useState<string>();
  /** Of what was dropped or uploaded last. */
  const [said, setSaid] = useState<{ note?: string; refusal?: string }>({});
  const open = draft.sources.find((s) => s.path === file) ?? draft.sources[0];
  const template = templateOf(draft.sources);
  const many = draft.sources.length > TABS;

  /** The newest drop is the one that counts, however long an older one takes to be read. */
  const adding = useRef(0);
  const add = async (reading: Promise<{ given: Given[]; folder: string | undefined }>) => {
    const mine = ++adding.current;
    setSaid({});
    try {
      const { given, folder } = await reading;
      if (given.length === 0) return;
      const taken =
        folder === undefined
          ? await take(draft, given, template === undefined)
          : await takeFolder(new Map(given.map((g) => [g.path, g.data])), folder);
      if (mine !== adding.current) return;
      change(taken.change);
      onFile(taken.show);
      setSaid({ note: taken.note });
    } catch (error) {
      if (mine === adding.current) setSaid({ refusal: (error as Error).message });
    }
  };
  const addEmpty = () => {
    const language = languageOf(draft);
    const suffix = language === 'c' ? 'c' : language === 'c++' ? 'cpp' : 'ts';
    let n = 1;
    while (draft.sources.some((s) => s.path === `part${n}.${suffix}`)) n++;
    const path = `part${n}.${suffix}`;
    change({
      sources: [...draft.sources, { path, text: '' }],
      packed: undefined,
      units: undefined,
      ...(draft.sources.length === 0 ? { entry: path } : {}),
    });
    onFile(path);
    setRenaming(path);
  };
  const rename = (from: string, to: string) => {
    setRenaming(undefined);
    const path = safePath(to.trim() || from);
    if (path === from || draft.sources.some((s) => s.path === path)) return;
    change({
      sources: draft.sources.map((s) => (s.path === from ? { ...s, path } : s)),
      units: draft.units?.map((u) => (u === from ? path : u)),
      ...(draft.entry === from ? { entry: path } : {}),
    });
    onFile(path);
  };
  const remove = (path: string) => {
    const sources = draft.sources.filter((s) => s.path !== path);
    change({ sources, ...(draft.entry === path && sources[0] ? { entry: sources[0].path } : {}) });
    if (sources[0]) onFile(sources[0].path);
  };

  return (
    <DropZone
      className="card flush sources"
      aria-label="Source files; drop files here"
      onDrop={(e) => void add(readDropped(e.items))}
    >
      <div className="source-bar">
        {many && (
          <select
            className="in select mono"
            aria-label="File of the program"
            value={open?.path}
            onChange={(e) => onFile(e.target.value)}
          >
            {draft.sources.map((s) => (
              <option key={s.path} value={s.path}>
                {s.path}
                {diagnostics.some((d) => d.file === s.path) ? ' •' : ''}
                {s.path === draft.entry && languageOf(draft) === 'typescript' ? ' (entry)' : ''}
              </option>
            ))}
          </select>
        )}
        <div className="tabs" role="group" aria-label="Files of the program">
          {draft.sources
            .filter((s) => !many || renaming === s.path)
            .map((s) =>
              renaming === s.path ? (
                <input
                  key={s.path}
                  className="in rename mono"
                  aria-label={`New name of ${s.path}`}
                  defaultValue={s.path}
                  autoFocus
                  onBlur={(e) => rename(s.path, e.target.value)}
                  onKeyDown={(e) => {
                    if (e.key === 'Enter') {
                      e.preventDefault();
                      rename(s.path, e.currentTarget.value);
                    }
                    if (e.key === 'Escape') setRenaming(undefined);
                  }}
                />
              ) : (
                <button
                  key={s.path}
                  type="button"
                  className="tab mono"
                  data-selected={s === open || undefined}
                  aria-pressed={s === open}
                  onClick={() => onFile(s.path)}
                  onDoubleClick={() => setRenaming(s.path)}
                >
                  {s.path}
                  {diagnostics.some((d) => d.file === s.path) && <span className="wrong"> •</span>}
                  {s.path === draft.entry && draft.sources.length > 1 && languageOf(draft) === 'typescript' && (
                    <span className="muted small"> entry</span>
                  )}
                </button>
              ),
            )}
        </div>
        <div className="row tools">
          {template && (
            <select
              className="in select"
              aria-label="Language"
              value={template.path}
              onChange={(e) => {
                const t = TEMPLATES.find(({ path }) => path === e.target.value)!;
                change({ sources: [{ path: t.path, text: t.text }], entry: t.path, units: undefined });
                onFile(t.path);
              }}
            >
              {TEMPLATES.map((t) => (
                <option key={t.path} value={t.path}>
                  {t.language}
                </option>
              ))}
            </select>
          )}
          {open && (
            <>
              {draft.sources.length > 1 && open.path !== draft.entry && languageOf(draft) === 'typescript' && (
                <button type="button" className="button small ghost" onClick={() => change({ entry: open.path })}>
                  Start with this
                </button>
              )}
              <button type="button" className="button small ghost" onClick={() => setRenaming(open.path)}>
                Rename
              </button>
              {draft.sources.length > 1 && (
                <button type="button" className="button small ghost" onClick={() => remove(open.path)}>
                  Remove
                </button>
              )}
            </>
          )}
          <button type="button" className="button small ghost" onClick={addEmpty}>
            New file
          </button>
          <FileTrigger allowsMultiple onSelect={(list) => void add(readChosen([...(list ?? [])]))}>
            <Button className="button small ghost">Upload</Button>
          </FileTrigger>
          <FileTrigger acceptDirectory onSelect={(list) => void add(readChosen([...(list ?? [])]))}>
            <Button className="button small ghost">Upload a folder</Button>
          </FileTrigger>
        </div>
      </div>
      {open && (
        <Suspense
          fallback={
            <pre className="editor-wait mono" tabIndex={0}>
              {open.text}
            </pre>
          }
        >
          <Editor
            key={open.path}
            path={open.path}
            text={open.text}
            onChange={(text) =>
              change({ sources: draft.sources.map((s) => (s.path === open.path ? { ...s, text } : s)) })
            }
            diagnostics={diagnostics.filter((d) => d.file === open.path)}
          />
        </Suspense>
      )}
      {draft.packed && (
        <p className="pad" data-testid="packed">
          <span className="mono">{draft.packed.path}</span>{' '}
          <span className="muted num">{bytes(draft.packed.data.length)}</span>{' '}
          {draft.packed.language === 'wasm'
            ? 'WebAssembly module: checked and prepared for checkpoints when you submit it.'
            : 'Archive: built according to its mayfly.json.'}
        </p>
      )}
      {(said.refusal ?? said.note) && (
        <p
          className={said.refusal ? 'wrong pad' : 'pad small'}
          role={said.refusal ? 'alert' : 'status'}
          data-testid="given"
        >
          {said.refusal ?? said.note}
        </p>
      )}
      {wrong.map((t) => (
        <p key={t} className="wrong pad">
          {t}
        </p>
      ))}
      <p className="hint pad">
        TypeScript, C or C++ sources (by file extension), a folder or archive of them (.zip, .tar, .tar.gz; an optional
        mayfly.json defines the build), or a .wasm from mayfly mpicc. In the editor, Tab indents; press Esc, then Tab to
        leave.
      </p>
    </DropZone>
  );
}
