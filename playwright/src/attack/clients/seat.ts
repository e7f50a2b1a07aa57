/**
 * A rank of a job, spoken by hand: what everybody gets who is a volunteer, or who begins a lesson. Its data sockets
 * keep to the frame format as far as a way wants them to.
 */
import {
  EMPTY,
  Flag,
  Kind,
  WORLD,
  WorldMode,
  emptyHeader,
  encodeFrame,
  readFrames,
  type Assignment,
  type Header,
  type TaskId,
} from '@mayfly/wire';
import type { Socket } from 'socket.io-client';
import type { WebSocket } from 'ws';
import { reportOf, sleep, within, type Hostile } from './hostile.ts';

const text = new TextEncoder();
const BEAT_MS = 1000;

export interface Seat {
  job: string;
  control: Socket;
  /** By task. */
  tasks: Assignment[];
  /** Nothing is sent for it any more: its control connection stays. */
  silent(): void;
}

/**
 * Ranks of a job that the attacker has submitted itself, in a room of its own, or of a lesson, which needs no token.
 * @throws Error when the server gives none
 */
export async function takeSeat(
  h: Hostile,
  o: { from?: 'job' | 'lesson'; size?: number; options?: object; name?: string } = {},
): Promise<Seat> {
  let room = h.room;
  let job: string | undefined;
  const size = o.from === 'lesson' ? undefined : (o.size ?? 1);
  if (o.from === 'lesson') room = (await h.json<{ code: string }>('POST', '/api/lesson', undefined, {})).code;
  else
    job = (
      await h.json<{ id: string }>('POST', '/api/jobs', h.tokens.submitter, {
        name: o.name ?? 'of mallory',
        room,
        program: { language: 'typescript', entry: 'main.ts', sources: { 'main.ts': 'export {};\n' } },
        size,
        options: { team: 1, interactive: true, ...o.options },
      })
    ).id;
  const tasks: Assignment[] = [];
  const { socket } = await h.node({ slots: size ?? 16, room }, (a) => {
    if (job === undefined || a.job === job) tasks[a.task] = a;
  });
  const all = (): boolean => tasks.filter(Boolean).length >= (size ?? tasks[0]?.size ?? Infinity);
  if (!(await within(60_000 * h.slowness, all))) throw new Error('the server assigned no rank to the attacker');
  for (const a of tasks) socket.emit('report', reportOf(a, 'started'));
  const beat = setInterval(() => {
    if (!socket.connected) return clearInterval(beat);
    socket.emit('heartbeat', {
      tasks: tasks.map((a) => ({
        job: a.job,
        task: a.task,
        incarnation: a.incarnation,
        started: true,
        activity: { state: 'computing', arrivals: 0, sends: 0 },
      })),
    });
  }, BEAT_MS);
  socket.once('disconnect', () => clearInterval(beat));
  return { job: tasks[0]!.job, control: socket, tasks, silent: () => clearInterval(beat) };
}

/** Where a rank's image socket is. */
export const imagePathOf = ({ capability }: Assignment): string => `/data/image?cap=${encodeURIComponent(capability)}`;

/** One data socket of a task. */
export class DataSocket {
  /** Frames that came, by kind; and their bytes. */
  readonly kinds = new Map<number, number>();
  bytes = 0;
  readonly refused: { code: string; message: string }[] = [];
  /** Next message on the channel to the world. */
  #toWorld = 1;

  private constructor(
    readonly ws: WebSocket,
    readonly a: Assignment,
  ) {
    ws.on('message', (d: Buffer, binary: boolean) => {
      if (!binary) return;
      this.bytes += d.length;
      for (const f of readFrames(d)) {
        this.kinds.set(f.header.kind, (this.kinds.get(f.header.kind) ?? 0) + 1);
        if (f.header.kind === Kind.REFUSED)
          this.refused.push(JSON.parse(Buffer.from(f.body).toString()) as { code: string; message: string });
      }
    });
  }

  get open(): boolean {
    return this.ws.readyState === this.ws.OPEN && this.refused.length === 0;
  }

  /** A connection to the task's home that has sent ATTACH. */
  static async open(h: Hostile, a: Assignment, more: object = {}): Promise<DataSocket> {
    const ws = await h.webSocket(a.channelMemories[a.task % a.channelMemories.length]!);
    const link = new DataSocket(ws, a);
    ws.send(
      encodeFrame(
        { ...emptyHeader(Kind.ATTACH), src: a.task, incarnation: a.incarnation },
        text.encode(
          JSON.stringify({
            capability: a.capability,
            nonce: `nonce-of-${a.task}-${a.incarnation}`,
            position: a.position,
            received: 0,
            resume: false,
            ...more,
          }),
        ),
      ),
    );
    return link;
  }

  /** @throws Error when the server does not let it in */
  static async attached(h: Hostile, a: Assignment): Promise<DataSocket> {
    const link = await DataSocket.open(h, a);
    if (!(await within(60_000 * h.slowness, () => link.kinds.has(Kind.ATTACHED) || !link.open)) || !link.open)
      throw new Error(`the task was not attached: ${JSON.stringify(link.refused)}`);
    return link;
  }

  frame(kind: number, header: Partial<Header>, body: Uint8Array = EMPTY, determinants?: Uint8Array): Uint8Array {
    const { task, incarnation } = this.a;
    return encodeFrame(
      { ...emptyHeader(kind), src: task, incarnation, size: body.length, ...header },
      body,
      determinants,
    );
  }

  data(dst: TaskId, channel: number, body: Uint8Array, more: Partial<Header> = {}): Uint8Array {
    return this.frame(Kind.DATA, { flags: Flag.LAST, dst, channel, ...more }, body);
  }

  /** The next message to the world. */
  world(mode: number, body: Uint8Array, more: Partial<Header> = {}): Uint8Array {
    return this.data(WORLD, this.#toWorld++, body, { mode, ...more });
  }

  /** A part of a result file. */
  file(path: string, bytes: Uint8Array): Uint8Array {
    const name = text.encode(path);
    const body = new Uint8Array(2 + name.length + 8 + bytes.length);
    new DataView(body.buffer).setUint16(0, name.length, true);
    body.set(name, 2);
    body.set(bytes, 2 + name.length + 8);
    return this.world(WorldMode.FILE, body);
  }

  /** Until the server closes it, or the time is over. */
  async ended(ms: number): Promise<boolean> {
    return within(ms, () => !this.open);
  }
}

/** A pause in which the server may deal with what it got. */
export const settle = (h: Hostile, ms = 1500): Promise<void> => sleep(ms * Math.min(h.slowness, 4));
