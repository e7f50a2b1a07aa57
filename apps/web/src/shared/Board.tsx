/** The board of a room: places of those who gave a name, teams, and what is counted since when. */
import { connect } from '@mayfly/rest/client';
import type { BoardView } from '@mayfly/wire';
import { useEffect, useState, type ReactNode } from 'react';
import { count, day, elapsed, plural } from './format.ts';
import { ordinal } from './ordinal.ts';

/** Needs no token. */
const api = connect({ baseUrl: '', token: () => undefined });
const EVERY_MS = 15_000;
const FIRST = 5;

interface Props {
  /** Empty: volunteers without a room. */
  room: string;
  who?: { name: string; team?: string } | undefined;
  /** Read again and again while the page is visible; otherwise once. */
  live?: boolean;
  title: ReactNode;
  /** Says nothing while nobody is on it. */
  short?: boolean;
}

export function Board({ room, who, live = true, title, short = false }: Props) {
  const board = useBoard(room, who, live);
  const [all, setAll] = useState(false);
  if (!board) return short ? null : <BoardFrame title={title}>Loading the board…</BoardFrame>;
  if (board.names === 0)
    return short ? null : (
      <BoardFrame title={title}>
        No one is listed yet. Enter a name before you start to have your contribution counted.
      </BoardFrame>
    );
  const shown = board.entries.slice(0, all ? board.entries.length : FIRST);
  const { you } = board;
  return (
    <div className="board">
      {title}
      {you && (
        <p data-testid="your-place">
          You are {ordinal(you.place)} of {count(board.names)} {room ? 'in this room' : 'here'}.
        </p>
      )}
      <table className="fixed places">
        <thead>
          <tr>
            <th scope="col" className="c-place">
              Place
            </th>
            <th scope="col">Name</th>
            <th scope="col" className="c-given">
              Given
            </th>
            <th scope="col" className="c-place">
              Jobs
            </th>
          </tr>
        </thead>
        <tbody>
          {(you && !shown.some((e) => e.place === you.place) ? [...shown, you] : shown).map((e) => (
            <tr key={e.place} className={e.place === you?.place ? 'you' : undefined}>
              <td className="num">{e.place}</td>
              <td className="one-line" title={e.team ? `${e.name} · ${e.team}` : e.name}>
                {e.name}
                {e.team && <span className="muted"> · {e.team}</span>}
                {e.here && <span className="muted small"> · here now</span>}
              </td>
              <td className="num" title={`${elapsed(e.usefulMs)} of new work, ${elapsed(e.replayedMs)} of replay`}>
                {elapsed(e.usefulMs + e.replayedMs)}
              </td>
              <td className="num">{count(e.jobs)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {board.teams.length > 0 && (
        <p className="small">
          Teams:{' '}
          {board.teams
            .slice(0, FIRST)
            .map((t) => `${t.team} ${elapsed(t.usefulMs + t.replayedMs)} (${plural(t.names, 'name')})`)
            .join(', ')}
          .
        </p>
      )}
      {board.entries.length > FIRST && (
        <button className="button small ghost" onClick={() => setAll(!all)} aria-expanded={all}>
          {all ? 'Show less' : `Show ${board.entries.length}`}
        </button>
      )}
      <p className="hint">
        Compute time{board.since !== undefined && ` since ${day(board.since)}`}, as reported by the tabs.
        {board.anonymous.usefulMs + board.anonymous.replayedMs > 0 &&
          ' Volunteers without a name contributed ' +
            `${elapsed(board.anonymous.usefulMs + board.anonymous.replayedMs)}.`}{' '}
        Names are not verified.
      </p>
    </div>
  );
}

function BoardFrame({ title, children }: { title: ReactNode; children: ReactNode }) {
  return (
    <div className="board">
      {title}
      <p className="hint">{children}</p>
    </div>
  );
}

function useBoard(
  room: string,
  who: { name: string; team?: string } | undefined,
  live: boolean,
): BoardView | undefined {
  const [board, setBoard] = useState<{ of: string; view: BoardView }>();
  const code = room.trim() || '-';
  const [name, team] = [who?.name, who?.team || undefined];
  useEffect(() => {
    const end = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = async () => {
      if (document.visibilityState !== 'hidden') {
        // A code that is still being typed is refused: then there is nothing to show.
        const query = name === undefined ? {} : { name, ...(team === undefined ? {} : { team }) };
        const view = await api
          .get('/api/rooms/:code/board', { params: { code }, query, signal: end.signal })
          .catch(() => undefined);
        if (view && !end.signal.aborted) setBoard({ of: code, view });
      }
      if (live && !end.signal.aborted) timer = setTimeout(() => void look(), EVERY_MS);
    };
    // Not at every letter that is typed.
    timer = setTimeout(() => void look(), 300);
    return () => {
      end.abort();
      clearTimeout(timer);
    };
  }, [code, name, team, live]);
  // Another room's board is never shown for this one's; the own place of before may be, for a moment.
  return board && board.of === code ? board.view : undefined;
}
