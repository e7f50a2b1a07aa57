/**
 * Who is here: how its slots were used lately, browser, cores, measured speed, room, way to the server, how often ranks
 * were lost. Sorted by any column. Rows keep their places while one looks: who leaves is said to be gone, who comes
 * takes the place of one who is, or the end.
 */
import type { NodeView } from '@mayfly/wire';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo, useState, type ReactNode } from 'react';
import { ago, duration, plural } from '../shared/format.ts';
import { Tag } from '../shared/Tag.tsx';
import { baseOf, reachOf } from './address.ts';
import { getInfo } from './api.ts';
import { useServerNow } from './context.tsx';
import { lossText, sorted, type Column } from './node-list.ts';
import { Pool } from './nodes/Pool.tsx';
import { mostSlots, pictureText, type Sheet } from './nodes/slots.ts';
import { Spark } from './nodes/Stack.tsx';
import { useSheet } from './nodes/useSheet.ts';
import { SortHead } from './SortHead.tsx';
import { useStableRows } from './useStableRows.ts';
import { engineText, nodeWord } from './status-texts.ts';
import { Unreachable } from './Unreachable.tsx';

interface Shown {
  by: Column;
  title: string;
  hint?: string;
  /** Beside the title. */
  aside?: string;
  className?: string;
  /** In words, what is cut off or drawn. */
  words?(n: NodeView, sheet: Sheet | undefined): string;
  cell(n: NodeView, now: number, sheet: Sheet | undefined): ReactNode;
}

const TABLE: Shown[] = [
  {
    by: 'name',
    title: 'Name',
    aside: 'last 10 minutes',
    words: (n, sheet) => `${n.name}: ${pictureText(sheet?.byNode.get(n.id), sheet?.widthMs ?? 0)}`,
    cell: (n, _now, sheet) => <NameAndUse node={n} sheet={sheet} />,
  },
  {
    by: 'state',
    title: 'State',
    className: 'c-state',
    cell: (n) => <Tag tone={nodeWord(n).tone}>{nodeWord(n).text}</Tag>,
  },
  { by: 'busy', title: 'Busy', className: 'right num c-busy', cell: (n) => `${n.busy} of ${n.slots}` },
  { by: 'engine', title: 'Engine', className: 'muted wide-only c-engine', words: engineText, cell: engineText },
  { by: 'room', title: 'Room', className: 'muted wide-only c-room', cell: (n) => n.room ?? '–' },
  { by: 'cores', title: 'Cores', className: 'right muted num wide-only c-cores', cell: (n) => n.cores ?? '–' },
  {
    by: 'speed',
    title: 'Speed',
    hint:
      'Millions of steps per second of a short fixed loop on one core, measured once while the node was idle. ' +
      'It compares nodes; a program also waits for memory and messages.',
    className: 'right muted num wide-only c-speed',
    cell: (n) => (n.speed === undefined ? '–' : `${Math.round(n.speed)} M/s`),
  },
  {
    by: 'rtt',
    title: 'Round trip',
    className: 'right muted num wide-only c-rtt',
    cell: (n) => (n.rttMs === undefined ? '–' : duration(n.rttMs)),
  },
  {
    by: 'losses',
    title: 'Lost ranks',
    hint:
      'Ranks lost with this node since the server started, excluding manual kills, and the rate per hour ' +
      'connected.',
    className: 'right muted num wide-only c-losses',
    cell: (n) => lossText(n),
  },
  {
    by: 'since',
    title: 'Connected',
    className: 'right muted num wide-only c-since',
    cell: (n, now) => ago(n.since, now),
  },
];
const idOf = (n: NodeView): string => n.id;

export function Nodes({ nodes }: { nodes: NodeView[] }) {
  const now = useServerNow(5000);
  const info = useQuery({ queryKey: ['info'], queryFn: getInfo, staleTime: 60_000 });
  const [{ by, down }, setOrder] = useState<{ by: Column; down: boolean }>({ by: 'since', down: false });
  const things = useMemo(() => {
    const all = nodes.filter((n) => n.state !== 'gone');
    return { all, listed: sorted(all, by, down), id: idOf };
  }, [nodes, by, down]);
  const { rows, renew } = useStableRows(things, { join: true, chosen: `${by} ${down}` });
  const gone = rows.filter((r) => r.gone).length;
  const { sheet } = useSheet();
  const base = baseOf(info.data?.publicUrl);
  const link = `${base}/volunteer`;
  return (
    <section className="stack" aria-label="Nodes" id="nodes">
      <div>
        <div className="row nowrap apart nodes-head">
          <h2>Nodes</h2>
          {gone > 0 && (
            <button className="button small" onClick={renew}>
              Hide {plural(gone, 'gone node')}
            </button>
          )}
        </div>
        <p className="muted small">
          Open <a href="/volunteer">{link}</a>
          {reachOf(base) === 'here' && ' on this machine'} and press Start to add a node.
        </p>
        <Unreachable base={base} />
      </div>
      {rows.length === 0 ? (
        <div className="empty">
          <strong>No nodes connected</strong>
          <p>
            Open the volunteer page in a few tabs or on a few machines. A job starts when there are slots for all its
            ranks.
          </p>
          <a className="button" href="/volunteer" target="_blank" rel="noopener">
            Volunteer in a new tab
          </a>
        </div>
      ) : (
        <>
          <Pool sheet={sheet} />
          <div className="card scroll-x" tabIndex={0} role="region" aria-label="Table of nodes">
            <table className="table fixed nodes">
              <thead>
                <tr>
                  {TABLE.map((c) => (
                    <SortHead
                      key={c.by}
                      title={c.title}
                      hint={c.hint}
                      className={c.className?.replace(/muted|num/g, '').trim()}
                      order={c.by === by ? (down ? 'descending' : 'ascending') : undefined}
                      onSort={() => setOrder((o) => ({ by: c.by, down: o.by === c.by ? !o.down : false }))}
                    >
                      {c.aside && <span className="aside">{c.aside}</span>}
                    </SortHead>
                  ))}
                </tr>
              </thead>
              <tbody>
                {rows.map(({ id, item, gone }) => {
                  const n: NodeView = gone ? { ...item, state: 'gone', busy: 0 } : item;
                  return (
                    <tr key={id} className={gone ? 'past' : undefined}>
                      {TABLE.map((c) => (
                        <td key={c.by} className={c.className} title={c.words?.(n, sheet)}>
                          {c.cell(n, now, sheet)}
                        </td>
                      ))}
                    </tr>
                  );
                })}
              </tbody>
            </table>
          </div>
        </>
      )}
    </section>
  );
}

function NameAndUse({ node: n, sheet }: { node: NodeView; sheet: Sheet | undefined }) {
  const cells = sheet?.byNode.get(n.id);
  return (
    <div className="name-use">
      <Link to="/dashboard/nodes/$id" params={{ id: n.id }} className="one-line">
        {n.name}
      </Link>
      <Spark cells={cells} top={Math.max(n.slots, cells ? mostSlots(cells) : 0)} widthMs={sheet?.widthMs ?? 0} />
    </div>
  );
}
