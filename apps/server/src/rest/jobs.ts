/** REST of jobs: submit, look, cancel, delete, kill a rank, checkpoint now. */
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { at } from '@mayfly/rest';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { accepts, DEFAULT_PROTOCOL, isOver, partsOf, refusalOf, type JobPart, type JobSpec } from '@mayfly/protocols';
import type { Asker } from '@mayfly/toolchain';
import {
  MAX_RANKS,
  MAX_SPAWNED,
  MayflyError,
  ftModes,
  jobId,
  oneLine,
  plainName,
  taskId,
  type ErrorCode,
  type FurtherPart,
  type JobId,
  type JobSubmission,
  type JobView,
  type TaskId,
} from '@mayfly/wire';
import { randomBytes } from 'node:crypto';
import { clock } from '../clock.ts';
import {
  decodeBase64,
  checkpointMsOf,
  needOneKind,
  needPath,
  needAccepted,
  needModes,
  prepareProgram,
  outputLimitOf,
  rankMemoryOf,
  timeLimitOf,
  type Compilers,
  type PreparedProgram,
} from '../jobs/program.ts';
import { SubmitOnce, type Once } from '../jobs/submit-once.ts';
import type { Disk } from '../disk.ts';
import { needArguments } from '../jobs/arguments.ts';
import { clustersOf, needRooms, needTimers } from '../jobs/clusters.ts';
import { bytesOfPrograms } from '../jobs/job-store.ts';
import { takesImages } from '../jobs/takes-images.ts';
import type { ServerLimits } from '../options.ts';
import type { Admitted, Quotas } from '../quotas.ts';
import type { Rooms } from '../rooms.ts';
import type { Runtime } from '../runtime.ts';
import { randomId } from '../secrets.ts';
import { defaultTeam } from '../team-size.ts';

/**
 * A rank that waits in MPI or calls it often has its image in a second; one that computes without a call for longer
 * goes back to the last one.
 */
const PAUSE_WAIT_MS = 15_000;

export interface JobRoutes {
  runtime: Runtime;
  disk: Disk;
  rooms: Rooms;
  quotas: Quotas;
  compilers: Compilers;
  limits: ServerLimits;
  channelMemories: number;
  /** Of jobs that name none. */
  durability: 'behind' | 'strict';
}

