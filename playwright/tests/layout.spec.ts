/**
 * Why nothing moves on a page while somebody looks: columns of its tables have widths of their own, and what comes
 * later has its place. The built pages show the same things with nothing, little and much to say of them: no server, no
 * job, no moment. Live pages are measured in still.spec.ts and others.
 */
import { expect, test, type Page } from '@playwright/test';
import { complaints } from '../src/looks.ts';
import { Alone, type Answers } from '../src/layout/alone.ts';
import { everywhere, idOf, jobAnswers, node, STAGES, type Stage } from '../src/layout/samples.ts';

const WIDTHS = [1400, 800, 360];

interface Shown {
  /** Left edge and width of each column, by table. */
  columns: Record<string, string[]>;
  /** Upper edge of each row, by table. */
  rows: Record<string, number[]>;
  /** Headings, cards, figures, times along them and parts of legends, in their order. */
  places: string[];
}

const shown = (page: Page): Promise<Shown> =>
  page.evaluate(() => {
    const round = (n: number): number => Math.round(10 * n) / 10;
    const seen = (e: Element): boolean => e.getClientRects().length > 0;
    const at = (e: Element): DOMRect => e.getBoundingClientRect();
    const tables = [...document.querySelectorAll('table')].filter(seen);
    const byTable = <T>(of: (t: HTMLTableElement) => T): Record<string, T> =>
      Object.fromEntries(
        tables.map((t) => [
          `${t.closest('[role=group], [role=region]')?.ariaLabel ?? ''} ${t.className}`.trim(),
          of(t),
        ]),
      );
    return {
      columns: byTable((t) =>
        [...t.tHead!.rows[0]!.cells]
          .filter(seen)
          .map((c) => `${c.textContent.replace(/ [↑↓]$/, '')}: ${round(at(c).left)} + ${round(at(c).width)}`),
      ),
      rows: byTable((t) => [...t.tBodies[0]!.rows].map((r) => round(at(r).top))),
      places: [
        ...document.querySelectorAll(
          'main :is(h1, h2, h3, .card, .news, dl > div, .kinds li, .slot-kinds li, figure, [role=tab], summary), ' +
            'main .plot-times span',
        ),
      ]
        .filter(seen)
        .map((e) => {
          const { left, top, height } = at(e);
          const name = e.ariaLabel ?? (/^H\d$/.test(e.tagName) ? e.textContent : '');
          return `${e.tagName.toLowerCase()}.${e.className} ${name}: ${round(left)}, ${round(top)}, ${round(height)} high`;
        }),
    };
  });

interface Watched {
  path: string;
  answers: (stage: Stage) => Answers;
  /** What is there at every stage, and tells which one is shown. */
  shows: (page: Page, stage: Stage) => Promise<void>;
  /** Tables that are to be found. */
  tables: number;
}

const figure = (page: Page, name: string) => page.getByLabel('Figures').locator('div', { hasText: name }).locator('dd');
/** The head of a job's page tells the stage. */
const ofJob =
  (there: (page: Page, stage: Stage) => Promise<void> = async () => undefined) =>
  async (page: Page, stage: Stage): Promise<void> => {
    await expect(figure(page, 'Messages')).toHaveText({ none: '0', short: '4', long: '493,824' }[stage]);
    await expect(page.getByRole('button', { name: 'Cancel job' })).toBeVisible();
    await there(page, stage);
  };
const view = (name: string, protocol: 'pcl' | 'hc3i' = 'pcl') => `/dashboard/jobs/${idOf(protocol)}?view=${name}`;
const of = (protocol: 'pcl' | 'hc3i') => (stage: Stage) => jobAnswers(stage, protocol);
/** The table that stands for a picture. */
const opened = async (page: Page): Promise<void> => {
  const details = page.locator('details', { hasText: 'As a table' });
  if ((await details.getAttribute('open')) === null) await details.locator('summary').click();
};

const faults = async (page: Page, stage: Stage) => {
  const long = stage === 'long';
  await expect(page.getByTestId('events').getByRole('row')).toHaveCount(5);
  if (stage === 'none') return;
  await expect(page.getByLabel('Faults, newest first')).toContainText(long ? '12 min 34 s' : 'recovering');
  await expect(page.getByLabel('Waves, newest first')).toContainText(long ? 'abandoned' : 'under way');
  await expect(page.getByLabel('Rollbacks, newest first')).toContainText(long ? '12 min 34 s' : '20 ms');
};

/** Between the phases of a recovery, which stand on each other, in px: of two lost ranks, three phases each. */
const gapsOfBars = (page: Page): Promise<number[]> =>
  page
    .locator('.chart g')
    .evaluateAll((bars) =>
      bars.flatMap((bar) =>
        [...bar.querySelectorAll('rect')]
          .map((r) => r.getBoundingClientRect())
          .flatMap((r, i, all) => (i === 0 ? [] : [Math.abs(Math.round(all[i - 1]!.top - r.bottom))])),
      ),
    );

/** Numbers of scales that do not take its whole width: they would move when they change. */
const looseNumbers = (page: Page): Promise<string[]> =>
  page.locator('.plot-scale span').evaluateAll((numbers) =>
    numbers
      .filter((n) => {
        const [own, scale] = [n.getBoundingClientRect(), n.parentElement!.getBoundingClientRect()];
        return own.left !== scale.left || own.width !== scale.width;
      })
      .map((n) => n.outerHTML),
  );

