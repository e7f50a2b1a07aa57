/** Drafts of the form that were not submitted: the one that is shown, and those to which one may go back. */
import { ago } from '../../shared/format.ts';
import type { Unsent } from './draft-store.ts';

interface Props {
  /** The one in the form, when it was read back rather than typed now. */
  shown: Unsent | undefined;
  others: readonly Unsent[];
  onOpen: (u: Unsent) => void;
  onDrop: (u: Unsent) => void;
}

export function Drafts({ shown, others, onOpen, onDrop }: Props) {
  if (!shown && others.length === 0) return null;
  return (
    <ul className="notice drafts" aria-label="Unsubmitted drafts" data-testid="unsent">
      {shown && (
        <li className="row apart">
          <Which intro="This is your unsubmitted draft" of={shown} />
        </li>
      )}
      {others.map((u) => (
        <li key={u.id} className="row apart">
          <Which intro="You have an unsubmitted draft" of={u} />
          <span className="row">
            <button type="button" className="button small" onClick={() => onOpen(u)}>
              Open it
            </button>
            <button type="button" className="button small ghost" onClick={() => onDrop(u)}>
              Discard it
            </button>
          </span>
        </li>
      ))}
    </ul>
  );
}

function Which({ intro, of: { draft, savedAt } }: { intro: string; of: Unsent }) {
  return (
    <span>
      {intro}: <strong>{draft.name || draft.entry}</strong>, {ago(savedAt, Date.now())}.
    </span>
  );
}
