/** A field of the form: its label is its name, and its hint describes it, for those who hear it too. */
import { useId, type ReactNode } from 'react';

interface Props {
  label: string;
  hint: string;
  /** The input, with these attributes. */
  children: (named: { id: string; 'aria-describedby': string }) => ReactNode;
}

export function Field({ label, hint, children }: Props) {
  const id = useId();
  const hintId = `${id}-hint`;
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children({ id, 'aria-describedby': hintId })}
      <span className="hint" id={hintId}>
        {hint}
      </span>
    </div>
  );
}
