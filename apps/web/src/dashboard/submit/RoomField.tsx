/** Whose volunteers run the job: those without a room, or those of one room; with clusters, a room for each. */
import { accepts, DEFAULT_PROTOCOL } from '@mayfly/protocols/manifests';
import type { RoomView } from '@mayfly/wire';
import { clusterPlaces, type Draft } from '../draft.ts';
import { Field } from './Field.tsx';

export function RoomField({
  rooms,
  draft,
  change,
}: {
  rooms: readonly RoomView[];
  draft: Draft;
  change: (part: Partial<Draft>) => void;
}) {
  const { room } = draft;
  const places = clusterPlaces(draft);
  if (rooms.length === 0 && room === '' && !places) return null;
  return (
    <>
      {!places && (
        <Choice
          label="Room"
          rooms={rooms}
          room={room}
          onChange={(code) => change({ room: code })}
          hint={
            room === ''
              ? 'Jobs without a room run on volunteers without one.'
              : 'Only tabs that joined with this room’s code run it.'
          }
        />
      )}
      {accepts(draft.options.protocol ?? DEFAULT_PROTOCOL, 'clusters') && (
        <label className="check">
          <input
            type="checkbox"
            checked={places !== undefined}
            onChange={(e) => change({ rooms: e.target.checked ? [] : undefined })}
          />
          <span>
            A room for each cluster <span className="muted">– its volunteers run that cluster’s ranks</span>
          </span>
        </label>
      )}
      {places?.map((place, cluster) => (
        <Choice
          key={cluster}
          label={`Room of cluster ${cluster}`}
          rooms={rooms}
          room={place.room}
          onChange={(code) => change({ rooms: places.map((p, c) => (c === cluster ? code : p.room)) })}
        />
      ))}
    </>
  );
}

interface ChoiceProps {
  label: string;
  rooms: readonly RoomView[];
  room: string;
  onChange: (code: string) => void;
  hint?: string;
}

function Choice({ label, rooms, room, onChange, hint }: ChoiceProps) {
  const known = room === '' || rooms.some((r) => r.code === room);
  return (
    <Field label={label} hint={hint}>
      {(named) => (
        <select {...named} className="in select" value={room} onChange={(e) => onChange(e.target.value)}>
          <option value="">none: volunteers without a room</option>
          {rooms.map((r) => (
            <option key={r.code} value={r.code}>
              {r.name} ({r.code})
            </option>
          ))}
          {!known && <option value={room}>{room} (closed)</option>}
        </select>
      )}
    </Field>
  );
}
