/** The program: source files (one is edited, others stand as tabs), or a module or an archive. Files may be dropped or uploaded. */
import type { Diagnostic } from '@mayfly/wire';
import { lazy, Suspense, useState } from 'react';
import { DropZone, FileTrigger, Button } from 'react-aria-components';
import { bytes } from '../../shared/format.ts';
import { TEMPLATES, templateOf } from '../templates.ts';
import { isUnit, languageOf, packedKind, safePath, type Draft } from '../draft.ts';

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
  const open = draft.sources.find((s) => s.path === file) ?? draft.sources[0];
  const template = templateOf(draft.sources);

  const add = async (list: readonly File[]) => {
    const given = await Promise.all(list.map(async (f) => ({ path: safePath(f.webkitRelativePath || f.name), data: new Uint8Array(await f.arrayBuffer()) })));
    const whole = given.find((g) => packedKind(g.data) !== undefined);
    if (whole) return change({ packed: { language: packedKind(whole.data)!, path: whole.path, data: whole.data }, sources: [], entry: whole.path, units: undefined });
    const read = given.map((g) => ({ path: g.path, text: new TextDecoder().decode(g.data) }));
    if (read.length === 0) return;
    const names = new Set(read.map((r) => r.path));
    const untouched = template !== undefined;
    const rest = draft.sources.filter((s) => !names.has(s.path) && !untouched);
    const sources = [...rest, ...read];
    const entry = sources.find((s) => s.path === draft.entry) ?? sources.find((s) => /(^|\/)main\.(ts|c|cc|cpp|cxx)$/.test(s.path)) ?? sources.find((s) => isUnit(s.path)) ?? sources[0]!;
    change({ sources, entry: entry.path, packed: undefined, units: undefined });
    onFile(read[0]!.path);
  };
  const addEmpty = () => {
    const language = languageOf(draft);
    const suffix = language === 'c' ? 'c' : language === 'c++' ? 'cpp' : 'ts';
    let n = 1;
    while (draft.sources.some((s) => s.path === `part${n}.${suffix}`)) n++;
    const path = `part${n}.${suffix}`;
    change({ sources: [...draft.sources, { path, text: '' }], packed: undefined, units: undefined, ...(draft.sources.length === 0 ? { entry: path } : {}) });
    onFile(path);
    setRenaming(path);
  };
  const rename = (from: string, to: string) => {
    setRenaming(undefined);
    const path = safePath(to.trim() || from);
    if (path === from || draft.sources.some((s) => s.path === path)) return;
    change({ sources: draft.sources.map((s) => (s.path === from ? { ...s, path } : s)), units: draft.units?.map((u) => (u === from ? path : u)), ...(draft.entry === from ? { entry: path } : {}) });
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
      onDrop={(e) => {
        void Promise.all(e.items.map((i) => (i.kind === 'file' ? i.getFile() : undefined))).then((all) => add(all.filter((f) => f !== undefined)));
      }}
    >
      <div className="source-bar">
        <div className="tabs" role="group" aria-label="Files of the program">
          {draft.sources.map((s) =>
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
                {s.path === draft.entry && draft.sources.length > 1 && languageOf(draft) === 'typescript' && <span className="muted small"> entry</span>}
              </button>
            ),
          )}
        </div>
        <div className="row tools">
          {template && (
            <select
              className="in select"
              aria-label="Begin in the language"
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
          <FileTrigger allowsMultiple acceptedFileTypes={['.ts', '.mts', '.js', '.json', '.c', '.h', '.cc', '.cpp', '.cxx', '.hh', '.hpp', '.wasm', '.out', '.zip', '.tar', '.gz', '.tgz']} onSelect={(list) => void add([...(list ?? [])])}>
            <Button className="button small ghost">Upload</Button>
          </FileTrigger>
        </div>
      </div>
      {open && (
        <Suspense fallback={<pre className="editor-wait mono" tabIndex={0}>{open.text}</pre>}>
          <Editor
            key={open.path}
            path={open.path}
            text={open.text}
            onChange={(text) => change({ sources: draft.sources.map((s) => (s.path === open.path ? { ...s, text } : s)) })}
            diagnostics={diagnostics.filter((d) => d.file === open.path)}
          />
        </Suspense>
      )}
      {draft.packed && (
        <p className="pad">
          <span className="mono">{draft.packed.path}</span> <span className="muted num">{bytes(draft.packed.data.length)}</span>{' '}
          {draft.packed.language === 'wasm' ? 'WebAssembly module: checked and made checkpointable when it is submitted.' : 'Archive: built as its mayfly.json says.'}
        </p>
      )}
      {wrong.map((t) => (
        <p key={t} className="wrong pad">
          {t}
        </p>
      ))}
      <p className="hint pad">TypeScript, C, C++ (by the names of the files), a .wasm of mayfly mpicc, or an archive with mayfly.json. In the editor, Tab indents; Esc and then Tab leaves it.</p>
    </DropZone>
  );
}
