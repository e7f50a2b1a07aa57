/** Where each page lives. The volunteer page and the dashboard are chunks of their own: neither loads the other. */
import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { Crash, Frame, Missing } from './shared/Frame.tsx';
import { FrontPage } from './FrontPage.tsx';

export interface SubmitSearch {
  /** An example to begin with. */
  example?: string;
  /** A job whose submission is copied. */
  from?: string;
  /** The room whose volunteers are to run it. */
  room?: string;
}

const root = createRootRoute({ component: Frame, notFoundComponent: Missing, errorComponent: Crash });

const front = createRoute({ getParentRoute: () => root, path: '/', component: FrontPage });

const volunteer = createRoute({
  getParentRoute: () => root,
  path: '/volunteer',
  component: lazyRouteComponent(() => import('./volunteer/VolunteerPage.tsx'), 'VolunteerPage'),
});

const widget = createRoute({
  getParentRoute: () => root,
  path: '/widget',
  component: lazyRouteComponent(() => import('./widget/WidgetPage.tsx'), 'WidgetPage'),
});

const lesson = createRoute({
  getParentRoute: () => root,
  path: '/lesson',
  component: lazyRouteComponent(() => import('./lesson/LessonPage.tsx'), 'LessonPage'),
});

const docs = createRoute({
  getParentRoute: () => root,
  path: '/docs',
  component: lazyRouteComponent(() => import('./docs/DocsFrame.tsx'), 'DocsFrame'),
});

const docsList = createRoute({
  getParentRoute: () => docs,
  path: '/',
  component: lazyRouteComponent(() => import('./docs/DocsPage.tsx'), 'DocsPage'),
});

const api = createRoute({
  getParentRoute: () => docs,
  path: '/api',
  component: lazyRouteComponent(() => import('./docs/ApiPage.tsx'), 'ApiPage'),
});

const dashboard = createRoute({
  getParentRoute: () => root,
  path: '/dashboard',
  component: lazyRouteComponent(() => import('./dashboard/Dashboard.tsx'), 'Dashboard'),
});

const jobs = createRoute({
  getParentRoute: () => dashboard,
  path: '/',
  component: lazyRouteComponent(() => import('./dashboard/OverviewPage.tsx'), 'OverviewPage'),
});

const submit = createRoute({
  getParentRoute: () => dashboard,
  path: '/new',
  validateSearch: (search: Record<string, unknown>): SubmitSearch => ({
    ...(typeof search['example'] === 'string' ? { example: search['example'] } : {}),
    ...(typeof search['from'] === 'string' ? { from: search['from'] } : {}),
    ...(typeof search['room'] === 'string' ? { room: search['room'] } : {}),
  }),
  component: lazyRouteComponent(() => import('./dashboard/submit/SubmitPage.tsx'), 'SubmitPage'),
});

const job = createRoute({
  getParentRoute: () => dashboard,
  path: '/jobs/$id',
  validateSearch: (search: Record<string, unknown>): { view?: string } =>
    typeof search['view'] === 'string' ? { view: search['view'] } : {},
  component: lazyRouteComponent(() => import('./dashboard/job/JobPage.tsx'), 'JobPage'),
});

/** A part of the overview. */
const nodes = createRoute({
  getParentRoute: () => dashboard,
  path: '/nodes',
  beforeLoad: () => {
    throw redirect({ to: '/dashboard', hash: 'nodes', replace: true });
  },
});

const node = createRoute({
  getParentRoute: () => dashboard,
  path: '/nodes/$id',
  component: lazyRouteComponent(() => import('./dashboard/nodes/NodePage.tsx'), 'NodePage'),
});

const rooms = createRoute({
  getParentRoute: () => dashboard,
  path: '/rooms',
  component: lazyRouteComponent(() => import('./dashboard/rooms/RoomsPage.tsx'), 'RoomsPage'),
});

const tokens = createRoute({
  getParentRoute: () => dashboard,
  path: '/tokens',
  component: lazyRouteComponent(() => import('./dashboard/tokens/TokensPage.tsx'), 'TokensPage'),
});

const quotas = createRoute({
  getParentRoute: () => dashboard,
  path: '/quotas',
  component: lazyRouteComponent(() => import('./dashboard/quotas/QuotasPage.tsx'), 'QuotasPage'),
});

const me = createRoute({
  getParentRoute: () => dashboard,
  path: '/me',
  component: lazyRouteComponent(() => import('./dashboard/me/MePage.tsx'), 'MePage'),
});

const server = createRoute({
  getParentRoute: () => dashboard,
  path: '/server',
  component: lazyRouteComponent(() => import('./dashboard/server/ServerPage.tsx'), 'ServerPage'),
});

const document = createRoute({
  getParentRoute: () => docs,
  path: '/$name',
  component: lazyRouteComponent(() => import('./docs/DocumentPage.tsx'), 'DocumentPage'),
});

const report = createRoute({
  getParentRoute: () => root,
  path: '/report/$id',
  component: lazyRouteComponent(() => import('./report/ReportPage.tsx'), 'ReportPage'),
});

const routes = root.addChildren([
  front,
  volunteer,
  widget,
  lesson,
  docs.addChildren([docsList, api, document]),
  report,
  dashboard.addChildren([jobs, submit, job, nodes, node, rooms, tokens, quotas, me, server]),
]);

/** Search parameters are plain strings: `?start&slots=2` stays as it was typed. */
const parseSearch = (text: string): Record<string, unknown> => Object.fromEntries(new URLSearchParams(text));
function stringifySearch(search: Record<string, unknown>): string {
  const parts = Object.entries(search).flatMap(([key, value]) => {
    if (value === undefined) return [];
    return [value === '' ? encodeURIComponent(key) : `${encodeURIComponent(key)}=${encodeURIComponent(String(value))}`];
  });
  return parts.length ? `?${parts.join('&')}` : '';
}

export const createAppRouter = () =>
  createRouter({
    routeTree: routes,
    parseSearch,
    stringifySearch,
    defaultPreload: 'intent',
    scrollRestoration: true,
    trailingSlash: 'never',
  });

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
