/**
 * What `npm test` runs, with a reason for each line: at most 5 minutes and 9 minutes of processor time on two quiet
 * cores. `npm run verify` runs everything else as well.
 *
 * A place is a folder or a file of tests, or `file > title` for the tests whose title begins so. Choose by value per
 * second: the times are processor time on two quiet cores, from a built checkout.
 */
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** @type {readonly (readonly [place: string, why: string])[]} */
export const UNIT = [
  // Pure: cores, words and bytes. No processes, no sockets.
  ['packages/wire', 'frames, records and names of the wire, hostile ones among them; 3 s'],
  ['packages/protocols/test/app', 'membership under app; 1 s'],
  ['packages/protocols/test/coordinated', 'gates and waves of vcl and pcl, their random models; 6 s'],
  ['packages/protocols/test/data-path', 'Channel Memory and streams, and what a hostile rank sends; 5 s'],
  ['packages/protocols/test/dispatcher', 'nodes, queue, placement, judgement; the random model too; 20 s'],
  ['packages/protocols/test/files', 'the file service of a job; 1 s'],
  ['packages/protocols/test/hc3i', 'recovery lines of clusters, against every small case; 5 s'],
  ['packages/protocols/test/service', 'the cores together; 1 s'],
  ['packages/simulator/test/every-protocol.test.ts', 'every protocol, teams and parity under simulated faults; 5 s'],
  ['packages/simulator/test/transcripts.test.ts', 'recorded runs, to be read by people; 1 s'],
  ['packages/mpi/test/point-to-point.test.ts', 'messages between ranks; 2 s'],
  ['packages/mpi/test/communicators.test.ts', 'groups and communicators, against a reference; 6 s'],
  ['packages/mpi/test/datatypes.test.ts', 'layouts of data; 2 s'],
  ['packages/mpi/test/collective-algorithms.test.ts', 'each algorithm of a collective on small sizes; 2 s'],
  ['packages/mpi/test/checkpoint.test.ts', 'images of a TypeScript rank; 1 s'],
  ['packages/mpi/test/one-sided.test.ts', 'windows; 5 s'],
  ['packages/checkpoint', 'pages, codes and parity; 7 s'],
  ['packages/libm', 'bits of mathematical functions; 1 s'],
  ['packages/libmpi/test/abi/values.test.ts', 'the constants of mpi.h, and that every function links; 6 s'],
  ['packages/toolchain/src/c/driver/driver.test.ts', 'mpicc on what Makefiles ask of it; 10 s'],
  ['packages/toolchain/src/compiler.test.ts', 'TypeScript programs, their errors and their limits; 11 s'],
  ['apps/web', 'texts, tables and lists of the pages; 4 s'],
  // Real storage, servers, nodes and commands.
  ['packages/storage/test/acceptance.test.ts', 'the ports of storage, on a data directory; 7 s'],
  ['apps/server/test/postgres.test.ts', 'a job over a real PostgreSQL whose servers are killed; 16 s'],
  ['packages/node/test/every-protocol.test.ts', 'each protocol and teams on real nodes, one of which is killed; 20 s'],
  ['apps/server/test/access.test.ts', 'who may use which route; 6 s'],
  ['apps/server/test/rest.test.ts', 'REST from submission to deletion; 6 s'],
  ['apps/server/test/border.test.ts', 'what strangers send to the sockets; 7 s'],
  ['apps/server/test/hostile-uploads.test.ts', 'archives and programs that want to harm the server; 8 s'],
  ['apps/server/test/openapi.test.ts', 'the typed client is what the server describes; 5 s'],
  [
    'apps/cli/test/hostile-clients.test.ts > a hostile client',
    'five clients of `npm run attack -- --clients` against the built server; 10 s',
  ],
  ['apps/cli/test/mpiexec.test.ts', 'the command line from source to answer; 12 s'],
  ['apps/cli/test/plain-english.test.ts', 'words that people read; 1 s'],
  ['apps/cli/test/workspace-rules.test.ts', 'the rules of the repository fire; 3 s'],
];

/** @type {readonly (readonly [place: string, why: string])[]} */
export const BROWSER = [
  [
    'pages.spec.ts > a job waits with its reason',
    'the first job: page, volunteer, picture, a killed rank, accessibility; 30 s',
  ],
  ['pages.spec.ts > a module from the form', 'submit from the form, cancel, run again; 15 s'],
  ['visitors.spec.ts > a room', 'a room, its link, pause and leave; 20 s'],
  ['visitors.spec.ts > the lesson', 'tabs of a running job are closed, and the answer is the same; 10 s'],
  ['visitors.spec.ts > every page fits a phone', 'all pages at 360 px, light and dark, colours too; 30 s'],
  ['outage.spec.ts', 'the server is killed under a tab, and the job ends with its answer; 8 s'],
  ['attack.spec.ts > hostile programs get nowhere in a tab', 'hostile programs in a tab; 15 s'],
  ['bad-input.spec.ts > a deadlock is reported', 'an error that says who waits for whom; 5 s'],
];

/** @returns {string[]} test files at or below a place, relative to `root` */
function filesAt(root, place) {
  if (!statSync(join(root, place), { throwIfNoEntry: false })) return [];
  if (!statSync(join(root, place)).isDirectory()) return [place];
  return readdirSync(join(root, place), { withFileTypes: true }).flatMap((e) =>
    e.name === 'node_modules' || e.name === 'dist'
      ? []
      : e.isDirectory()
        ? filesAt(root, `${place}/${e.name}`)
        : /\.test\.(tsx?|mjs)$/.test(e.name)
          ? [`${place}/${e.name}`]
          : [],
  );
}

/** `file:line` for each test of a file whose title begins with the text. */
function linesOf(root, file, title) {
  const lines = readFileSync(join(root, file), 'utf8').split('\n');
  const found = [];
  let call = 0;
  lines.forEach((line, i) => {
    if (/^\s*(test|it)\b/.test(line)) call = i + 1;
    if (call > 0 && [...`'"\``].some((quote) => line.includes(quote + title))) found.push(`${file}:${call}`);
  });
  return found;
}

/**
 * @param {readonly (readonly [string, string])[]} list one of the lists above
 * @param {{ root: string, below?: string }} where the folder that the places are relative to
 * @returns {string[]} files, or `file:line`, relative to `root`
 * @throws when a place has no tests: the list tells the truth
 */
export function resolve(list, { root, below = '' }) {
  return list.flatMap(([place]) => {
    const [file, title] = place.split(' > ');
    const path = `${below}${file}`;
    const found = title === undefined ? filesAt(root, path) : linesOf(root, path, title);
    if (found.length === 0) throw new Error(`testing/share.mjs names tests that are not there: ${place}`);
    return found;
  });
}