const PAGES: Readonly<Record<string, Watched>> = {
  'lists of jobs and nodes': {
    path: '/dashboard',
    answers: everywhere,
    shows: async (page, stage) => {
      const nodes = page.getByRole('region', { name: 'Table of nodes' });
      await expect(nodes.getByRole('row').nth(1)).toContainText(stage === 'long' ? '2 of 2' : '0 of 2');
      await expect(nodes.getByRole('link', { name: node(stage, 'a').name })).toBeVisible();
      await expect(page.getByRole('region', { name: 'Jobs' })).toContainText(stage === 'long' ? '26 h' : 's');
    },
    tables: 2,
  },
  'a job': { path: view('overview'), answers: of('pcl'), shows: ofJob(), tables: 1 },
  'faults of a job with waves': {
    path: view('faults'),
    answers: of('pcl'),
    shows: ofJob(faults),
    tables: 5,
  },
  'faults of a job with clusters': {
    path: view('faults', 'hc3i'),
    answers: of('hc3i'),
    shows: ofJob(faults),
    tables: 6,
  },
  'a profile': {
    path: view('profile'),
    answers: of('pcl'),
    shows: ofJob(async (page, stage) => {
      await expect(page.getByTestId('profile-ranks')).toBeVisible();
      if (stage === 'none') return;
      await expect(page.getByTestId('profile-calls')).toContainText(stage === 'long' ? '493,824' : 'Neighbor');
    }),
    tables: 3,
  },
  'a timeline': {
    path: view('timeline'),
    answers: of('pcl'),
    shows: ofJob(async (page, stage) => {
      await expect(page.getByTestId('timeline')).toHaveAttribute('data-known', 'yes');
      await opened(page);
      // It reads a history once; what comes then is the live connection's.
      await expect(page.getByTestId('timeline-table')).toContainText('%');
      void stage;
    }),
    tables: 1,
  },
  messages: {
    path: view('messages'),
    answers: of('pcl'),
    shows: ofJob(async (page) => expect(page.getByTestId('matrix-table')).toBeVisible()),
    tables: 1,
  },
  charts: {
    path: view('charts'),
    answers: of('pcl'),
    shows: ofJob(async (page, stage) => {
      await opened(page);
      await expect(page.getByTestId('chart-table')).toContainText(stage === 'long' ? '999 MB' : '1 B');
      if (stage === 'long') expect(await gapsOfBars(page)).toEqual([0, 0, 0, 0]);
      if (stage === 'long') await expect(page.locator('.plot-scale span').first()).toBeVisible();
      expect(await looseNumbers(page)).toEqual([]);
    }),
    tables: 1,
  },
  'a node': {
    path: `/dashboard/nodes/${node('none', 'a').id}`,
    answers: everywhere,
    shows: async (page, stage) => {
      await opened(page);
      await expect(page.getByRole('heading', { level: 1 })).toHaveText(node(stage, 'a').name);
      await expect(page.getByTestId('use-table')).toContainText(stage === 'long' ? '999 MB' : '100 %');
    },
    tables: 3,
  },
  tokens: {
    path: '/dashboard/tokens',
    answers: everywhere,
    shows: (page, stage) =>
      expect(page.getByRole('region', { name: 'List of tokens' })).toContainText(stage === 'long' ? '22 Apr' : 'never'),
    tables: 1,
  },
  rooms: {
    path: '/dashboard/rooms',
    answers: everywhere,
    shows: (page, stage) => expect(page.locator('.places')).toContainText(stage === 'long' ? '26 h' : '1 s'),
    tables: 1,
  },
  quotas: {
    path: '/dashboard/quotas',
    answers: everywhere,
    shows: (page, stage) =>
      expect(page.getByRole('region', { name: 'List of owners' })).toContainText(stage === 'long' ? '999 MB' : '1 B'),
    tables: 1,
  },
};

for (const width of WIDTHS)
  test(`columns and places stay, whatever stands in them; ${width} px`, async ({ page }) => {
    await page.setViewportSize({ width, height: 2000 });
    const found = complaints(page);
    const alone = await Alone.of(page);
    for (const [name, watched] of Object.entries(PAGES))
      await test.step(name, async () => {
        const seen = new Map<Stage, Shown>();
        for (const stage of STAGES) {
          alone.answers = watched.answers(stage);
          if (seen.size === 0) await alone.open(watched.path);
          else await alone.askAgain();
          await watched.shows(page, stage);
          seen.set(stage, await shown(page));
        }
        const long = seen.get('long')!;
        expect(Object.keys(long.columns), name).toHaveLength(watched.tables);
        for (const [stage, { columns, rows, places }] of seen) {
          const what = `${name}: ${stage}`;
          // What was there stays where it was, and as high.
          expect.soft(long.places, what).toEqual(expect.arrayContaining(places));
          for (const [table, heads] of Object.entries(columns)) {
            expect.soft(heads, `${what}, ${table}`).toEqual(long.columns[table]);
            expect.soft(rows[table], `${what}, ${table}`).toEqual(long.rows[table]!.slice(0, rows[table]!.length));
          }
        }
        expect.soft(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), name).toBe(true);
      });
    expect(found).toEqual([]);
  });
