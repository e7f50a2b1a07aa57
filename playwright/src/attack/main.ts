/**
 * `npm run attack`: every hostile program in every place, and what became of it; with `--clients` every hostile client
 * (clients/). Exit code 1: a program got out, or ended a node or the server; a client kept others from their work.
 */
import { parseArgs } from 'node:util';
import { Arena, type Verdict } from './arena.ts';
import { listWays, runWays } from './clients/run.ts';
import { WAYS } from './clients/ways/index.ts';
import { PLACES, type Place, type PlaceName } from './places.ts';
import { attacks } from './programs.ts';

const HELP = `npm run attack -- [options]

  --only a,b     run only these programs (--list shows their names)
  --on a,b       run only in these places: ${PLACES.join(', ')}
  --clients      hostile clients in place of programs
  --list         list every program, what it tries, and the hole behind it; with --clients every client

The command submits each program to a real server, where it runs on a real volunteer: a tab of Chromium, a headless volunteer with its defaults, and one that runs scripts. It
watches everything that an escaped program would touch: a secret file, the environment, a file of another job, a listener, a marker. Afterwards the same volunteer has to run an
honest job.

With --clients it attacks a server by hand instead, on every plane: bare TCP, REST, control, data and images. An honest job runs beside each client. It has to end in time with its right answer, while
the server stays within a limit of memory and leaves at most 2 s between two answers. These limits follow the speed of the machine.

Exit code 0: no program escaped, no client got through, and nothing died.`;

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    on: { type: 'string' },
    clients: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

function chosen<T>(list: string | undefined, all: readonly T[], nameOf: (x: T) => string): T[] {
  if (list === undefined) return [...all];
  return list
    .split(',')
    .map(
      (name) =>
        all.find((x) => nameOf(x) === name) ?? fail(`there is no ${name}; there are ${all.map(nameOf).join(', ')}`),
    );
}
function fail(why: string): never {
  throw new Error(why);
}

async function main(): Promise<number> {
  if (values.help) {
    console.log(HELP);
    return 0;
  }
  return values.clients ? clients() : programs();
}

async function clients(): Promise<number> {
  const ways = chosen(values.only, WAYS, (w) => w.name);
  if (values.list) {
    listWays(ways);
    return 0;
  }
  const failed = await runWays(ways);
  console.log(
    `\n${ways.length} hostile clients: ${failed.length === 0 ? 'all held' : `${failed.length} FAILED: ${failed.join(', ')}`}`,
  );
  return failed.length === 0 ? 0 : 1;
}

async function programs(): Promise<number> {
  const programs = chosen(values.only, attacks(), (a) => a.name);
  const places = chosen<PlaceName>(values.on, PLACES, (p) => p);
  if (values.list) {
    for (const a of programs)
      console.log(`${a.name} (${a.kind})\n  tries ${a.tries}\n  hole: ${a.hole}\n  may end: ${a.ends.join(', ')}`);
    console.log(`${programs.length} programs`);
    return 0;
  }
  const verdicts: Verdict[] = [];
  const arena = await Arena.start();
  let place: Place | undefined;
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void Promise.allSettled([place?.close(), arena.close()]).then(() => process.exit(130)));
  try {
    for (const name of places) {
      place = await arena.open(name);
      try {
        for (const attack of programs) {
          if (!place.takes(attack)) continue;
          const verdict = await arena.run(attack, place);
          verdicts.push(verdict);
          console.log(
            `${verdict.escapes.length === 0 ? 'held  ' : 'FAILED'}  ${name.padEnd(16)} ` +
              `${attack.name.padEnd(24)} ${verdict.end.padEnd(24)} ${(verdict.ms / 1000).toFixed(1)} s`,
          );
          for (const escape of verdict.escapes) console.log(`          ${escape}`);
          if (verdict.escapes.length === 0 && verdict.end !== 'crashed') continue;
          console.log(`          ${verdict.message.slice(0, 600)}`);
          // What comes next must not suffer from it.
          if (verdict.escapes.length > 0)
            console.log(
              place
                .log()
                .slice(-10)
                .map((line) => `          | ${line}`)
                .join('\n'),
            );
          await place.close();
          place = await arena.open(name);
        }
      } finally {
        await place.close();
      }
    }
  } finally {
    if (!arena.server.up) console.log(arena.server.log.slice(-4000));
    await arena.close();
  }
  const bad = verdicts.filter((v) => v.escapes.length > 0);
  console.log(
    `\n${new Set(verdicts.map((v) => v.attack)).size} programs, ${verdicts.length} runs in ${places.length} ` +
      'places: ' +
      `${bad.length === 0 ? 'all held' : `${bad.length} FAILED: ${bad.map((v) => `${v.attack} (${v.place})`).join(', ')}`}`,
  );
  return bad.length === 0 && verdicts.length > 0 ? 0 : 1;
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
