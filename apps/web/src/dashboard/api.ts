/** REST of the server, as the dashboard uses it. Every refusal becomes an ApiFailure with code, message and what to do. */
import { ERRORS, type ApiError, type CheckpointAdvice, type Diagnostic, type ErrorCode, type ExampleView, type InfoView, type JobSubmission, type JobView, type MatrixView, type TimelineView, type Me, type NewToken, type NodeView, type RoomView, type TokenCreated, type TokenView } from '@mayfly/wire';
import { currentToken, refuseToken } from './token.ts';

export class ApiFailure extends Error {
  override readonly name = 'ApiFailure';
  constructor(
    readonly code: string,
    message: string,
    readonly status: number,
    readonly diagnostics: readonly Diagnostic[] = [],
  ) {
    super(message);
  }
}

/** What to do about an error, from the one registry; undefined for a code that it does not know. */
export const adviceFor = (code: string): string | undefined =>
  code === 'OFFLINE' ? 'Check that the server runs and that this machine reaches it; the page tries again by itself.' : ERRORS[code as ErrorCode]?.advice;

let skew = 0;
/** The server's clock, as far as this browser's own is off by more than a second or two. */
export const serverNow = (now: number): number => now + skew;

async function request(path: string, init: RequestInit & { json?: unknown } = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  const token = currentToken();
  if (token) headers.set('Authorization', `Bearer ${token}`);
  if (init.json !== undefined) headers.set('Content-Type', 'application/json');
  let response: Response;
  try {
    response = await fetch(path, { ...init, headers, ...(init.json !== undefined ? { body: JSON.stringify(init.json) } : {}) });
  } catch {
    throw new ApiFailure('OFFLINE', 'The server does not answer.', 0);
  }
  const date = Date.parse(response.headers.get('date') ?? '');
  if (Number.isFinite(date)) {
    const off = date + 500 - Date.now();
    skew = Math.abs(off) > 2000 ? off : 0;
  }
  if (response.ok) return response;
  const body = (await response.json().catch(() => undefined)) as Partial<ApiError> | undefined;
  const failure = new ApiFailure(body?.code ?? `HTTP_${response.status}`, body?.message ?? response.statusText, response.status, body?.diagnostics ?? []);
  if (failure.status === 401 && currentToken() === token) refuseToken(); // the page asks for another one
  throw failure;
}

const json = async <T>(path: string, init?: RequestInit & { json?: unknown }): Promise<T> => (await request(path, init)).json() as Promise<T>;
const segments = (path: string): string => path.split('/').map(encodeURIComponent).join('/');

export const getInfo = () => json<InfoView>('/api/info');
export const getJobs = () => json<JobView[]>('/api/jobs');
export const getJob = (id: string) => json<JobView>(`/api/jobs/${id}`);
export const getNodes = () => json<NodeView[]>('/api/nodes');
export const getRooms = () => json<RoomView[]>('/api/rooms');
export const openRoom = (name: string) => json<RoomView>('/api/rooms', { method: 'POST', json: { name } });
export const closeRoom = (code: string) => request(`/api/rooms/${code}`, { method: 'DELETE' });
export const getAdvice = (room: string | undefined) => json<CheckpointAdvice>(`/api/checkpoint-advice${room === undefined ? '' : `?room=${room}`}`);
export const getMe = () => json<Me>('/api/me');
export const getTokens = () => json<TokenView[]>('/api/tokens');
export const createToken = (wish: NewToken) => json<TokenCreated>('/api/tokens', { method: 'POST', json: wish });
export const revokeToken = (id: string) => request(`/api/tokens/${id}`, { method: 'DELETE' });
export const getTimeline = (id: string, q: { from: number; to: number; first: number; last: number; columns: number }, signal: AbortSignal) =>
  json<TimelineView>(`/api/jobs/${id}/timeline?from=${q.from}&to=${q.to}&first=${q.first}&last=${q.last}&columns=${q.columns}`, { signal });
export const getMatrix = (id: string, q: { src: [number, number]; dst: [number, number]; bins: number }) =>
  json<MatrixView>(`/api/jobs/${id}/matrix?srcFirst=${q.src[0]}&srcLast=${q.src[1]}&dstFirst=${q.dst[0]}&dstLast=${q.dst[1]}&bins=${q.bins}`);
export const getExamples = () => json<ExampleView[]>('/api/examples');
export const getSubmission = (id: string) => json<JobSubmission>(`/api/jobs/${id}/submission`);
export const submitJob = (submission: JobSubmission) => json<Pick<JobView, 'id'>>('/api/jobs', { method: 'POST', json: submission });
export const cancelJob = (id: string) => request(`/api/jobs/${id}/cancel`, { method: 'POST' });
export const pauseJob = (id: string) => request(`/api/jobs/${id}/pause`, { method: 'POST', json: {} });
export const resumeJob = (id: string) => request(`/api/jobs/${id}/resume`, { method: 'POST' });
export const deleteJob = (id: string) => request(`/api/jobs/${id}`, { method: 'DELETE' });
export const killTask = (id: string, task: number) => request(`/api/jobs/${id}/tasks/${task}/kill`, { method: 'POST' });
export const checkpointJob = (id: string) => request(`/api/jobs/${id}/checkpoint`, { method: 'POST' });
export const checkpointTask = (id: string, task: number) => request(`/api/jobs/${id}/tasks/${task}/checkpoint`, { method: 'POST' });
export const sendStdin = (id: string, data: BodyInit, end: boolean) =>
  request(`/api/jobs/${id}/stdin?end=${end ? 1 : 0}`, { method: 'POST', body: data, headers: { 'Content-Type': 'application/octet-stream' } });

const blob = async (path: string): Promise<Blob> => (await request(path)).blob();
export const getStream = (id: string, task: number, stream: 'stdout' | 'stderr') => blob(`/api/jobs/${id}/tasks/${task}/${stream}?from=0`);
export const getFile = (id: string, path: string) => blob(`/api/jobs/${id}/files/${segments(path)}`);
export const getExampleFile = async (example: string, path: string): Promise<Uint8Array> =>
  new Uint8Array(await (await request(`/api/examples/${encodeURIComponent(example)}/files/${segments(path)}`)).arrayBuffer());

/** Hands a blob to the browser's downloads. Never opened as a page: results come from strangers' programs. */
export function saveBlob(content: Blob, name: string): void {
  const url = URL.createObjectURL(content);
  const a = document.createElement('a');
  a.href = url;
  a.download = name;
  a.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
