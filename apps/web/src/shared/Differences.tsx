/** In what a run that was compared differs from the other: one line each, nothing where it does not. */
export function Differences({ of }: { of: readonly string[] }) {
  if (of.length === 0) return null;
  return (
    <ul className="small">
      {of.map((difference) => (
        <li key={difference} className="break">
          {difference}
        </li>
      ))}
    </ul>
  );
}