export function jobRoutes(plain: FastifyInstance, o: JobRoutes): void {
  const app = plain.withTypeProvider<TypeBoxTypeProvider>();
  const { runtime } = o;
  const specs = () => [...runtime.dispatcher.core.core.jobs.values()].map((job) => job.record.spec);
  const submissions = new SubmitOnce(specs, clock);
  const needTask = (id: string, task: number): { job: JobId; task: TaskId } => {
    const view = runtime.need(id);
    if (task >= view.size) throw new MayflyError('NOT_FOUND', `Job ${id} has the tasks 0 to ${view.size - 1}.`);
    return { job: view.id, task: taskId(task) };
  };
  const needCheckpoints = (protocol: JobView['protocol']): void => {
    const refused = refusalOf(protocol, 'checkpoints');
    if (refused !== undefined)
      throw new MayflyError('CONFLICT', `Under the protocol "${protocol}" no checkpoint is taken: ${refused}.`);
  };
  const needActive = (id: string): JobView => {
    const view = runtime.need(id);
    if (isOver(view.state)) throw new MayflyError('CONFLICT', `The job has ended (${view.state}).`);
    return view;
  };

  app.route({
    ...at('POST /api/jobs'),
    bodyLimit: o.limits.submissionBytes,
    handler: async (request, reply) => {
      const { name } = request.principal!;
      const key = request.headers['idempotency-key'];
      const take = (once?: Once) =>
        submit(o, request.body, name, { asker: askerOf(request, reply), ...(once && { once }) });
      const created = await (key === undefined ? take() : submissions.job(name, key, request.body, take));
      request.log.info({ job: created.id, size: request.body.size }, 'job submitted');
      return reply.status(201).header('location', `/api/jobs/${created.id}`).send(created);
    },
  });

  app.route({
    ...at('GET /api/jobs'),
    handler: async () =>
      runtime.jobs().flatMap((id) => {
        const view = runtime.view(id);
        if (!view) return [];
        const { waves: _, ...rest } = view;
        return [{ ...rest, tasks: [], faults: [], outputs: [] }];
      }),
  });

  app.route({ ...at('GET /api/jobs/:id'), handler: async (request) => runtime.need(request.params.id) });

  app.route({
    ...at('GET /api/jobs/:id/submission'),
    handler: async (request) => {
      const view = runtime.need(request.params.id);
      return runtime.store.submission(view.id);
    },
  });

  app.route({
    ...at('POST /api/jobs/:id/cancel'),
    handler: async (request) => {
      runtime.dispatcher.step({ type: 'cancel', job: needActive(request.params.id).id });
      await runtime.dispatcher.settled();
      return { ok: true as const };
    },
  });

  app.route({
    ...at('POST /api/jobs/:id/pause'),
    handler: async (request) => {
      const view = needActive(request.params.id);
      const refused = refusalOf(view.protocol, 'pause');
      if (refused !== undefined)
        throw new MayflyError(
          'CONFLICT',
          `This job cannot be paused: under its protocol "${view.protocol}" ${refused}. Cancel it, and run it again ` +
            'later.',
        );
      const programs = partsOf(runtime.spec(view.id)!).map((p) => p.program);
      const waitMs = (await takesImages(runtime.store, view.id, programs))
        ? (request.body?.waitMs ?? PAUSE_WAIT_MS)
        : 0;
      runtime.dispatcher.step({ type: 'pause', job: view.id, waitMs });
      await runtime.dispatcher.settled();
      return { ok: true as const };
    },
  });

  app.route({
    ...at('POST /api/jobs/:id/resume'),
    handler: async (request) => {
      const view = needActive(request.params.id);
      if (view.stopped) throw new MayflyError(view.stopped.code as ErrorCode, view.stopped.message);
      if (view.state !== 'paused' && view.state !== 'pausing')
        throw new MayflyError('CONFLICT', `The job is not paused (${view.state}).`);
      runtime.dispatcher.step({ type: 'resume', job: view.id });
      await runtime.dispatcher.settled();
      return { ok: true as const };
    },
  });

  app.route({
    ...at('DELETE /api/jobs/:id'),
    handler: async (request) => {
      await runtime.intake.remove(jobId(request.params.id));
      return { ok: true as const };
    },
  });

  for (const verb of ['kill', 'checkpoint'] as const)
    app.route({
      ...at(`POST /api/jobs/:id/tasks/:task/${verb}`),
      handler: async (request) => {
        const t = needTask(request.params.id, request.params.task);
        const view = needActive(t.job);
        if (verb === 'checkpoint') needCheckpoints(view.protocol);
        if (verb === 'kill' && !runtime.dispatcher.core.acts(t.job, t.task))
          throw new MayflyError(
            'CONFLICT',
            `Rank ${t.task} is not running on any node (waiting for a slot, being assigned, or finished), so ` +
              'it cannot be killed.',
          );
        runtime.dispatcher.step({ type: verb, ...t });
        return { ok: true as const };
      },
    });

  app.route({
    ...at('POST /api/jobs/:id/checkpoint'),
    handler: async (request) => {
      const view = needActive(request.params.id);
      needCheckpoints(view.protocol);
      const asked = view.tasks.filter((t) => t.state !== 'done' && t.state !== 'failed').map((t) => t.task);
      for (const task of asked) runtime.dispatcher.step({ type: 'checkpoint', job: view.id, task });
      return { asked };
    },
  });

  app.route({
    ...at('GET /api/jobs/:id/images'),
    handler: async (request) => {
      const view = runtime.need(request.params.id);
      return view.tasks.flatMap((t) =>
        runtime.checkpoints.core.imagesOf(view.id, t.task).map((i) => ({
          task: t.task,
          image: i.image,
          serial: i.serial,
          incarnation: i.incarnation,
          bytes: i.bytes,
          sentBytes: i.sentBytes,
          at: i.at,
        })),
      );
    },
  });
}

