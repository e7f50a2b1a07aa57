/** What the program finds after a loss, under the protocol `app` (docs/ulfm.md, docs/ft-mpi.md). */
import { DEFAULT_SLOT_MS, ftModes, type JobOptions } from '@mayfly/wire';
import { Seconds } from './Seconds.tsx';
import {
  COMMUNICATORS,
  MESSAGES,
  asksForMessages,
  asksForSlot,
  withCommunicators,
  withMessages,
  withSlotMs,
} from './ft-modes.ts';

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
                onChange={() => set({ ft: withMessages(ft, m.mode) })}
              />
              <span>
                {m.title} <span className="muted">({m.effect})</span>
              </span>
            </label>
          ))}
        </fieldset>
      )}
      {asksForSlot(ft) && (
        <Seconds
          label="Limit for a slot"
          hint={'the job fails when a rank that starts again has found no slot for so long; 0: it waits for ever'}
          usual={DEFAULT_SLOT_MS / 1000}
          value={ft.slotMs}
          onChange={(ms) => set({ ft: withSlotMs(ft, ms) })}
        />
      )}
    </>
  );
}
