/** The messages of the compiler, each with the way to its place. */
import type { Diagnostic } from '@mayfly/wire';

export function Diagnostics({ list, onGo }: { list: readonly Diagnostic[]; onGo: (d: Diagnostic) => void }) {
  if (list.length === 0) return null;
  return (
    <ol className="diagnostics">
      {list.map((d, i) => (
        <li key={i}>
          {d.file !== '' && (
            <button type="button" className="where mono" onClick={() => onGo(d)}>
              {d.file}:{d.line}:{d.column}
            </button>
          )}{' '}
          <span className="lines">{d.message}</span> <span className="muted small">{d.code}</span>
        </li>
      ))}
    </ol>
  );
}
