/** A field for a time in seconds, where options have milliseconds. */
import { NumberField } from './NumberField.tsx';

interface SecondsProps {
  label: string;
  hint: string;
  value: number | undefined;
  least?: number;
  /** While it is empty, in seconds. */
  usual: string | number | undefined;
  /** Why it is not offered. */
  refused?: string | undefined;
  onChange: (ms: number | undefined) => void;
}

export function Seconds({ label, hint, value, least = 0, usual, refused, onChange }: SecondsProps) {
  return (
    <NumberField
      label={label}
      hint={refused ?? `seconds: ${hint}`}
      least={least}
      usual={refused ? 'none' : usual}
      disabled={refused !== undefined}
      value={value === undefined ? undefined : value / 1000}
      onChange={(seconds) =>
        onChange(Number.isFinite(seconds) ? Math.round(Math.max(least, seconds) * 1000) : undefined)
      }
    />
  );
}
