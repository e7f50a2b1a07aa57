/**
 * The client of REST (packages/rest), as the dashboard uses it: with the token of this browser; one that is refused
 * is forgotten.
 */
import { ApiFailure, connect } from '@mayfly/rest/client';
import type { JobSubmission, NewToken, QuotaWish } from '@mayfly/wire';
import { downloadName } from '../shared/downloads.ts';
import { currentToken, refuseToken } from './token.ts';

export { ApiFailure };

let skew = 0;
/** The server's clock, as far as this browser's own is off by more than a second or two. */
export const serverNow = (now: number): number => now + skew;

const api = connect({
  baseUrl: '',
  token: currentToken,
  fetch: (url, init) =>
    fetch(url, init).catch(() => {
      throw new ApiFailure(0, 'OFFLINE', 'The server does not answer.');
    }),
  onResponse: (response, token) => {
    const date = Date.parse(response.headers.get('date') ?? '');
    if (Number.isFinite(date)) {
      const off = date + 500 - Date.now();
      skew = Math.abs(off) > 2000 ? off : 0;
    }
    if (response.status === 401 && currentToken() === token) refuseToken(); // the page asks for another one
  },
});
const of = (id: string) => ({ params: { id } });
const ofTask = (id: string, task: number) => ({ params: { id, task } });

export const getInfo = () => api.get('/api/info');
/** Whether this browser has the cookie of a session. Asked before there is one, so a refusal is no event. */
export const hasSession = (): Promise<boolean> => fetch('/api/me').then((r) => r.ok);
export const signOut = () => api.post('/api/logout');
export const createOwnToken = () => api.post('/api/me/token');
export const getMe = () => api.get('/api/me');
export const getJobs = () => api.get('/api/jobs');
export const getJob = (id: string) => api.get('/api/jobs/:id', of(id));
export const getNodes = () => api.get('/api/nodes');
export const getNode = (id: string) => api.get('/api/nodes/:id', of(id));
export const getNodesTimeline = (from: number) => api.get('/api/nodes/timeline', { query: { from } });
export const getNodeTimeline = (id: string, from: number) =>
  api.get('/api/nodes/:id/timeline', { params: { id }, query: { from } });
export const drainServer = () => api.post('/api/server/drain');
export const getServer = () => api.get('/api/server');
export const getRooms = () => api.get('/api/rooms');
export const openRoom = (name: string, server: string) =>
  api.post('/api/rooms', { body: { name, ...(server === '' ? {} : { server }) } });
export const closeRoom = (code: string) => api.delete('/api/rooms/:code', { params: { code } });
export const getAdvice = (room: string | undefined) =>
  api.get('/api/checkpoint-advice', { query: room === undefined ? {} : { room } });
export const getExamples = () => api.get('/api/examples');
export const getExample = (name: string) => api.get('/api/examples/:name', { params: { name } });
export const getTokens = () => api.get('/api/tokens');
export const createToken = (body: NewToken) => api.post('/api/tokens', { body });
export const revokeToken = (id: string) => api.delete('/api/tokens/:id', of(id));
export const getQuota = () => api.get('/api/quota');
export const getQuotas = () => api.get('/api/quotas');
export const setQuota = (owner: string, body: QuotaWish) => api.put('/api/quotas/:owner', { params: { owner }, body });
export const getSubmission = (id: string) => api.get('/api/jobs/:id/submission', of(id));
export const submitJob = (body: JobSubmission) => api.post('/api/jobs', { body });
export const cancelJob = (id: string) => api.post('/api/jobs/:id/cancel', of(id));
export const pauseJob = (id: string) => api.post('/api/jobs/:id/pause', { ...of(id), body: {} });
export const resumeJob = (id: string) => api.post('/api/jobs/:id/resume', of(id));
export const getTimeline = (
  id: string,
  query: { from: number; to: number; first: number; last: number; columns: number },
  signal: AbortSignal,
) => api.get('/api/jobs/:id/timeline', { params: { id }, query, signal });
export const getMatrix = (id: string, q: { src: [number, number]; dst: [number, number]; bins: number }) =>
  api.get('/api/jobs/:id/matrix', {
    params: { id },
    query: { srcFirst: q.src[0], srcLast: q.src[1], dstFirst: q.dst[0], dstLast: q.dst[1], bins: q.bins },
  });
export const getProfile = (id: string) => api.get('/api/jobs/:id/profile', of(id));
export const getCharts = (id: string) => api.get('/api/jobs/:id/charts', of(id));
export const getComparison = (id: string) => api.get('/api/jobs/:id/comparison', of(id));
/** Once more with the same input and seed; the two are compared when it has ended. */
export const runAgain = (id: string) => api.post('/api/jobs/:id/again', { ...of(id), body: {} });
/** All that a job has written: the browser's download manager takes it, so that no page has to hold it. */
export async function saveArchive(id: string): Promise<void> {
  const { url } = await api.post('/api/jobs/:id/archive', of(id));
  const a = document.createElement('a');
  a.href = url;
  a.download = '';
  a.click();
}
export const getImages = (id: string) => api.get('/api/jobs/:id/images', of(id));
export const getReport = (id: string) => api.get('/api/jobs/:id/report', of(id));
/** Needs no token: of a job whose owner shares it. */
export const getSharedReport = (id: string) => api.get('/api/reports/:id', of(id));
export const getShare = (id: string) => api.get('/api/jobs/:id/share', of(id));
export const shareReport = (id: string, on: boolean) =>
  on ? api.put('/api/jobs/:id/share', of(id)) : api.delete('/api/jobs/:id/share', of(id));
export const deleteJob = (id: string) => api.delete('/api/jobs/:id', of(id));
export const killTask = (id: string, task: number) => api.post('/api/jobs/:id/tasks/:task/kill', ofTask(id, task));
export const checkpointJob = (id: string) => api.post('/api/jobs/:id/checkpoint', of(id));
export const checkpointTask = (id: string, task: number) =>
  api.post('/api/jobs/:id/tasks/:task/checkpoint', ofTask(id, task));
export const sendStdin = (id: string, text: string, end: boolean) =>
  api.post('/api/jobs/:id/stdin', {
    params: { id },
    query: { end: end ? '1' : '0' },
    body: new Blob([text]),
  });
export const getStream = (id: string, task: number, stream: 'stdout' | 'stderr') =>
  api.get(`/api/jobs/:id/tasks/:task/${stream}`, { params: { id, task }, query: { from: 0 } });
export const getFile = (id: string, path: string) => api.get('/api/jobs/:id/files/*', { params: { id, '*': path } });
export const getExampleFile = async (name: string, path: string): Promise<Uint8Array> =>
  new Uint8Array(await (await api.get('/api/examples/:name/files/*', { params: { name, '*': path } })).arrayBuffer());

/** Hands a blob to the browser's downloads. Never opened as a page: results come from strangers' programs. */
export function saveBlob(content: Blob, name: string): void {
  const url = URL.createObjectURL(content);
  const a = document.createElement('a');
  a.href = url;
  a.download = downloadName(name);
  a.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
