/** Whose volunteers run the job: everybody without a room, or those of one room. */
import type { RoomView } from '@mayfly/wire';

export function RoomField({
  rooms,
  room,
  onChange,
}: {
  rooms: RoomView[];
  room: string;
  onChange: (code: string) => void;
}) {
  const known = room === '' || rooms.some((r) => r.code === room);
  if (rooms.length === 0 && room === '') return null;
  return (
    <label className="field">
      <span className="label">Room</span>
      <select className="in select" value={room} onChange={(e) => onChange(e.target.value)}>
        <option value="">none: volunteers without a room</option>
        {rooms.map((r) => (
          <option key={r.code} value={r.code}>
            {r.name} ({r.code})
          </option>
        ))}
        {!known && <option value={room}>{room} (closed)</option>}
      </select>
      <span className="hint">
        {room === ''
          ? 'Jobs without a room run on volunteers without one.'
          : 'Only tabs that joined with this room’s code run it.'}
      </span>
    </label>
  );
}
