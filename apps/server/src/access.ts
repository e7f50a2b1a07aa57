/**
 * Who may use what: the routes of the server by their table (packages/rest), the messages of the dashboard's socket by
 * the one here. A route or a message without a row does not get in: the server does not start with such a route, and
 * such a message is refused.
 */
import type { FastifyInstance } from 'fastify';
import { routes, type Access, type Route } from '@mayfly/rest';
import { FIRST_TOKEN, MayflyError, ROLES, type Role, type ViewerRequests } from '@mayfly/wire';
import type { Principal } from './tokens.ts';

/** Messages of a client on the socket /dashboard. */
export const EVENTS: Readonly<Record<keyof ViewerRequests, Role>> = {
  watch: 'viewer',
  look: 'viewer',
};

/** Undefined: it has no row. A HEAD is the GET without its body. */
export const routeOf = (method: string, url: string): Route | undefined =>
  routes[`${method === 'HEAD' ? 'GET' : method} ${url}`];

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
      if (!routeOf(method, route.url))
        throw new Error(`${method} ${route.url} has no row in the table of routes (packages/rest): add one`);
    }
  });
}
