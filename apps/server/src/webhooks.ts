/**
 * Webhooks: the end of a job is sent to the address that its submission named (`notify`), as a POST with JSON.
 *
 * Owns the registry keys `webhook/<job>`. Does not own: when a job ends, and what is known of it.
 *  H1  The record is durable before the job is. It stays until the job is deleted, so that its page can show what
 *      became of the delivery.
 *  H2  At least once: a delivery that was answered and not yet noted when the server stopped is made again. Those that
 *      wait are tried at each start of the server, and so are those of jobs that ended while it was away.
 *  H3  Retried with twice the pause each time, up to LONGEST_PAUSE_MS; after MOST_TRIES, or an answer that says that
 *      trying again is useless, it is given up: the record, the page and the log name it as lost.
 *  H4  Only public addresses outside the server's own machine and network are called, unless the operator allows
 *      others. That is decided when the name has been resolved, just before the connection. Redirects are not followed.
 *  H5  Where a delivery goes is a secret of its owner: views and logs have the host alone.
 */
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import { isOver } from '@mayfly/protocols';
import type { Registry } from '@mayfly/storage/ports';
import { MayflyError, faultsOf, jobId, type JobEnded, type JobId, type JobView } from '@mayfly/wire';
import { Type, type Static } from 'typebox';
import { Check } from 'typebox/value';
import type { Logger } from './logger.ts';
import { isPublic, lookupPublic } from './serve/public-address.ts';

const ANSWER_MS = 15_000;
const FIRST_PAUSE_MS = 5000;
const LONGEST_PAUSE_MS = 3_600_000;
/** Some 20 hours. */
const MOST_TRIES = 30;
const AT_ONCE = 8;
/** Of what went wrong. */
const ERROR_CHARS = 200;

const WebhookRecord = Type.Object({
  url: Type.String(),
  state: Type.Union([Type.Literal('waiting'), Type.Literal('delivered'), Type.Literal('lost')]),
  tries: Type.Integer({ minimum: 0 }),
  /** Why the last try failed. */
  error: Type.Optional(Type.String()),
});
type WebhookRecord = Static<typeof WebhookRecord>;

export interface WebhookOptions {
  /** The operator allows addresses of the server's own machine and network. */
  privateAddresses: boolean;
  publicUrl: string | undefined;
}

const keyOf = (job: JobId): string => `webhook/${job}`;

/** What a delivery says. */
export function payloadOf(view: JobView, publicUrl: string | undefined): JobEnded {
  const { id, name, owner, room, rooms, state, size, exitCode, error, submittedAt, startedAt, endedAt } = view;
  return {
    event: 'job.ended',
    job: {
      id,
      name,
      ...(owner === undefined ? {} : { owner }),
      ...(room === undefined ? {} : { room }),
      ...(rooms && { rooms: rooms.map((r) => r.code ?? null) }),
      state,
      size,
      ...(exitCode === undefined ? {} : { exitCode }),
      ...(error === undefined ? {} : { error: { code: error.code, message: error.message } }),
      faults: faultsOf(view),
      submittedAt,
      ...(startedAt === undefined ? {} : { startedAt }),
      ...(endedAt === undefined ? {} : { endedAt }),
    },
    ...(publicUrl === undefined ? {} : { url: `${publicUrl.replace(/\/+$/, '')}/dashboard/jobs/${id}` }),
  };
}

export class Webhooks {
  readonly #registry: Registry;
  readonly #options: WebhookOptions;
  readonly #logger: Logger;
  readonly #records: Map<JobId, WebhookRecord>;
  readonly #timers = new Map<JobId, NodeJS.Timeout>();
  readonly #sending = new Map<JobId, { cut: AbortController; over: Promise<void> }>();
  #view: (job: JobId) => JobView | undefined = () => undefined;
  #closed = false;
  /** What pages show of this job has changed. */
  onChange: (job: JobId) => void = () => undefined;

  private constructor(registry: Registry, options: WebhookOptions, logger: Logger, records: Map<JobId, WebhookRecord>) {
    this.#registry = registry;
    this.#options = options;
    this.#logger = logger;
    this.#records = records;
  }

  static async open(registry: Registry, options: WebhookOptions, logger: Logger): Promise<Webhooks> {
    const records = new Map<JobId, WebhookRecord>();
    for (const [key, value] of await registry.entries('webhook/')) {
      const job = jobId(key.slice('webhook/'.length));
      if (Check(WebhookRecord, value) && URL.canParse(value.url)) records.set(job, value);
      else logger.error({ job }, 'the record of a webhook cannot be read: the end of this job will not be announced');
    }
    return new Webhooks(registry, options, logger, records);
  }

  /** All jobs are known: H2. @param view undefined: there is no such job */
  async begin(view: (job: JobId) => JobView | undefined): Promise<void> {
    this.#view = view;
    for (const [job, r] of this.#records) {
      const known = view(job);
      // The server stopped between the record and its job.
      if (!known) await this.forget(job);
      else if (r.state === 'waiting' && isOver(known.state)) this.ended(job);
    }
  }

