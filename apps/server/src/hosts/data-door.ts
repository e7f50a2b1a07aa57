/**
 * The door to Channel Memories: a data socket names its job only in the capability of its first frame, which must be an
 * ATTACH.
 *
 * Owns: sockets before their first frame, and frames that come before the core has recovered.
 */
import { Compile } from 'typebox/compile';
import {
  Attach,
  Kind,
  MESSAGE_JSON,
  MalformedFrame,
  emptyHeader,
  encodeFrame,
  parseJson,
  readFrame,
  type ErrorBody,
  type Frame,
  type JobId,
} from '@mayfly/wire';
import type { Logger } from '../logger.ts';
import type { Capabilities } from '../secrets.ts';
import { CloseCode, type DataLink } from './data-link.ts';
import type { LinkPlaces } from './link-places.ts';

const attach = Compile(Attach);
/** A socket that has not presented itself after so long is closed, ms. */
const FIRST_FRAME_MS = 15_000;
/** What a link may send before its Channel Memory has recovered, and all links together. */
const WAITING_BYTES = 16 << 20;
const ALL_WAITING_BYTES = 256 << 20;
const text = new TextEncoder();

/** A Channel Memory behind the door. */
export interface Behind {
  /** Resolves when a link may be bound. @throws when its core cannot recover */
  serving(): Promise<void>;
  connect(link: DataLink, first: Uint8Array): void;
}

export class DataDoor {
  readonly #find: (job: JobId, index: number) => Behind | undefined;
  readonly #capabilities: Capabilities;
  readonly #logger: Logger;
  readonly #places: LinkPlaces;
  /** Of all links. */
  #waiting = 0;

  /** @param find undefined: the job has ended */
  constructor(
    find: (job: JobId, index: number) => Behind | undefined,
    capabilities: Capabilities,
    logger: Logger,
    places: LinkPlaces,
  ) {
    this.#find = find;
    this.#capabilities = capabilities;
    this.#logger = logger;
    this.#places = places;
  }

  get links(): number {
    return this.#places.taken;
  }

  /** A fresh connection to CM `index`. */
  accept(index: number, link: DataLink): void {
    const leave = this.#places.take(link.network);
    if (!leave) return link.close(CloseCode.TOO_MANY, 'TOO_MANY: too many data links');
    const timer = setTimeout(() => link.close(CloseCode.BAD_FRAME, 'BAD_FRAME: no ATTACH came'), FIRST_FRAME_MS);
    let over = false;
    const waiting: Uint8Array[] = [];
    let waitingBytes = 0;
    const taken = (): void => {
      this.#waiting -= waitingBytes;
      waitingBytes = 0;
      waiting.length = 0;
    };
    const gone = (): void => {
      if (over) return;
      over = true;
      taken();
      clearTimeout(timer);
      leave();
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
      const holder = readCapability(frame.body, this.#capabilities);
      if (!holder) return this.#refuse(link, frame, { code: 'FORBIDDEN', message: 'Invalid capability.' });
      const host = this.#find(holder.job, index);
      if (!host) return this.#refuse(link, frame, { code: 'UNKNOWN_JOB', message: `The job ${holder.job} has ended.` });
      // Messages that come while the core recovers wait, in order; the comm worker sends little before it is ATTACHED.
      let flooded = false;
      link.onMessage = (bytes) => {
        waitingBytes += bytes.length;
        this.#waiting += bytes.length;
        if (waitingBytes <= WAITING_BYTES && this.#waiting <= ALL_WAITING_BYTES) return void waiting.push(bytes);
        flooded = true;
        taken();
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
          const all = waiting.slice();
          taken();
          for (const bytes of all) link.onMessage(bytes);
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

function readCapability(body: Uint8Array, capabilities: Capabilities): { job: JobId } | undefined {
  try {
    const a: unknown = parseJson(new TextDecoder().decode(body), MESSAGE_JSON);
    return attach.Check(a) ? capabilities.holder(a.capability) : undefined;
  } catch {
    return undefined;
  }
}
