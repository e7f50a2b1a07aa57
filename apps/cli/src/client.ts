/** The client of REST (packages/rest), as the command line uses it: with exit codes for what goes wrong. */
import type { Agent } from 'undici';
import { ApiFailure, connect, type Client as Rest } from '@mayfly/rest/client';
import type { JobSubmission, NewToken, QuotaWish } from '@mayfly/wire';
import type { Connection } from './connection.ts';
import { CommandError, Exit } from './exit-codes.ts';

export { ApiFailure };

export class Client {
  readonly connection: Connection;
  #agent: Agent | undefined;
  readonly #rest: Rest;

  constructor(connection: Connection) {
    const { server, token } = connection;
    this.connection = connection;
    this.#rest = connect({
      baseUrl: server,
      token: () => token,
      fetch: async (url, init) => {
        try {
          return await (connection.insecure ? this.#fetchInsecurely(url, init) : fetch(url, init));
        } catch (error) {
          const cause = (error as { cause?: { code?: string; message?: string } }).cause;
          const hint = /CERT|SELF_SIGNED/.test(cause?.code ?? '')
            ? ' (a self-signed certificate? --insecure accepts it)'
            : '';
          throw new CommandError(
            `cannot reach ${server}: ${cause?.message || cause?.code || (error as Error).message}${hint}`,
            Exit.UNAVAILABLE,
          );
        }
      },
      onResponse: (response) => {
        if (response.status === 401 && token === undefined)
          throw new CommandError('this server requires a token: --token, or MAYFLY_TOKEN', Exit.NO_PERMISSION);
        if (!response.ok && !/json/.test(response.headers.get('content-type') ?? ''))
          throw new CommandError(
            `${server} answered ${response.status}: is it a Mayfly server?`,
            // A proxy says so while the server behind it restarts.
            response.status >= 502 ? Exit.UNAVAILABLE : Exit.FAILED,
          );
      },
    });
  }

  info = () => this.#rest.get('/api/info');
  me = () => this.#rest.get('/api/me');
  nodes = () => this.#rest.get('/api/nodes');
  rooms = () => this.#rest.get('/api/rooms');
  examples = () => this.#rest.get('/api/examples');
  jobs = () => this.#rest.get('/api/jobs');
  job = (id: string) => this.#rest.get('/api/jobs/:id', { params: { id } });
  submission = (id: string) => this.#rest.get('/api/jobs/:id/submission', { params: { id } });
  submit = (body: JobSubmission) => this.#rest.post('/api/jobs', { body });
  cancel = (id: string) => this.#rest.post('/api/jobs/:id/cancel', { params: { id } });
  pause = (id: string, waitMs?: number) =>
    this.#rest.post('/api/jobs/:id/pause', { params: { id }, body: waitMs === undefined ? {} : { waitMs } });
  resume = (id: string) => this.#rest.post('/api/jobs/:id/resume', { params: { id } });
  checkpoint = (id: string) => this.#rest.post('/api/jobs/:id/checkpoint', { params: { id } });
  checkpointTask = (id: string, task: number) =>
    this.#rest.post('/api/jobs/:id/tasks/:task/checkpoint', { params: { id, task } });
  images = (id: string) => this.#rest.get('/api/jobs/:id/images', { params: { id } });
  report = (id: string) => this.#rest.get('/api/jobs/:id/report', { params: { id } });
  comparison = (id: string) => this.#rest.get('/api/jobs/:id/comparison', { params: { id } });
  /**
   * Once more with the same input and seed. `room`: null for none, or one for each cluster; absent: the rooms of the
   * first run.
   */
  again = (id: string, room?: string | null | (string | null)[]) =>
    this.#rest.post('/api/jobs/:id/again', {
      params: { id },
      body: room === undefined ? {} : Array.isArray(room) ? { rooms: room } : { room },
    });
  server = () => this.#rest.get('/api/server');
  drain = () => this.#rest.post('/api/server/drain');
  backup = () => this.#rest.post('/api/backup');
  remove = (id: string) => this.#rest.delete('/api/jobs/:id', { params: { id } });
  tokens = () => this.#rest.get('/api/tokens');
  createToken = (body: NewToken) => this.#rest.post('/api/tokens', { body });
  revokeToken = (id: string) => this.#rest.delete('/api/tokens/:id', { params: { id } });

  logout = () => this.#rest.post('/api/logout');
  quota = () => this.#rest.get('/api/quota');
  quotas = () => this.#rest.get('/api/quotas');
  setQuota = (owner: string, body: QuotaWish) => this.#rest.put('/api/quotas/:owner', { params: { owner }, body });
  clearQuota = (owner: string) => this.#rest.delete('/api/quotas/:owner', { params: { owner } });

  /** Bytes of one stream of one task from an offset on. May be fewer than there are: ask again. */
  async output(id: string, task: number, stream: 'stdout' | 'stderr', from: number): Promise<Uint8Array> {
    return bytesOf(
      await this.#rest.get(`/api/jobs/:id/tasks/:task/${stream}`, {
        params: { id, task },
        query: { from },
      }),
    );
  }

  async file(id: string, path: string): Promise<Uint8Array> {
    return bytesOf(await this.#rest.get('/api/jobs/:id/files/*', { params: { id, '*': path } }));
  }

  /** Standard input of rank 0. `offset` (bytes sent before) makes it safe to say the same again. */
  async stdin(id: string, bytes: Uint8Array, offset: number, end: boolean): Promise<void> {
    await this.#rest.post('/api/jobs/:id/stdin', {
      params: { id },
      query: { offset, end: end ? '1' : '0' },
      body: bytes,
    });
  }

  /** Node's own fetch takes no certificate that the server made itself; undici's does, and is loaded only for it. */
  async #fetchInsecurely(url: string, init: RequestInit): Promise<Response> {
    const undici = await import('undici');
    this.#agent ??= new undici.Agent({ connect: { rejectUnauthorized: false }, keepAliveTimeout: 4000 });
    return (await undici.fetch(url, { ...init, dispatcher: this.#agent } as never)) as unknown as Response;
  }

  async close(): Promise<void> {
    await this.#agent?.close();
  }
}

/** Whether the same request may succeed later: the server is away, or busy, or the connection broke. */
export const passes = (error: unknown): boolean =>
  error instanceof ApiFailure
    ? error.status >= 500 || error.status === 429
    : !(error instanceof CommandError) || error.exitCode === Exit.UNAVAILABLE;

const bytesOf = async (b: Blob): Promise<Uint8Array> => new Uint8Array(await b.arrayBuffer());
