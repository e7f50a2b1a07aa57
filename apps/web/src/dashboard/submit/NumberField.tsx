/** A field of the form for a number. Empty is the server's default; who asks keeps the number within its limits. */
import { Field } from './Field.tsx';

interface Props {
  label: string;
  hint: string;
  least: number;
  most?: number;
  /** It takes whole numbers only. */
  whole?: boolean;
  placeholder: string;
  disabled?: boolean;
  value: number | undefined;
  /** NaN: the field is empty, or has no number. */
  onChange: (n: number) => void;
}

export function NumberField({ label, hint, least, most, whole = false, value, onChange, ...input }: Props) {
  return (
    <Field label={label} hint={hint}>
      {(named) => (
        <input
          {...named}
          {...input}
          type="number"
          inputMode={whole ? 'numeric' : 'decimal'}
          min={least}
          max={most}
          step={whole ? 1 : 'any'}
          value={value ?? ''}
          onChange={(e) => onChange(e.target.valueAsNumber)}
        />
      )}
    </Field>
  );
}
