/**
 * Who may use what: every route of the server and every message of the dashboard's socket, in one table. A route or a
 * message without a row here does not get in: the server does not start with such a route, and such a message is
 * refused.
 *
 *   anyone      no token
 *   capability  checked by the route itself: it names one incarnation of one task (rest/data.ts)
 *   viewer, submitter, owner    a token of that role, or of a greater one
 *   own         a submitter for the jobs that his token submitted, an owner for all
 */
import type { FastifyInstance } from 'fastify';
import { FIRST_TOKEN, MayflyError, ROLES, type Role, type ViewerRequests } from '@mayfly/wire';
import type { Principal } from './tokens.ts';

export type Access = 'anyone' | 'capability' | 'own' | Role;

export const ROUTES: Readonly<Record<string, Access>> = {
  'GET /api/info': 'anyone',
  'GET /api/rooms/:code/board': 'anyone',
  'POST /api/lesson': 'anyone',
  'GET /api/lesson/:code': 'anyone',
  'POST /api/lesson/:code/step': 'anyone',
  'DELETE /api/lesson/:code': 'anyone',
  'GET /healthz': 'anyone',
  'GET /metrics': 'anyone',
  'GET /openapi.json': 'anyone',
  'GET /login': 'anyone',
  'GET /login/callback': 'anyone',
  'GET /api/reports/:id': 'anyone',
  'GET /api/downloads/:ticket': 'anyone',
  'GET /': 'anyone',
  'GET /*': 'anyone',
  'GET /frame/*': 'anyone',

  'GET /data/program/:job': 'capability',
  'GET /data/files/:job/:hash': 'capability',
  'GET /data/picture/:job': 'capability',
  'GET /data/images/:job/:task/:image': 'capability',
  'GET /data/images/:job/:task/:image/pages': 'capability',

  'GET /api/me': 'viewer',
  'POST /api/logout': 'viewer',
  'POST /api/me/token': 'viewer',
  'GET /api/quota': 'viewer',
  'GET /api/jobs': 'viewer',
  'GET /api/jobs/:id': 'viewer',
  'GET /api/jobs/:id/submission': 'viewer',
  'GET /api/jobs/:id/images': 'viewer',
  'GET /api/jobs/:id/timeline': 'viewer',
  'GET /api/jobs/:id/matrix': 'viewer',
  'GET /api/jobs/:id/charts': 'viewer',
  'GET /api/jobs/:id/profile': 'viewer',
  'GET /api/jobs/:id/comparison': 'viewer',
  'GET /api/jobs/:id/archive': 'viewer',
  'POST /api/jobs/:id/archive': 'viewer',
  'GET /api/jobs/:id/report': 'viewer',
  'GET /api/jobs/:id/share': 'viewer',
  'GET /api/jobs/:id/tasks/:task/stdout': 'viewer',
  'GET /api/jobs/:id/tasks/:task/stderr': 'viewer',
  'GET /api/jobs/:id/files/*': 'viewer',
  'GET /api/nodes': 'viewer',
  'GET /api/nodes/timeline': 'viewer',
  'GET /api/nodes/:id': 'viewer',
  'GET /api/nodes/:id/timeline': 'viewer',
  'GET /api/server': 'viewer',
  'GET /api/rooms': 'viewer',
  'GET /api/checkpoint-advice': 'viewer',
  'GET /api/examples': 'viewer',
  'GET /api/examples/:name/files/*': 'viewer',

  'POST /api/jobs': 'submitter',
  'POST /api/jobs/:id/again': 'submitter',
  'POST /api/jobs/:id/cancel': 'own',
  'PUT /api/jobs/:id/share': 'own',
  'DELETE /api/jobs/:id/share': 'own',
  'POST /api/jobs/:id/pause': 'own',
  'POST /api/jobs/:id/resume': 'own',
  'DELETE /api/jobs/:id': 'own',
  'POST /api/jobs/:id/checkpoint': 'own',
  'POST /api/jobs/:id/tasks/:task/kill': 'own',
  'POST /api/jobs/:id/tasks/:task/checkpoint': 'own',
  'POST /api/jobs/:id/stdin': 'own',

  'POST /api/rooms': 'owner',
  'DELETE /api/rooms/:code': 'owner',
  'POST /api/backup': 'owner',
  'POST /api/server/drain': 'owner',
  'GET /api/quotas': 'owner',
  'PUT /api/quotas/:owner': 'owner',
  'DELETE /api/quotas/:owner': 'owner',
  'GET /api/tokens': 'owner',
  'POST /api/tokens': 'owner',
  'DELETE /api/tokens/:id': 'owner',
};

/** Routes that need space on the disk for more than a record: refused while there is little (disk.ts). */
export const NEEDS_SPACE: ReadonlySet<string> = new Set([
  'POST /api/jobs',
  'POST /api/jobs/:id/again',
  'POST /api/lesson',
  'POST /api/jobs/:id/stdin',
  'POST /api/backup',
]);

/** Messages of a client on the socket /dashboard. */
export const EVENTS: Readonly<Record<keyof ViewerRequests, Role>> = {
  watch: 'viewer',
  look: 'viewer',
};

/** What a route asks for; undefined: it has no row. A HEAD is the GET without its body. */
export const accessOf = (method: string, url: string): Access | undefined =>
  ROUTES[`${method === 'HEAD' ? 'GET' : method} ${url}`];

export const needsToken = (access: Access): boolean => access !== 'anyone' && access !== 'capability';

/**
 * @throws MayflyError FORBIDDEN. `owner`: of the job that the route names; undefined when there is no such job; the
 * route then answers that.
 */
export function permit(principal: Principal, access: Access, owner?: string): void {
  if (!needsToken(access)) return;
  const least: Role = access === 'own' ? 'submitter' : (access as Role);
  if (ROLES.indexOf(principal.role) < ROLES.indexOf(least))
    throw new MayflyError(
      'FORBIDDEN',
      `This requires a token with the role ${least}; “${principal.name}” has the role ${principal.role}.`,
    );
  if (access === 'own' && principal.role !== 'owner' && owner !== undefined && owner !== principal.name)
    throw new MayflyError(
      'FORBIDDEN',
      `That job belongs to ${owner === FIRST_TOKEN ? 'the owner' : `“${owner}”`}; a submitter can do this ` +
        'only to their own jobs.',
    );
}

/** Refuses every route that is added to `app` from now on and has no row. */
export function refuseUnlisted(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    for (const method of [route.method].flat()) {
      if (accessOf(method, route.url) === undefined)
        throw new Error(`${method} ${route.url} has no row in access.ts: add its access rule`);
    }
  });
}
