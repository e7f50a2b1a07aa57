/**
 * All Channel Memories of this server, by job and index, and the door to them: a data socket names its job only in the
 * capability of its first frame, which must be an ATTACH.
 */
import type { JobSpec } from '@mayfly/protocols';
import { Compile } from 'typebox/compile';
import {
  Attach,
  Kind,
  MESSAGE_JSON,
  MalformedFrame,
  parseJson,
  emptyHeader,
  encodeFrame,
  readFrame,
  type ErrorBody,
  type Frame,
  type JobId,
} from '@mayfly/wire';
import type { Logger } from '../logger.ts';
import type { Secrets } from '../secrets.ts';
import type { CmDeps } from './channel-memory-deps.ts';
import { ChannelMemoryHost } from './channel-memory-host.ts';
import { CloseCode, type DataLink } from './data-link.ts';
import { Traffic } from './traffic.ts';

const attach = Compile(Attach);
/** A socket that has not presented itself after so long is closed, ms. */
const FIRST_FRAME_MS = 15_000;
/** What a link may send before its Channel Memory has recovered. */
const WAITING_BYTES = 16 << 20;
const text = new TextEncoder();

export class ChannelMemories {
  readonly #jobs = new Map<JobId, ChannelMemoryHost[]>();
  /** Messages that pass no Channel Memory, because their ranks are a team. */
  readonly #local = new Map<JobId, Traffic>();
  readonly #secrets: Secrets;
  readonly #logger: Logger;
  readonly #maxLinks: number;
  #links = 0;

  constructor(secrets: Secrets, logger: Logger, maxLinks: number) {
    this.#secrets = secrets;
    this.#logger = logger;
    this.#maxLinks = maxLinks;
  }

  get links(): number {
    return this.#links;
  }
  add(job: JobId, size: number, hosts: ChannelMemoryHost[]): void {
    this.#jobs.set(job, hosts);
    this.#local.set(job, new Traffic(size));
  }
  local(job: JobId): Traffic | undefined {
    return this.#local.get(job);
  }
  /** All that its messages are counted by. */
  traffic(job: JobId): Traffic[] {
    const local = this.#local.get(job);
    return [...(this.#jobs.get(job) ?? []).map((h) => h.traffic), ...(local ? [local] : [])];
  }
  of(job: JobId): readonly ChannelMemoryHost[] | undefined {
    return this.#jobs.get(job);
  }
  all(): ChannelMemoryHost[] {
    return [...this.#jobs.values()].flat();
  }
  /** Bytes of the logs of every open job. */
  *logs(): Iterable<[JobId, number]> {
    for (const [job, hosts] of this.#jobs) yield [job, hosts.reduce((n, h) => n + h.logBytes, 0)];
  }
  /** The job has ended: its links close when its hosts do. */
  take(job: JobId): ChannelMemoryHost[] {
    const hosts = this.#jobs.get(job) ?? [];
    this.#jobs.delete(job);
    this.#local.delete(job);
    return hosts;
  }

  /** Storage stops, or can be written again. */
  hold(on: boolean): void {
    for (const h of this.all()) h.hold(on);
  }

  tick(now: number): void {
    for (const hosts of this.#jobs.values()) for (const h of hosts) h.tick(now);
  }

  /** A fresh connection to CM `index`. */
  accept(index: number, link: DataLink): void {
    if (this.#links >= this.#maxLinks) return link.close(CloseCode.TOO_MANY, 'TOO_MANY: too many data links');
    this.#links++;
    const timer = setTimeout(() => link.close(CloseCode.BAD_FRAME, 'BAD_FRAME: no ATTACH came'), FIRST_FRAME_MS);
    let over = false;
    const gone = (): void => {
      if (over) return;
      over = true;
      clearTimeout(timer);
      this.#links--;
    };
    link.onClose = gone;
    link.onMessage = (first) => {
      clearTimeout(timer);
      let frame: Frame;
      try {
        frame = readFrame(first, new DataView(first.buffer, first.byteOffset, first.byteLength), 0);
        if (frame.header.kind !== Kind.ATTACH) throw new MalformedFrame('the first frame is no ATTACH');
      } catch (e) {
        if (!(e instanceof MalformedFrame)) throw e;
        return this.#refuse(link, undefined, { code: 'BAD_FRAME', message: e.message });
      }
      const holder = readCapability(frame.body, this.#secrets);
      if (!holder) return this.#refuse(link, frame, { code: 'FORBIDDEN', message: 'Invalid capability.' });
      const host = this.#jobs.get(holder.job)?.[index];
      if (!host) return this.#refuse(link, frame, { code: 'UNKNOWN_JOB', message: `The job ${holder.job} has ended.` });
      // Messages that come while the core recovers wait, in order; the comm worker sends little before it is ATTACHED.
      const waiting: Uint8Array[] = [];
      let waitingBytes = 0;
      let flooded = false;
      link.onMessage = (bytes) => {
        waitingBytes += bytes.length;
        if (waitingBytes <= WAITING_BYTES) return void waiting.push(bytes);
        flooded = true;
        link.onMessage = () => undefined;
        link.close(CloseCode.TOO_MANY, 'TOO_MANY: too much before ATTACHED');
      };
      void host.serving().then(
        () => {
          if (over || flooded) return;
          host.connect(link, first);
          const closed = link.onClose;
          link.onClose = () => {
            closed();
            gone();
          };
          for (const bytes of waiting) link.onMessage(bytes);
        },
        () => link.close(CloseCode.BROKEN, 'the Channel Memory of this job is broken'),
      );
    };
  }

  #refuse(link: DataLink, frame: Frame | undefined, error: ErrorBody): void {
    this.#logger.info({ code: error.code, message: error.message, address: link.address }, 'data link refused');
    link.onMessage = () => undefined;
    if (frame) {
      const { src, dst, incarnation } = frame.header;
      link.send(
        encodeFrame({ ...emptyHeader(Kind.REFUSED), src, dst, incarnation }, text.encode(JSON.stringify(error))),
      );
    }
    const code =
      error.code === 'BAD_FRAME'
        ? CloseCode.BAD_FRAME
        : error.code === 'UNKNOWN_JOB'
          ? CloseCode.UNKNOWN_JOB
          : CloseCode.REFUSED;
    link.close(code, `${error.code}: ${error.message}`);
  }
}

function readCapability(body: Uint8Array, secrets: Secrets): { job: JobId } | undefined {
  try {
    const a: unknown = parseJson(new TextDecoder().decode(body), MESSAGE_JSON);
    return attach.Check(a) ? secrets.holder(a.capability) : undefined;
  } catch {
    return undefined;
  }
}

/** One for each Channel Memory of the job. @param size tasks that it has by now */
export function memoriesOf(spec: JobSpec, size: number, deps: CmDeps): ChannelMemoryHost[] {
  const { id: job, channelMemories: count, clusters: homes, protocol, durability } = spec;
  return Array.from(
    { length: count },
    (_, index) => new ChannelMemoryHost({ job, index, count, homes, size, protocol, durability }, deps),
  );
}
