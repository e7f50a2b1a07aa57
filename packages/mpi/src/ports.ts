/**
 * Ports and names of services within a job (MPI 4.1 §11.8, §11.9): two groups of the same job that share no
 * communicator become an intercommunicator.
 *
 * A port is a number of the task that opened it: `mayfly-port:<task>:<number>:<check>`; with the check it also tells of
 * a task that this one has not heard of yet, as it was spawned by others. The root of a connect sends its group's card
 * there and gets the other's back; a task refuses cards for ports that it has not open, and cards that their sender
 * takes back (connect-timeout.ts), as soon as it is inside an MPI call. A task that has had a port tells all others
 * when it leaves MPI, so that nobody waits for its answer. Names are told to all tasks when they are published, and to
 * those that are spawned later by the task that spawns them, as ordinary messages that wait in their queue; a look-up
 * is a poll: it sees what has arrived.
 */
import { taskId } from '@mayfly/wire';
import { bcastBinomial } from './collectives/bcast-binomial.ts';
import { part, type Buf } from './buffers.ts';
import { cardBytes, refusal, writeCard } from './cards.ts';
import { checkRoot, intra } from './checks.ts';
import { ANSWERS, ANY_SOURCE, ANY_TAG, CARDS, LEFT, Mode, NAMES_CONTEXT } from './constants.ts';
import { CONNECT_SECONDS, limit } from './connect-timeout.ts';
import { agreeOnContext } from './contexts.ts';
import { ERR, fail, type MPIError } from './errors.ts';
import { reaching } from './intercomm.ts';
import { findUnexpected, pull, stored, takeUnexpected, tellStored } from './matching.ts';
import { pollUntil } from './progress.ts';
import { refuse } from './refuse-card.ts';
import { Schedule, start } from './schedule.ts';
import { capacityOf, type Layer } from './layer.ts';
import type { Via } from './state.ts';

const nameOf = (task: number, port: number): string => `mayfly-port:${task}:${port}:${check(task, port)}`;
/** No secret: what somebody types is not to reach a task that is not there. */
const check = (task: number, port: number): string =>
  (Math.imul(Math.imul(task ^ 0x811c9dc5, 0x01000193) ^ port, 0x01000193) >>> 0).toString(36);

/** @throws MPIError ERR_PORT */
function parse(layer: Layer, name: string, call: string): { task: number; port: number } {
  // Names without a check were given before there were such.
  const m = /^mayfly-port:(\d{1,9}):(\d{1,9})(?::(\w+))?$/.exec(name);
  const task = Number(m?.[1]);
  const told = m?.[3] !== undefined && m[3] === check(task, Number(m[2])) && task < capacityOf(layer);
  if (!m || (!told && (m[3] !== undefined || task >= layer.state.known)))
    fail(ERR.PORT, call, `'${name}' is not a port of this job`);
  return { task, port: Number(m![2]) };
}

/** [MPI_Open_port] */
export function open(layer: Layer): string {
  const { ports } = layer.state;
  const port = ports.next++;
  ports.open.push(port);
  return nameOf(layer.state.task, port);
}

/** The number of an own open port. @throws MPIError ERR_PORT */
function own(layer: Layer, name: string, call: string): number {
  const { task, port } = parse(layer, name, call);
  if (task !== layer.state.task) fail(ERR.PORT, call, `${name} was opened by task ${task}, not by this one`);
  if (!layer.state.ports.open.includes(port)) fail(ERR.PORT, call, `${name} is not open`);
  return port;
}

/** [MPI_Close_port] Who has knocked in vain hears of it. */
export function close(layer: Layer, name: string): void {
  const port = own(layer, name, 'MPI_Close_port');
  shut(layer, port);
  tellStored(layer);
}

function shut(layer: Layer, port: number): void {
  const { ports } = layer.state;
  ports.open = ports.open.filter((p) => p !== port);
  for (;;) {
    const e = findUnexpected(layer, CARDS, ANY_SOURCE, port);
    if (!e) break;
    takeUnexpected(layer, CARDS, e);
    if (e.body) stored(layer, -e.size);
    refuse(layer, e.src, port);
  }
}

/**
 * The task leaves MPI (MPI_Finalize, the last session, its end): its ports close, and nobody is to wait for an answer
 * of it any more. Again after a later session.
 */
export function leave(layer: Layer): void {
  const { ports, known, task } = layer.state;
  if (ports.next === 1 || ports.left.get(task) === ports.next) return;
  for (const port of ports.open) shut(layer, port);
  tellStored(layer);
  ports.left.set(task, ports.next);
  for (let t = 0; t < known; t++)
    if (t !== task) layer.device.send(taskId(t), Mode.STANDARD, ANSWERS, LEFT, ports.next, new Uint8Array(0));
}

/**
 * What the two sides of a connection have in common: the group agrees on a context, its root meets the other one's,
 * everybody hears the other card.
 */
