/**
 * The one client of REST: paths, parameters and answers are those of /openapi.json (rest.ts is generated from it), the
 * requests are openapi-fetch's. A refusal becomes an ApiFailure. How a request leaves (fetch, token, certificates) is
 * the caller's.
 */
import createFetchClient, { type MaybeOptionalInit } from 'openapi-fetch';
import type { ApiError, Diagnostic } from '@mayfly/wire';
import type { paths } from './rest.ts';

export class ApiFailure extends Error {
  override readonly name = 'ApiFailure';
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly diagnostics: readonly Diagnostic[] = [],
  ) {
    super(message);
  }
}

type Verb = 'get' | 'post' | 'put' | 'delete';
/** Paths that know the verb. */
export type PathOf<V extends Verb> = {
  [P in keyof paths]: paths[P] extends { [_ in V]: { responses: unknown } } ? P : never;
}[keyof paths];
type Operation<V extends Verb, P extends PathOf<V>> = paths[P] extends { [_ in V]: infer O } ? O : never;
type Good<R> = R extends { 201: infer A } ? A : R extends { 200: infer A } ? A : never;
/** What a route answers with: JSON as its type, else bytes. */
export type Answer<V extends Verb, P extends PathOf<V>> =
  Operation<V, P> extends { responses: infer R }
    ? Good<R> extends { content: { 'application/json': infer T } }
      ? T
      : Blob
    : never;
type Init<V extends Verb, P extends PathOf<V>> = MaybeOptionalInit<paths[P], V>;
type Rest<T> = undefined extends T ? [init?: T] : [init: T];

export interface Wiring {
  /** Without a slash at the end; '' for the page's own server. */
  baseUrl: string;
  token(): string | undefined;
  /** @throws what the caller wants to see when the server cannot be reached */
  fetch?: (request: Request) => Promise<Response>;
  /** The constructor that belongs to `fetch`, where it is not the global one. */
  Request?: typeof Request;
  /** Every answer passes here, before it is read. */
  onResponse?: (response: Response, token: string | undefined) => void;
}

export interface Client {
  get<P extends PathOf<'get'>>(path: P, ...init: Rest<Init<'get', P>>): Promise<Answer<'get', P>>;
  post<P extends PathOf<'post'>>(path: P, ...init: Rest<Init<'post', P>>): Promise<Answer<'post', P>>;
  put<P extends PathOf<'put'>>(path: P, ...init: Rest<Init<'put', P>>): Promise<Answer<'put', P>>;
  delete<P extends PathOf<'delete'>>(path: P, ...init: Rest<Init<'delete', P>>): Promise<Answer<'delete', P>>;
}

/** Slashes within a file's path stay slashes. */
const fill = (pathname: string, values: Record<string, unknown>): string =>
  pathname.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    String(values[name]).split('/').map(encodeURIComponent).join('/'),
  );

export function connect(w: Wiring): Client {
  const client = createFetchClient<paths>({
    baseUrl: w.baseUrl,
    pathSerializer: fill,
    ...(w.fetch === undefined ? {} : { fetch: w.fetch }),
    ...(w.Request === undefined ? {} : { Request: w.Request }),
  });
  type Loose = (path: string, init: Record<string, unknown>) => Promise<{ response: Response; error?: unknown }>;
  const ask = async (
    verb: 'GET' | 'POST' | 'PUT' | 'DELETE',
    path: string,
    init: Record<string, unknown> = {},
  ): Promise<unknown> => {
    const token = w.token();
    const bytes = init['body'] instanceof Uint8Array || init['body'] instanceof Blob;
    const headers = {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(bytes ? { 'content-type': 'application/octet-stream' } : {}),
    };
    // The types were checked at the door. A good answer is read here: by what it is, not by what was expected.
    const { response, error } = await (client[verb] as unknown as Loose)(path, {
      ...init,
      headers,
      parseAs: 'stream',
      ...(bytes ? { bodySerializer: (b: unknown) => b } : {}),
    });
    w.onResponse?.(response, token);
    if (!response.ok) throw failureOf(response, error);
    const json = /^application\/json\b/.test(response.headers.get('content-type') ?? '') && !path.endsWith('{path}');
    return json ? response.json() : response.blob();
  };
  return {
    get: (path, ...init) => ask('GET', path, init[0] as never),
    post: (path, ...init) => ask('POST', path, init[0] as never),
    put: (path, ...init) => ask('PUT', path, init[0] as never),
    delete: (path, ...init) => ask('DELETE', path, init[0] as never),
  } as Client;
}

function failureOf(response: Response, error: unknown): ApiFailure {
  const body = (typeof error === 'object' && error !== null ? error : {}) as Partial<ApiError>;
  return new ApiFailure(
    response.status,
    body.code ?? `HTTP_${response.status}`,
    body.message ?? (response.statusText || `The server answered ${response.status}.`),
    body.diagnostics ?? [],
  );
}
