/** `/dashboard/rooms`: open a room, show its code, link and QR code to a class, see who is in it, close it. */
import type { RoomView } from '@mayfly/wire';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useRef, useState, type FormEvent } from 'react';
import { Input, Label, TextField } from 'react-aria-components';
import { Board } from '../../shared/Board.tsx';
import { CopyButton } from '../../shared/CopyButton.tsx';
import { plural } from '../../shared/format.ts';
import { baseOf, reachOf } from '../address.ts';
import { closeRoom, getInfo, getRooms, getServer, openRoom } from '../api.ts';
import { Confirm } from '../Confirm.tsx';
import { useMay } from '../context.tsx';
import { Problem } from '../Problem.tsx';
import { Unreachable } from '../Unreachable.tsx';
import { QrCode } from './QrCode.tsx';
import './rooms.css';

/** A class, and some more. */
const MOST_DOTS = 120;

export function RoomsPage() {
  const mayOpen = useMay('owner');
  const rooms = useQuery({ queryKey: ['rooms'], queryFn: getRooms, refetchInterval: 2000 });
  const info = useQuery({ queryKey: ['info'], queryFn: getInfo, staleTime: 60_000 });
  const base = baseOf(info.data?.publicUrl);
  return (
    <div className="stack">
      <title>Rooms – Mayfly</title>
      <div>
        <h1>Rooms</h1>
        <p className="muted">
          A room keeps a class’s jobs and volunteers to itself. Tabs that join with its code run only the room’s jobs,
          and these jobs run nowhere else.
        </p>
      </div>
      {mayOpen && <Open />}
      <Problem error={rooms.error} title="Could not load the rooms" />
      {rooms.data && info.data && (
        <ul className="rooms" aria-label="Rooms">
          {rooms.data.map((r) => (
            <li key={r.code}>
              <RoomCard room={r} base={base} />
            </li>
          ))}
        </ul>
      )}
      {rooms.data?.length === 0 && (
        <div className="empty">
          <strong>No open rooms</strong>
          <p>Without rooms, every volunteer runs every job.</p>
        </div>
      )}
    </div>
  );
}

function Open() {
  const [name, setName] = useState('');
  const [server, setServer] = useState('');
  const servers = useQuery({ queryKey: ['server'], queryFn: getServer, staleTime: 10_000 }).data?.servers ?? [];
  const client = useQueryClient();
  const open = useMutation({
    mutationFn: () => openRoom(name.trim(), server),
    onSuccess: (room) => {
      setName('');
      client.setQueryData<RoomView[]>(['rooms'], (old) =>
        old?.some((r) => r.code === room.code) ? old : [room, ...(old ?? [])],
      );
    },
  });
  const send = (e: FormEvent) => {
    e.preventDefault();
    if (name.trim() !== '') open.mutate();
  };
  return (
    <form className="card" aria-label="A new room" onSubmit={send}>
      <div className="row end">
        <TextField className="field grow" value={name} onChange={setName} maxLength={80}>
          <Label>Name of a new room</Label>
          <Input placeholder="e.g. Physics, Tuesday" autoComplete="off" />
        </TextField>
        {servers.length > 1 && (
          <label className="field">
            <span className="label">Its messages pass</span>
            <select className="in select" value={server} onChange={(e) => setServer(e.target.value)}>
              <option value="">any server</option>
              {servers.map((s) => s.address && <option key={s.address}>{s.address}</option>)}
            </select>
          </label>
        )}
        <button className="button primary" type="submit" disabled={open.isPending || name.trim() === ''}>
          Open the room
        </button>
      </div>
      <Problem error={open.error} title="Could not open the room" />
    </form>
  );
}

function RoomCard({ room, base }: { room: RoomView; base: string }) {
  const mayClose = useMay('owner');
  const client = useQueryClient();
  const close = useMutation({
    mutationFn: () => closeRoom(room.code),
    onSuccess: () => client.invalidateQueries({ queryKey: ['rooms'] }),
  });
  const shown = useRef<HTMLAnchorElement>(null);
  const card = useRef<HTMLElement>(null);
  const link = `${base}/volunteer?room=${room.code}`;
  return (
    <article className="card room" aria-label={`Room ${room.name}`} ref={card}>
      <div className="room-text">
        <h2>{room.name}</h2>
        <p className="muted num">
          {plural(room.nodes, 'node')} here, {room.free} of {plural(room.slots, 'slot')} free ·{' '}
          {plural(room.jobs, 'job')} waiting or running
        </p>
        {room.server && <p className="muted">Messages of new jobs pass {room.server}, while that server is there.</p>}
        <p className="join-code" aria-label={`Join code ${[...room.code].join(' ')}`}>
          {room.code}
        </p>
        <p className="link">
          <a className="break" href={link} ref={shown}>
            {link}
          </a>
        </p>
        <TabsHere n={room.nodes} />
        <Unreachable base={base} />
        <div className="row">
          <CopyButton text={link} label="Copy the link" where={shown} />
          {document.fullscreenEnabled && (
            <button type="button" className="button small" onClick={() => void card.current?.requestFullscreen()}>
              Show large
            </button>
          )}
          <Link to="/dashboard/new" search={{ room: room.code }} className="button small">
            New job in this room
          </Link>
          {mayClose && (
            <Confirm
              label="Close the room"
              small
              title={`Close “${room.name}”?`}
              text="Nobody can join with its code any more. Tabs in the room leave it when they reconnect."
              yes="Close it"
              no="Keep it"
              busy={close.isPending}
              onYes={() => close.mutate()}
            />
          )}
        </div>
        <Problem error={close.error} />
        <Board room={room.code} title={<h3>Board</h3>} short />
      </div>
      {reachOf(base) === 'everywhere' ? (
        <QrCode text={link} label={`QR code of the link to the room ${room.name}`} />
      ) : (
        <p className="qr none muted small">No QR code: a device that scans it could not compute.</p>
      )}
    </article>
  );
}

/** On a projector: a dot lights up for each tab that comes. */
function TabsHere({ n }: { n: number }) {
  return (
    <div className="tabs-here">
      <p className="num">{plural(n, 'tab')} here</p>
      <div aria-hidden="true">
        {Array.from({ length: Math.min(n, MOST_DOTS) }, (_, i) => (
          <i key={i} />
        ))}
      </div>
    </div>
  );
}
