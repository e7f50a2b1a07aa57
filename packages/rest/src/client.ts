/**
 * The one client of REST: paths, parameters and answers are those of the table of routes (index.ts). A refusal becomes
 * an ApiFailure. How a request leaves (fetch, token, certificates) is the caller's.
 */
import type { ApiError, Diagnostic } from '@mayfly/wire';
import type { Static, TSchema } from 'typebox';
import type { RouteName, Routes } from './index.ts';

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

type Verb = 'GET' | 'POST' | 'PUT' | 'DELETE';
/** Paths that know the verb: '/api/jobs/:id' */
export type PathOf<V extends Verb> = RouteName extends infer N ? (N extends `${V} ${infer P}` ? P : never) : never;
type SchemaOf<V extends Verb, P extends string> = Routes[`${V} ${P}` & RouteName]['schema'];

type Names<S> = S extends { params: infer T extends TSchema } ? keyof Static<T> : never;
type Values<V extends Verb, P extends string> = Record<
  (Names<SchemaOf<V, P>> & string) | (P extends `${string}*` ? '*' : never),
  string | number
>;
type Good<R> = R extends { 201: infer A } ? A : R extends { 200: infer A } ? A : R extends { 202: infer A } ? A : never;
/** What a route answers with: JSON as its type, else bytes. */
export type Answer<V extends Verb, P extends string> =
  SchemaOf<V, P> extends { response: infer R } ? ([Good<R>] extends [never] ? Blob : Static<Good<R> & TSchema>) : Blob;

/** `params`: of the path; the end of a path that `*` stands for keeps its slashes. `body`: JSON, or bytes. */
export type Init<V extends Verb, P extends string> = {
  readonly signal?: AbortSignal;
  readonly keepalive?: boolean;
} & ([keyof Values<V, P>] extends [never] ? unknown : { readonly params: Values<V, P> }) &
  (SchemaOf<V, P> extends { querystring: infer Q extends TSchema }
    ? Partial<Static<Q>> extends Static<Q>
      ? { readonly query?: Static<Q> }
      : { readonly query: Static<Q> }
    : unknown) &
  (SchemaOf<V, P> extends { body: infer B extends TSchema }
    ? null extends Static<B>
      ? { readonly body?: Static<B> }
      : { readonly body: Static<B> }
    : { readonly body?: Uint8Array | Blob });
type Rest<T> = Partial<T> extends T ? [init?: T] : [init: T];

export interface Wiring {
  /** Without a slash at the end; '' for the page's own server. */
  baseUrl: string;
  token(): string | undefined;
  /** Default: the global one. @throws what the caller wants to see when the server cannot be reached */
  fetch?: (url: string, init: RequestInit) => Promise<Response>;
  /** Every answer passes here, before it is read. */
  onResponse?: (response: Response, token: string | undefined) => void;
}

type Call<V extends Verb> = <P extends PathOf<V>>(path: P, ...init: Rest<Init<V, P>>) => Promise<Answer<V, P>>;
export interface Client {
  get: Call<'GET'>;
  post: Call<'POST'>;
  put: Call<'PUT'>;
  delete: Call<'DELETE'>;
}

interface Loose {
  params?: Record<string, string | number>;
  query?: Record<string, string | number | boolean | undefined>;
  body?: unknown;
  signal?: AbortSignal;
  keepalive?: boolean;
}

function addressOf(path: string, { params = {}, query = {} }: Loose): string {
  // Slashes within a file's path stay slashes.
  const filled = path.replaceAll(/:(\w+)|\*/g, (all, name: string | undefined) =>
    String(params[name ?? all])
      .split('/')
      .map(encodeURIComponent)
      .join('/'),
  );
  const asked = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) asked.set(name, String(value));
  return asked.size === 0 ? filled : `${filled}?${asked}`;
}

export function connect(w: Wiring): Client {
  const ask = async (method: Verb, path: string, init: Loose = {}): Promise<unknown> => {
    const { body, signal, keepalive } = init;
    const token = w.token();
    const bytes = body instanceof Uint8Array || body instanceof Blob;
    const response = await (w.fetch ?? fetch)(w.baseUrl + addressOf(path, init), {
      method,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': bytes ? 'application/octet-stream' : 'application/json' }),
      },
      ...(body === undefined ? {} : { body: bytes ? (body as BodyInit) : JSON.stringify(body) }),
      ...(signal && { signal }),
      ...(keepalive === undefined ? {} : { keepalive }),
    });
    w.onResponse?.(response, token);
    if (!response.ok) throw await failureOf(response);
    // By what it is, not by what was expected; a result file stays bytes.
    const json = /^application\/json\b/.test(response.headers.get('content-type') ?? '') && !path.endsWith('*');
    return json ? response.json() : response.blob();
  };
  const call =
    (method: Verb) =>
    (path: string, init?: object): Promise<unknown> =>
      ask(method, path, init as Loose | undefined);
  return { get: call('GET'), post: call('POST'), put: call('PUT'), delete: call('DELETE') } as Client;
}

async function failureOf(response: Response): Promise<ApiFailure> {
  const body = ((await response.json().catch(() => undefined)) ?? {}) as Partial<ApiError>;
  return new ApiFailure(
    response.status,
    body.code ?? `HTTP_${response.status}`,
    body.message ?? (response.statusText || `The server answered ${response.status}.`),
    body.diagnostics ?? [],
  );
}
