/**
 * Runs hostile programs as what they are: submitted jobs, through a real server, on one volunteer. An attack has failed
 * when its job ended in one of the ways that its file names, no canary was touched, and the same volunteer then runs an
 * honest job to its right answer.
 */
import { ApiError, Client, source, type Program } from '../client.ts';
import { ServerProcess } from '../server.ts';
import { Canaries } from './canaries.ts';
import { open, refuses, type Place, type PlaceName } from './places.ts';
import type { Attack } from './programs.ts';
import type { JobView } from '@mayfly/wire';

const RANKS = 2;
const LIMIT_MS = 120_000;
const MEMORY_BYTES = 256 << 20;
const OUTPUT_BYTES = 4 << 20;

const HONEST_SCRIPT = source(
  'honest',
  `import { COMM_WORLD as comm, SUM } from 'mayfly'; const all = new Float64Array(1); for (let i = 0; i < ` +
    `10; i++) comm.allreduce(Float64Array.of(comm.rank + 1), all, SUM); console.log('sum', all[0]);`,
);
const HONEST_C: Program = {
  name: 'honest',
  program: {
    language: 'c',
    sources: {
      'main.c':
        '#include <mpi.h>\n#include <stdio.h>\nint main(int c, char **v) { int r, all; MPI_Init(&c, &v); ' +
        'MPI_Comm_rank(MPI_COMM_WORLD, &r); r++; MPI_Allreduce(&r, &all, 1, MPI_INT, MPI_SUM, ' +
        'MPI_COMM_WORLD); printf("sum %d\\n", all); MPI_Finalize(); }',
    },
  },
};
const ANSWER = ['sum 3\n', 'sum 3\n'];

export interface Verdict {
  attack: string;
  place: PlaceName;
  /** How its job ended. */
  end: string;
  /** What was said of it. */
  message: string;
  /** What went wrong for us; empty: the attack has failed. */
  escapes: string[];
  ms: number;
}

export class Arena {
  private other = '';

  private constructor(
    readonly server: ServerProcess,
    private readonly client: Client,
    private readonly canaries: Canaries,
  ) {}

  static async start(): Promise<Arena> {
    const canaries = await Canaries.start();
    const server = await ServerProcess.start(undefined, { MAYFLY_CANARY: canaries.environment });
    const arena = new Arena(server, new Client(server), canaries);
    const victim = await arena.client.submit(
      {
        ...HONEST_SCRIPT,
        name: 'of somebody else',
        files: { 'secret.txt': Buffer.from(canaries.othersFile).toString('base64') },
      },
      1,
    );
    arena.other = victim.id;
    // It waits for a volunteer for as long as there is one for the attacks: nobody runs it.
    await arena.client.request('POST', `/api/jobs/${victim.id}/cancel`);
    return arena;
  }

  open(place: PlaceName): Promise<Place> {
    return open(place, this.server.url, this.canaries);
  }

  async run(attack: Attack, place: Place): Promise<Verdict> {
    const began = performance.now();
    const texts: string[] = [];
    const escapes: string[] = [];
    const end = await this.attacked(attack, place, texts).catch((e: unknown) =>
      e instanceof Error ? e.message.split('\n')[0]! : String(e),
    );
    if (
      !(
        refuses(place, attack) ? ['not placed', ...attack.ends.filter((e) => e.startsWith('refused'))] : attack.ends
      ).includes(end)
    )
      escapes.push(`its end was "${end}", not one of: ${attack.ends.join(', ')}`);
    const honest = await this.honest(place).catch(
      (e: unknown) => `an honest job afterwards: ${e instanceof Error ? e.message.split('\n')[0] : String(e)}`,
    );
    if (honest !== undefined) escapes.push(honest);
    escapes.push(...this.canaries.touched(texts, this.server.token));
    const harm = await place.harmed();
    if (harm !== undefined) escapes.push(harm);
    return {
      attack: attack.name,
      place: place.name,
      end,
      message: texts.find((t) => t.startsWith('{"code"')) ?? '',
      escapes,
      ms: performance.now() - began,
    };
  }

  private async attacked(attack: Attack, place: Place, texts: string[]): Promise<string> {
    let job: JobView;
    try {
      const { listener, secretFile, marker } = this.canaries;
      job = await this.client.submit(
        await attack.program(),
        RANKS,
        [listener, secretFile, marker, this.server.url, this.other],
        { memoryBytes: MEMORY_BYTES, outputLimitBytes: OUTPUT_BYTES, timeLimitMs: LIMIT_MS },
      );
    } catch (e) {
      if (!(e instanceof ApiError)) throw e;
      texts.push(JSON.stringify(e.body));
      return e.status < 500 ? `refused ${e.body.code}` : `the server failed: ${e.message}`;
    }
    const over = (j: JobView): boolean => ['done', 'failed', 'cancelled'].includes(j.state);
    const cancel = async (): Promise<void> => void (await this.client.request('POST', `/api/jobs/${job.id}/cancel`));
    let placed = true;
    try {
      if (refuses(place, attack)) {
        placed = (
          await this.client.until(
            job.id,
            'refused or over',
            (j) => over(j) || (j.state === 'waiting' && j.reason !== undefined),
            LIMIT_MS,
          )
        ).tasks.some((t) => t.node !== undefined);
        await cancel();
      } else if (attack.ends.includes('cancelled')) {
        await this.client.until(
          job.id,
          'running',
          (j) => over(j) || j.tasks.every((t) => t.state === 'running'),
          LIMIT_MS,
        );
        await cancel();
      } else if (attack.ends.includes('crashed')) {
        await this.client.until(job.id, 'crashed', (j) => over(j) || j.faults.length > 0, 4 * LIMIT_MS);
        await cancel();
      }
      job = await this.client.until(job.id, 'over', over, LIMIT_MS);
    } catch (e) {
      await cancel();
      throw e;
    }
    const answer = await this.client.answer(job);
    const errors = await Promise.all(
      job.tasks.map(async (t) =>
        (await this.client.request('GET', `/api/jobs/${job.id}/tasks/${t.task}/stderr`)).text(),
      ),
    );
    texts.push(
      ...answer.stdout,
      ...errors,
      JSON.stringify(job.error ?? {}),
      ...Object.values(answer.files).map((bytes) => new TextDecoder().decode(bytes)),
    );
    if (!placed) return 'not placed';
    if (job.state === 'cancelled' && job.faults.length > 0) return 'crashed';
    return job.state === 'failed' ? `failed ${job.error?.code}` : job.state;
  }

  /** undefined: it ended with its answer, on this place. */
  private async honest(place: Place): Promise<string | undefined> {
    let job = await this.client.submit(place.name === 'headless' ? HONEST_C : HONEST_SCRIPT, RANKS, [], {
      timeLimitMs: LIMIT_MS,
    });
    job = await this.client.ended(job.id, LIMIT_MS);
    const { stdout } = await this.client.answer(job);
    return job.state === 'done' && JSON.stringify(stdout) === JSON.stringify(ANSWER)
      ? undefined
      : `an honest job afterwards ended ${job.state} ${job.error?.message ?? ''} with ${JSON.stringify(stdout)}`;
  }

  async close(): Promise<void> {
    await this.server.stop();
    await this.canaries.close();
  }
}
