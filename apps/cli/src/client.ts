/** REST client of a Mayfly server. Errors come as ApiFailure with the server's stable code. */
import { Agent, fetch, type Dispatcher } from 'undici';
import type { ApiError, ExampleView, InfoView, JobSubmission, JobView, NewToken, NodeView, TokenCreated, TokenView } from '@mayfly/wire';
import type { Connection } from './connection.ts';
import { CommandError, Exit } from './exit-codes.ts';

export class ApiFailure extends CommandError {
  constructor(
    readonly status: number,
    readonly body: ApiError,
  ) {
    super(describe(body), status === 401 || status === 403 ? Exit.NO_PERMISSION : status === 422 || status === 400 ? Exit.USAGE : Exit.FAILED);
  }
}

function describe(body: ApiError): string {
  const places = (body.diagnostics ?? []).map((d) => `  ${d.file}:${d.line}:${d.column} ${d.code}: ${d.message}`);
  return [`${body.message} (${body.code})`, ...places].join('\n');
}

export class Client {
  readonly connection: Connection;
  readonly #dispatcher: Dispatcher;

  constructor(connection: Connection) {
    this.connection = connection;
    this.#dispatcher = new Agent({ connect: { rejectUnauthorized: !connection.insecure }, keepAliveTimeout: 4000 });
  }

  async request(method: string, path: string, body?: Uint8Array | string, type = 'application/json'): Promise<Uint8Array> {
    const { server, token } = this.connection;
    let response;
    try {
      response = await fetch(server + path, {
        method,
        dispatcher: this.#dispatcher,
        headers: { ...(token === undefined ? {} : { authorization: `Bearer ${token}` }), ...(body === undefined ? {} : { 'content-type': type }) },
        body: body ?? null,
      });
    } catch (error) {
      const cause = (error as { cause?: { code?: string; message?: string } }).cause;
      const hint = /CERT|SELF_SIGNED/.test(cause?.code ?? '') ? ' (a self-made certificate? --insecure accepts it)' : '';
      throw new CommandError(`cannot reach ${server}: ${cause?.message || cause?.code || (error as Error).message}${hint}`, Exit.UNAVAILABLE);
    }
    const bytes = new Uint8Array(await response.arrayBuffer());
    if (response.ok) return bytes;
    let failure: ApiError;
    try {
      failure = JSON.parse(new TextDecoder().decode(bytes)) as ApiError;
    } catch {
      failure = { code: 'INTERNAL', message: `${server} answered ${response.status}: is it a Mayfly server?` };
    }
    if (response.status === 401 && token === undefined) failure = { ...failure, message: 'this server wants the token of its submitters: --token, or MAYFLY_TOKEN' };
    throw new ApiFailure(response.status, failure);
  }

  async #json<T>(method: string, path: string, body?: unknown): Promise<T> {
    const bytes = await this.request(method, path, body === undefined ? undefined : JSON.stringify(body));
    return (bytes.length === 0 ? undefined : JSON.parse(new TextDecoder().decode(bytes))) as T;
  }

  info = (): Promise<InfoView> => this.#json('GET', '/api/info');
  nodes = (): Promise<NodeView[]> => this.#json('GET', '/api/nodes');
  examples = (): Promise<ExampleView[]> => this.#json('GET', '/api/examples');
  jobs = (): Promise<JobView[]> => this.#json('GET', '/api/jobs');
  job = (id: string): Promise<JobView> => this.#json('GET', `/api/jobs/${encodeURIComponent(id)}`);
  submit = (submission: JobSubmission): Promise<{ id: string }> => this.#json('POST', '/api/jobs', submission);
  cancel = (id: string): Promise<unknown> => this.#json('POST', `/api/jobs/${encodeURIComponent(id)}/cancel`, {});
  pause = (id: string, waitMs?: number): Promise<unknown> => this.#json('POST', `/api/jobs/${encodeURIComponent(id)}/pause`, waitMs === undefined ? {} : { waitMs });
  resume = (id: string): Promise<unknown> => this.#json('POST', `/api/jobs/${encodeURIComponent(id)}/resume`, {});
  checkpoint = (id: string, task?: number): Promise<{ asked: number[] }> => this.#json('POST', `/api/jobs/${encodeURIComponent(id)}${task === undefined ? '' : `/tasks/${task}`}/checkpoint`, {});
  images = (id: string): Promise<{ task: number; serial: number; bytes: number }[]> => this.#json('GET', `/api/jobs/${encodeURIComponent(id)}/images`);
  backup = (): Promise<{ path: string; files: number; bytes: number; pauseMs: number }> => this.#json('POST', '/api/backup', {});
  tokens = (): Promise<TokenView[]> => this.#json('GET', '/api/tokens');
  createToken = (wish: NewToken): Promise<TokenCreated> => this.#json('POST', '/api/tokens', wish);
  revokeToken = (id: string): Promise<unknown> => this.#json('DELETE', `/api/tokens/${encodeURIComponent(id)}`);
  remove = (id: string): Promise<unknown> => this.#json('DELETE', `/api/jobs/${encodeURIComponent(id)}`);

  /** Bytes of one stream of one task from an offset on. May be fewer than there are: ask again. */
  output(id: string, task: number, stream: 'stdout' | 'stderr', from: number): Promise<Uint8Array> {
    return this.request('GET', `/api/jobs/${encodeURIComponent(id)}/tasks/${task}/${stream}?from=${from}`);
  }

  file(id: string, path: string): Promise<Uint8Array> {
    return this.request('GET', `/api/jobs/${encodeURIComponent(id)}/files/${path.split('/').map(encodeURIComponent).join('/')}`);
  }

  /** Standard input of rank 0. `offset` (bytes sent before) makes it safe to say the same again. */
  async stdin(id: string, bytes: Uint8Array, offset: number, end: boolean): Promise<void> {
    await this.request('POST', `/api/jobs/${encodeURIComponent(id)}/stdin?offset=${offset}&end=${end ? 1 : 0}`, bytes, 'application/octet-stream');
  }

  close(): Promise<void> {
    return this.#dispatcher.close();
  }
}
