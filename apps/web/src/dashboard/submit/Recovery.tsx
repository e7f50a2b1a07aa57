/** What the program finds after a loss, under the protocol `app` (docs/ulfm.md, docs/ft-mpi.md). */
import { ftModes, type JobOptions } from '@mayfly/wire';
import { COMMUNICATORS, MESSAGES, asksForMessages, withCommunicators } from './ft-modes.ts';

interface Props {
  options: JobOptions;
  set: (part: { ft?: JobOptions['ft'] | undefined }) => void;
}

export function Recovery({ options: { ft }, set }: Props) {
  const modes = ft && ftModes(ft);
  return (
    <>
      <fieldset className="radios">
        <legend className="label">What the program finds after a loss</legend>
        {COMMUNICATORS.map((c) => (
          <label key={c.title} className="check">
            <input
              type="radio"
              name="ftCommunicators"
              checked={modes?.communicators === c.mode}
              onChange={() => set({ ft: withCommunicators(ft, c.mode) })}
            />
            <span>
              {c.title} <span className="muted">({c.effect})</span>
            </span>
          </label>
        ))}
      </fieldset>
      {asksForMessages(ft) && (
        <fieldset className="radios">
          <legend className="label">Messages under way at a loss</legend>
          {MESSAGES.map((m) => (
            <label key={m.mode} className="check">
              <input
                type="radio"
                name="ftMessages"
                checked={modes?.messages === m.mode}
                onChange={() => set({ ft: { ...ftModes(ft), messages: m.mode } })}
              />
              <span>
                {m.title} <span className="muted">({m.effect})</span>
              </span>
            </label>
          ))}
        </fieldset>
      )}
    </>
  );
}
