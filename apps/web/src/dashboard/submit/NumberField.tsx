/** A field of the form for a number. While it is empty, it shows its default; who asks keeps it within its limits. */
import { Field } from './Field.tsx';

interface Props {
  label: string;
  hint: string;
  least: number;
  most?: number;
  /** It takes whole numbers only. */
  whole?: boolean;
  /** What counts while it is empty; undefined: not known yet. */
  usual: string | number | undefined;
  disabled?: boolean;
  value: number | undefined;
  /** NaN: the field is empty, or has no number. */
  onChange: (n: number) => void;
}

export function NumberField({ label, hint, least, most, whole = false, usual, disabled, value, onChange }: Props) {
  return (
    <Field label={label} hint={hint}>
      {(named) => (
        <input
          {...named}
          disabled={disabled}
          placeholder={usual === undefined ? '' : disabled ? String(usual) : `default: ${usual}`}
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