/** For whom a request has something compiled: who submits it, for as long as the connection stands. */
export function askerOf(request: FastifyRequest, reply: FastifyReply): Asker {
  const { name } = request.principal!;
  const left = new AbortController();
  // After the answer it says nothing any more; of the request `close` would say only that its body was read.
  reply.raw.once('close', () => left.abort());
  return {
    owner: name,
    signal: left.signal,
    waits: (waiting) => request.log.info({ owner: name, waiting }, 'a program waits to be compiled'),
  };
}

/** Checks, compiles and stores; the job exists when this resolves, and survives from then on. */
export async function submit(
  o: JobRoutes,
  s: JobSubmission,
  owner: string,
  more: {
    asker?: Asker;
    stdin?: Uint8Array;
    again?: Pick<JobSpec, 'seed' | 'compareWith'>;
    allowance?: JobSpec['allowance'];
    once?: Once;
  } = {},
): Promise<{ id: JobId; warnings: unknown[] }> {
  const { runtime, limits } = o;
  if (runtime.activeJobs() >= limits.activeJobs)
    throw new MayflyError(
      'TOO_MANY',
      `${limits.activeJobs} jobs are already waiting or running. Try again when some have ended.`,
    );
  if (s.notify !== undefined) runtime.webhooks.check(s.notify);
  for (const path of Object.keys(s.files ?? {})) needPath(path);
  const files = new Map<string, Uint8Array>();
  let bytes = 0;
  for (const [path, base64] of Object.entries(s.files ?? {})) {
    const data = decodeBase64(base64, `file '${path}'`);
    bytes += data.length;
    files.set(path, data);
  }
  const stdin = more.stdin ?? (s.stdin === undefined ? new Uint8Array(0) : decodeBase64(s.stdin, 'stdin'));
  if (bytes + stdin.length > limits.inputBytes)
    throw new MayflyError(
      'TOO_LARGE',
      `The input files have ${bytes + stdin.length} bytes; this server accepts ${limits.inputBytes}.`,
    );
  const submitted: FurtherPart[] = [{ program: s.program, size: s.size, args: s.args ?? [] }, ...(s.further ?? [])];
  needArguments(submitted);
  const size = submitted.reduce((n, part) => n + part.size, 0);
  if (size > MAX_RANKS)
    throw new MayflyError('BAD_REQUEST', `The programs have ${size} ranks together; a job has at most ${MAX_RANKS}.`);
  const admitted = o.quotas.admit(owner, { size, bytes: bytes + stdin.length }, runtime);
  try {
    return await take(o, { submission: s, submitted, size, files, owner, admitted, ...more, stdin });
  } finally {
    admitted.done();
  }
}

interface Taken {
  submission: JobSubmission;
  /** All its parts, and their ranks together. */
  submitted: readonly FurtherPart[];
  size: number;
  files: ReadonlyMap<string, Uint8Array>;
  stdin: Uint8Array;
  owner: string;
  admitted: Admitted;
  asker?: Asker;
  again?: Pick<JobSpec, 'seed' | 'compareWith'>;
  allowance?: JobSpec['allowance'];
  once?: Once;
}

