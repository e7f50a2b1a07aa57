/** A field of the form: its label is its name, and its hint, if there is one, describes it, also to a screen reader. */
import { useId, type ReactNode } from 'react';

interface Props {
  label: string;
  hint?: string | undefined;
  /** The input, with these attributes. */
  children: (named: { id: string; 'aria-describedby': string | undefined }) => ReactNode;
}

export function Field({ label, hint, children }: Props) {
  const id = useId();
  const hintId = hint === undefined ? undefined : `${id}-hint`;
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children({ id, 'aria-describedby': hintId })}
      {hint !== undefined && (
        <span className="hint" id={hintId}>
          {hint}
        </span>
      )}
    </div>
  );
}
