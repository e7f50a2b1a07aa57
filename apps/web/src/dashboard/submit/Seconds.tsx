/** A field for a time in seconds, where options have milliseconds. */
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
    <label className="field">
      <span className="label">{label}</span>
      <input
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
      <span className="hint">{refused ?? `seconds: ${hint}`}</span>
    </label>
  );
}