  /** What a submission names, before anything is made of it. @throws MayflyError BAD_REQUEST */
  check(address: string): void {
    const url = URL.canParse(address) ? new URL(address) : undefined;
    if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:'))
      throw new MayflyError('BAD_REQUEST', 'notify must be a URL that begins with https:// or http://.');
    if (url.username !== '' || url.password !== '')
      throw new MayflyError('BAD_REQUEST', 'notify must not contain a user name or a password.');
    if (!this.#allows(url))
      throw new MayflyError(
        'BAD_REQUEST',
        `notify names ${url.hostname}, which is not a public address outside the server's own network. The operator ` +
          'of this server can allow it with --private-webhooks.',
      );
  }

  /** H4, as far as the text of the URL tells. */
  #allows({ hostname }: URL): boolean {
    if (this.#options.privateAddresses) return true;
    const host = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
    return isIP(host) === 0 ? host !== 'localhost' && !host.endsWith('.localhost') : isPublic(host);
  }

  /** H1. */
  async expect(job: JobId, address: string): Promise<void> {
    const record: WebhookRecord = { url: address, state: 'waiting', tries: 0 };
    await this.#registry.commit([[keyOf(job), record]]);
    this.#records.set(job, record);
  }

  ended(job: JobId): void {
    if (this.#records.get(job)?.state === 'waiting') this.#later(job, 0);
  }

  /** The job is gone, or was never made: nothing is delivered any more. */
  async forget(job: JobId): Promise<void> {
    clearTimeout(this.#timers.get(job));
    this.#timers.delete(job);
    if (!this.#records.delete(job)) return;
    this.#sending.get(job)?.cut.abort();
    await this.#registry
      .commit([[keyOf(job), undefined]])
      .catch((error: unknown) => this.#logger.warn({ err: error, job }, 'a webhook stays until the next start'));
  }

  /** H5. */
  viewOf(job: JobId): JobView['webhook'] {
    const r = this.#records.get(job);
    return r && { host: new URL(r.url).host, state: r.state, tries: r.tries, ...(r.error ? { error: r.error } : {}) };
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const t of this.#timers.values()) clearTimeout(t);
    const sending = [...this.#sending.values()];
    for (const s of sending) s.cut.abort();
    await Promise.all(sending.map((s) => s.over));
  }

  #later(job: JobId, ms: number): void {
    if (this.#closed) return;
    clearTimeout(this.#timers.get(job));
    this.#timers.set(job, setTimeout(() => this.#next(job), ms).unref());
  }

  #next(job: JobId): void {
    this.#timers.delete(job);
    const r = this.#records.get(job);
    const view = this.#view(job);
    if (this.#closed || this.#sending.has(job) || r?.state !== 'waiting' || !view) return;
    if (this.#sending.size >= AT_ONCE) return this.#later(job, 1000);
    const cut = new AbortController();
    const over = this.#deliver(job, r, view, cut.signal)
      .catch((error: unknown) => this.#logger.error({ err: error, job }, 'a webhook could not be noted down'))
      .finally(() => this.#sending.delete(job));
    this.#sending.set(job, { cut, over });
  }

  async #deliver(job: JobId, r: WebhookRecord, view: JobView, signal: AbortSignal): Promise<void> {
    const failed = await this.#post(new URL(r.url), JSON.stringify(payloadOf(view, this.#options.publicUrl)), signal);
    // Deleted, or the server stops: the next start tries again.
    if (this.#closed || this.#records.get(job) !== r) return;
    r.tries++;
    const { host } = new URL(r.url);
    if (failed === undefined) {
      r.state = 'delivered';
      delete r.error;
    } else {
      r.error = failed.why.slice(0, ERROR_CHARS);
      if (failed.final || r.tries >= MOST_TRIES) {
        r.state = 'lost';
        this.#logger.warn({ job, host, tries: r.tries, why: r.error }, 'a webhook was given up');
      } else this.#later(job, Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (r.tries - 1)));
    }
    this.onChange(job);
    await this.#registry.commit([[keyOf(job), { ...r }]]);
  }

  /** undefined: it was taken. `final`: trying again is useless. Never throws. */
  async #post(url: URL, body: string, cut: AbortSignal): Promise<{ why: string; final: boolean } | undefined> {
    if (!this.#allows(url)) return { why: `${url.hostname} is not a public address`, final: true };
    const { privateAddresses } = this.#options;
    try {
      const status = await new Promise<number>((resolve, reject) => {
        const request = (url.protocol === 'https:' ? httpsRequest : httpRequest)(
          url,
          {
            method: 'POST',
            headers: {
              'content-type': 'application/json',
              'content-length': Buffer.byteLength(body),
              'user-agent': 'mayfly',
            },
            agent: false,
            signal: AbortSignal.any([cut, AbortSignal.timeout(ANSWER_MS)]),
            ...(privateAddresses ? {} : { lookup: lookupPublic }),
          },
          (response) => {
            // Only the status counts; the rest is not read.
            resolve(response.statusCode ?? 0);
            response.destroy();
          },
        );
        request.once('error', reject);
        request.end(body);
      });
      if (status >= 200 && status < 300) return undefined;
      const again = status >= 500 || status === 408 || status === 425 || status === 429;
      return { why: `answered ${status}`, final: !again };
    } catch (error) {
      const { name, code, message } = error as NodeJS.ErrnoException;
      return { why: name === 'TimeoutError' ? `no answer in ${ANSWER_MS / 1000} s` : (code ?? message), final: false };
    }
  }
}