function meet(
  layer: Layer,
  handle: number,
  root: number,
  call: string,
  at: (s: Schedule, own: Buf, their: Buf) => MPIError | undefined,
): number {
  const comm = intra(layer, handle, call);
  checkRoot(comm, root, call);
  const s = new Schedule(layer, comm, call);
  const bytes = cardBytes(layer);
  const cards = s.scratch(2 * bytes);
  const mine = part(cards, 0, bytes);
  const their = part(cards, bytes, bytes);
  writeCard(layer, mine, comm.group);
  agreeOnContext(s, part(mine, 0, 4));
  // An error at the root becomes everybody's: nobody is left waiting.
  const wrong = comm.rank === root ? at(s, mine, their) : undefined;
  if (wrong) layer.memory.view(their).set(refusal(layer, wrong.errorClass));
  s.next();
  bcastBinomial(s, their, root);
  s.next().makeComm(
    {
      how: 'inter',
      comm: handle,
      group: [...comm.group],
      name: '',
      wrong: wrong && { errorClass: wrong.errorClass, text: wrong.text },
    },
    cards,
  );
  return start(s);
}
const failed = (f: () => undefined): MPIError | undefined => {
  const r = reaching(f);
  return r && 'wrong' in r ? r.wrong : undefined;
};

/** [MPI_Comm_accept] @param port counts at the root only */
export function accept(
  layer: Layer,
  handle: number,
  root: number,
  port: () => string,
  call = 'MPI_Comm_accept',
): number {
  return meet(layer, handle, root, call, (s, mine, their) =>
    failed(() => {
      const number = own(layer, port(), call);
      const via: Via = { context: CARDS, tag: number };
      const from = s.scratch(4 + their.bytes);
      s.recvTask(ANY_SOURCE, from, via).next();
      s.answer(part(from, 0, 4), mine, { context: ANSWERS, tag: number });
      s.copy(part(from, 4, their.bytes), their);
    }),
  );
}

/**
 * [MPI_Comm_connect] @param port counts at the root only
 * @param timeout seconds that the port's task has for its accept (ERR_PORT then); counts at the root only
 */
export function connect(
  layer: Layer,
  handle: number,
  root: number,
  port: () => string,
  timeout: () => number = () => CONNECT_SECONDS,
  call = 'MPI_Comm_connect',
): number {
  let seconds: number | undefined;
  const request = meet(layer, handle, root, call, (s, mine, their) =>
    failed(() => {
      const name = port();
      const to = parse(layer, name, call);
      if (to.port < (layer.state.ports.left.get(to.task) ?? 0))
        fail(ERR.PORT, call, `${name} is closed: task ${to.task}, which opened it, has left MPI`);
      seconds = timeout();
      const out = s.scratch(4 + mine.bytes);
      const bytes = layer.memory.view(out);
      new DataView(bytes.buffer, bytes.byteOffset).setUint32(0, layer.state.task, true);
      s.copy(mine, part(out, 4, mine.bytes));
      s.sendTask(to.task, out, { context: CARDS, tag: to.port }).recvTask(to.task, their, {
        context: ANSWERS,
        tag: to.port,
      });
    }),
  );
  if (seconds !== undefined) limit(layer, request, seconds);
  return request;
}

// ── names

const text = new TextEncoder();
type News = [service: string, port: string | null];

function tell(layer: Layer, news: News): void {
  const { known, task } = layer.state;
  const body = text.encode(JSON.stringify(news));
  for (let t = 0; t < known; t++)
    if (t !== task) layer.device.send(taskId(t), Mode.STANDARD, NAMES_CONTEXT, 0, 0, body);
}

/**
 * The task that spawned others tells them the names that it knows: they were published before there was anybody to
 * tell.
 */
export function tellChildren(layer: Layer, first: number, count: number): void {
  for (const [service, port] of heard(layer)) {
    const body = text.encode(JSON.stringify([service, port] satisfies News));
    for (let t = first; t < first + count; t++) layer.device.send(taskId(t), Mode.STANDARD, NAMES_CONTEXT, 0, 0, body);
  }
}

/** Hears what has arrived of names. */
function listen(layer: Layer): Map<string, string> {
  pollUntil(layer, () => false);
  return heard(layer);
}

/** What was consumed of names, which is no event. */
function heard(layer: Layer): Map<string, string> {
  const { services } = layer.state.ports;
  for (;;) {
    const e = findUnexpected(layer, NAMES_CONTEXT, ANY_SOURCE, ANY_TAG);
    if (!e) break;
    takeUnexpected(layer, NAMES_CONTEXT, e);
    let body = e.body;
    if (body) stored(layer, -e.size);
    else pull(layer, e.arrival, e.size, (body = new Uint8Array(e.size)));
    const [service, port] = JSON.parse(new TextDecoder().decode(body)) as News;
    if (port === null) services.delete(service);
    else services.set(service, port);
  }
  tellStored(layer);
  return services;
}

/** [MPI_Publish_name] */
export function publish(layer: Layer, service: string, port: string): void {
  const call = 'MPI_Publish_name';
  const services = listen(layer);
  if (services.has(service))
    fail(ERR.SERVICE, call, `the service '${service}' is published already, with the port ${services.get(service)!}`);
  services.set(service, port);
  tell(layer, [service, port]);
}

/** [MPI_Unpublish_name] */
export function unpublish(layer: Layer, service: string, port: string): void {
  const call = 'MPI_Unpublish_name';
  const services = listen(layer);
  const has = services.get(service);
  if (has === undefined) fail(ERR.SERVICE, call, `the service '${service}' is not published`);
  if (has !== port) fail(ERR.SERVICE, call, `the service '${service}' is published with the port ${has!}`);
  services.delete(service);
  tell(layer, [service, null]);
}

/** [MPI_Lookup_name] */
export const lookup = (layer: Layer, service: string): string =>
  listen(layer).get(service) ??
  fail(ERR.NAME, 'MPI_Lookup_name', `no service '${service}' is published, as far as this task has heard`);
