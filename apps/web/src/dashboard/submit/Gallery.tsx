/** The examples of the server, and the way to one's own program. */
import type { ExampleEntry } from '@mayfly/wire';
import { useState } from 'react';
import { plural } from '../../shared/format.ts';
import { Picture } from './Picture.tsx';

interface Props {
  examples: ExampleEntry[];
  chosen: string | undefined;
  onChoose: (name: string) => void;
  onOwn: () => void;
  /** With what the chosen card is for everybody. */
  onStartOver: () => void;
}

/** One row, so that the form stands below it at once; all of them when asked for. */
export function Gallery({ examples, chosen, onChoose, onOwn, onStartOver }: Props) {
  const [all, setAll] = useState(false);
  return (
    <section className="begin" aria-label="Start from">
      <div className="row apart">
        <h2>Start from</h2>
        <span className="row">
          <button type="button" className="button small ghost" onClick={onStartOver}>
            Start over
          </button>
          <button type="button" className="button small ghost" aria-expanded={all} onClick={() => setAll(!all)}>
            {all ? 'One row' : `All ${examples.length} examples`}
          </button>
        </span>
      </div>
      <div className={all ? 'gallery all' : 'gallery'}>
        <button type="button" className="example" aria-pressed={chosen === undefined} onClick={onOwn}>
          <strong>Your own program</strong>
          <span className="muted small">Write it here, or drop files into the editor.</span>
        </button>
        {examples.map((e) => (
          <button
            key={e.name}
            type="button"
            className="example"
            aria-pressed={chosen === e.name}
            onClick={() => onChoose(e.name)}
          >
            <strong>{e.title}</strong>
            <span className="muted small clamp">{e.description}</span>
            <span className="example-foot muted small num">
              {plural(e.size, 'rank')} · {{ typescript: 'TypeScript', c: 'C', 'c++': 'C++' }[e.language]}
              <Picture name={e.name} />
            </span>
          </button>
        ))}
      </div>
    </section>
  );
}
