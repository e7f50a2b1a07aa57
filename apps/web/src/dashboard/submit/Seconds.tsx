/** A field for a time in seconds, where options have milliseconds. */
import { Field } from './Field.tsx';

interface SecondsProps {
  label: string;
  hint: string;
  value: number | undefined;
  least?: number;
  /** Why it is not offered. */
  refused?: string | undefined;
  onChange: (ms: number | undefined) => void;
}

export function Seconds({ label, hint, value, least = 0, refused, onChange }: SecondsProps) {
  return (
    <Field label={label} hint={refused ?? `seconds: ${hint}`}>
      {(named) => (
        <input
          {...named}
          type="number"
          inputMode="decimal"
          min={least}
          step="any"
          disabled={refused !== undefined}
          placeholder={refused ? 'none' : 'default'}
          value={value === undefined ? '' : value / 1000}
          onChange={(e) => {
            const seconds = e.target.valueAsNumber;
            onChange(Number.isFinite(seconds) ? Math.round(Math.max(least, seconds) * 1000) : undefined);
          }}
        />
      )}
    </Field>
  );
}