async function take(o: JobRoutes, t: Taken): Promise<{ id: JobId; warnings: unknown[] }> {
  const { runtime, limits } = o;
  const {
    submission: s,
    submitted,
    size,
    files,
    stdin,
    owner,
    admitted,
    asker = { owner },
    again,
    allowance,
    once,
  } = t;
  const memoryBytes = rankMemoryOf(s.options?.memoryBytes, limits.rankMemoryBytes);
  const protocol = s.options?.protocol ?? DEFAULT_PROTOCOL;
  const clusters = clustersOf(protocol, s.options?.clusters, size);
  const where = needRooms(protocol, s, clusters, (code) => o.rooms.has(code));
  const programs: PreparedProgram[] = [];
  const parts: JobPart[] = [];
  for (const { program, size: count, args = [], env } of submitted) {
    const made = await prepareProgram(o.compilers, program, memoryBytes, asker);
    programs.push(made);
    const { language, entry, hash } = made;
    parts.push({ count, args, program: { language, entry, hash }, ...(env === undefined ? {} : { env }) });
  }
  needOneKind(programs);
  needTimers(protocol, s.options ?? {}, clusters);
  const checkpointMs = checkpointMsOf(protocol, s.options?.checkpointMs);
  needAccepted(protocol, s.options ?? {}, programs);
  needModes(s.options?.ft);
  const { program, args } = parts[0]!;
  o.disk.admit();
  const id = jobId(randomId(12));
  admitted.brings(bytesOfPrograms(programs));
  const { inputs, otherBytes } = await runtime.marks.making(id, () =>
    runtime.store.create({ job: id, submission: s, files, stdin, programs }),
  );
  const options = s.options ?? {};
  const team =
    options.team ??
    defaultTeam({ protocol, room: s.room, checkpointMs }, runtime.dispatcher.core.core.jobs.values(), clock());
  const spec: JobSpec = {
    id,
    name: plainName(s.name ?? '', program.entry.slice(-80)),
    ...(s.about ? { about: oneLine(s.about) } : {}),
    size,
    capacity: !accepts(protocol, 'spawn') || allowance ? size : Math.min(MAX_RANKS, size + MAX_SPAWNED),
    protocol,
    durability: options.durability ?? o.durability,
    ...(team === undefined ? {} : { team }),
    ...(options.parity === undefined ? {} : { parity: options.parity }),
    ...(options.ft === undefined ? {} : { ft: { ...options.ft, ...ftModes(options.ft) } }),
    ...(options.mapBy === undefined ? {} : { mapBy: options.mapBy }),
    program,
    args,
    ...(parts.length === 1 ? {} : { parts }),
    owner,
    ...(options.env === undefined ? {} : { env: options.env }),
    ...where,
    files: inputs,
    otherBytes,
    seed: again?.seed ?? s.options?.seed ?? randomBytes(6).readUIntBE(0, 6),
    ...(again?.compareWith === undefined ? {} : { compareWith: again.compareWith }),
    channelMemories: clusters ? Math.max(...clusters) + 1 : allowance ? 1 : o.channelMemories,
    ...(clusters && { clusters }),
    checkpointMs,
    ...(options.clusterCheckpointMs && { clusterCheckpointMs: options.clusterCheckpointMs }),
    ...(options.graceMs === undefined ? {} : { graceMs: options.graceMs }),
    ...(options.stuckAfterMs === undefined ? {} : { stuckAfterMs: options.stuckAfterMs }),
    ...(options.stuckFactor === undefined ? {} : { stuckFactor: options.stuckFactor }),
    timeLimitMs: timeLimitOf(options.timeLimitMs, limits.timeMs),
    outputLimitBytes: outputLimitOf(options.outputLimitBytes, limits.outputBytes),
    interactive: options.interactive ?? false,
    limits: { memoryBytes, fileBytes: limits.outputBytes },
    ...(allowance && { allowance }),
    ...(once && { once }),
    submittedAt: clock(),
  };
  try {
    await runtime.marks.made(id, async () => {
      if (s.notify !== undefined) await runtime.webhooks.expect(id, s.notify);
      await runtime.intake.submit(spec, stdin);
    });
  } catch (error) {
    // Unless the job was taken before something else failed.
    if (!runtime.view(id)) await runtime.webhooks.forget(id);
    throw error;
  }
  return { id, warnings: programs.flatMap((p) => p.warnings) };
}
