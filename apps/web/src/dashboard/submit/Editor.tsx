/**
 * CodeMirror with the colours of TypeScript, C and C++ and the compiler's messages at their lines. A chunk of its own:
 * loaded where it is used.
 */
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from '@codemirror/language';
import { lintGutter, setDiagnostics } from '@codemirror/lint';
import { EditorState } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { classHighlighter } from '@lezer/highlight';
import type { Diagnostic } from '@mayfly/wire';
import { useEffect, useRef } from 'react';
import { coloursOf } from './colours.ts';

interface Props {
  path: string;
  text: string;
  onChange: (text: string) => void;
  diagnostics: readonly Diagnostic[];
}

export default function Editor({ path, text, onChange, diagnostics }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const tell = useRef(onChange);
  tell.current = onChange;

  useEffect(() => {
    const opened = new EditorView({
      parent: box.current!,
      state: EditorState.create({
        doc: text,
        extensions: [
          lineNumbers(),
          lintGutter(),
          history(),
          drawSelection(),
          highlightActiveLine(),
          highlightActiveLineGutter(),
          indentOnInput(),
          indentUnit.of('  '),
          bracketMatching(),
          coloursOf(path) ?? [],
          syntaxHighlighting(classHighlighter),
          keymap.of([...defaultKeymap, ...historyKeymap, indentWithTab]),
          EditorView.contentAttributes.of({ 'aria-label': `Source of ${path}`, spellcheck: 'false', tabindex: '0' }),
          // The first mistake, within the editor only: the page scrolls to the messages below it.
          EditorView.scrollHandler.of((v, range, { y }) => {
            if (y !== 'center') return false;
            v.scrollDOM.scrollTop = v.lineBlockAt(range.head).top - v.scrollDOM.clientHeight / 2;
            return true;
          }),
          EditorView.updateListener.of((u) => {
            if (u.docChanged) tell.current(u.state.doc.toString());
          }),
        ],
      }),
    });
    view.current = opened;
    return () => opened.destroy();
    // The editor owns the text while it is open; another file is another editor (key).
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [path]);

  useEffect(() => {
    // The text was replaced from outside (another example with the same file name).
    const v = view.current;
    if (v && v.state.doc.toString() !== text)
      v.dispatch({ changes: { from: 0, to: v.state.doc.length, insert: text } });
  }, [text]);

  useEffect(() => {
    const v = view.current;
    if (!v) return;
    const list = diagnostics.map((d) => {
      const line = v.state.doc.line(Math.min(Math.max(1, d.line), v.state.doc.lines));
      const from = Math.min(line.from + Math.max(0, d.column - 1), line.to);
      const word = v.state.wordAt(from);
      return {
        from,
        to: Math.max(word?.to ?? from, Math.min(from + 1, line.to)),
        severity: 'error' as const,
        message: d.message,
        source: d.code,
      };
    });
    v.dispatch(setDiagnostics(v.state, list));
    const first = list[0];
    if (first)
      v.dispatch({
        selection: { anchor: first.from },
        effects: EditorView.scrollIntoView(first.from, { y: 'center' }),
      });
  }, [diagnostics.length === 0 ? '' : JSON.stringify(diagnostics)]); // eslint-disable-line react-hooks/exhaustive-deps

  return <div className="editor" ref={box} />;
}
