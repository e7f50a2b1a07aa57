/** Which ranks share a node, and how many of them exchange messages in its memory (docs/teams.md). */
import { DEFAULT_PROTOCOL } from '@mayfly/protocols/manifests';
import { MAX_TEAM, type JobOptions } from '@mayfly/wire';
import { mapByDefault, refusedText, restarts, teamDefaultText, teamLossText } from '../protocol-texts.ts';
import { NumberField } from './NumberField.tsx';

interface Props {
  options: JobOptions;
  set: (part: { [K in 'mapBy' | 'team']?: JobOptions[K] | undefined }) => void;
}

const WAYS = [
  { mapBy: 'slot', title: 'Fill the slots of a node before the next', why: 'few nodes take part' },
  { mapBy: 'node', title: 'One node after the other', why: 'a closed tab takes few ranks with it' },
] as const;

export function Placement({ options: o, set }: Props) {
  const protocol = o.protocol ?? DEFAULT_PROTOCOL;
  const refused = refusedText(protocol, 'teams');
  const byDefault = mapByDefault(protocol, o.team ?? MAX_TEAM);
  const mapBy = o.mapBy ?? byDefault;
  return (
    <>
      <fieldset className="radios">
        <legend className="label">Where ranks run</legend>
        {WAYS.map((w) => (
          <label key={w.mapBy} className="check">
            <input
              type="radio"
              name="mapBy"
              checked={mapBy === w.mapBy}
              onChange={() => set({ mapBy: w.mapBy === byDefault ? undefined : w.mapBy })}
            />
            <span>
              {w.title}{' '}
              <span className="muted">
                ({w.mapBy === 'slot' && !refused ? 'neighbours exchange messages quickly' : w.why}
                {w.mapBy === byDefault ? '; the default' : ''})
              </span>
            </span>
          </label>
        ))}
      </fieldset>
      <NumberField
        label="Ranks of a team"
        hint={
          refused ??
          `Ranks of one node, up to this many, exchange messages in its memory, without the server. Empty: ${teamDefaultText(protocol)}. ` +
            teamLossText(protocol)
        }
        least={1}
        most={MAX_TEAM}
        whole
        usual={refused ? 1 : restarts(protocol) ? 'all' : MAX_TEAM}
        disabled={refused !== undefined}
        value={o.team}
        onChange={(ranks) =>
          set({ team: Number.isFinite(ranks) ? Math.min(MAX_TEAM, Math.max(1, Math.round(ranks))) : undefined })
        }
      />
    </>
  );
}
