/** The examples of the server, and the way to one's own program. */
import type { ExampleView } from '@mayfly/wire';
import { plural } from '../../shared/format.ts';

interface Props {
  examples: ExampleView[];
  chosen: string | undefined;
  onChoose: (e: ExampleView) => void;
  onOwn: () => void;
}

export function Gallery({ examples, chosen, onChoose, onOwn }: Props) {
  return (
    <section className="gallery" aria-label="Begin with">
      <button type="button" className="example" aria-pressed={chosen === undefined} onClick={onOwn}>
        <strong>Your own program</strong>
        <span className="muted small">Write it here, or drop files into the editor.</span>
      </button>
      {examples.map((e) => (
        <button key={e.name} type="button" className="example" aria-pressed={chosen === e.name} onClick={() => onChoose(e)}>
          <strong>{e.title}</strong>
          <span className="muted small clamp">{e.description}</span>
          <span className="muted small num">
            {plural(e.size, 'rank')} · {{ typescript: 'TypeScript', c: 'C', 'c++': 'C++' }[e.language]}
          </span>
        </button>
      ))}
    </section>
  );
}
