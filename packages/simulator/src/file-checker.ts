/**
 * K16, what the file service does to a job's files, held against {@link FileModel}:
 *
 *   each request of a task takes effect once, in the order of its channel; none whose answer was given is undone by a
 *   power loss; an answer is what the order of requests gives; of a read, what the file held when the answer was given;
 *   a program takes an answer that was given to that request; in the end the disk holds what the order of requests
 *   gives.
 */
import { FileOp, decodeFileRequest } from '@mayfly/wire';
import { FileModel, type Asked } from './file-model.ts';
import { mixBytes } from './program.ts';
import { Violation } from './violation.ts';

export class FileChecker {
  /** What was decided, in order; as long as the journal has it. */
  private readonly order: Asked[] = [];
  private model: FileModel;
  /** Answers by place in the order. */
  private answers: (Uint8Array | undefined)[] = [];
  /** Places in the order of each task's requests. */
  private places = new Map<number, number[]>();
  /** Digests of the answers to request r of a task. */
  private readonly given = new Map<string, Set<number>>();
  private readonly taken_ = new Map<string, { life: number; body: Uint8Array }>();
  /** Bytes on the disk, at the end. */
  disk: () => ReadonlyMap<string, Uint8Array> = () => new Map<string, Uint8Array>();

  /**
   * @param tasks those that the job was started with
   * @param supersedes whether a life of a task counts although another took an answer before
   */
  constructor(
    private readonly tasks: number,
    private readonly supersedes: (life: number, known: number) => boolean,
  ) {
    this.model = new FileModel(tasks);
  }

  /** The service has taken a request: its record stands in the journal. */
  decided(asked: Asked): void {
    const places = this.places.get(asked.task) ?? [];
    const before = places.length === 0 ? 0 : this.order[places.at(-1)!]!.channel;
    if (asked.channel <= before)
      throw new Violation(
        `K16: message ${asked.channel} of task ${asked.task} to the file service takes effect after message ${before}`,
      );
    this.places.set(asked.task, [...places, this.order.length]);
    this.order.push(asked);
    this.answers.push(this.model.apply(asked.body));
  }

  /** The journal lost what came after the first `n` requests. */
  lost(n: number): void {
    for (const [task, places] of this.places) {
      const kept = places.filter((p) => p < n);
      for (let r = kept.length + 1; r <= places.length; r++)
        if (this.given.has(`${task}#${r}`))
          throw new Violation(`K16: request ${r} of task ${task} is undone, and its answer was given`);
      this.places.set(task, kept);
    }
    const rest = this.order.splice(0).slice(0, n);
    this.model = new FileModel(this.tasks);
    this.answers = [];
    this.places = new Map();
    for (const asked of rest) this.decided(asked);
  }

  /** The answer to request r of a task goes to its log. */
  gives(task: number, r: number, error: number, body: Uint8Array): void {
    const place = this.places.get(task)?.[r - 1];
    if (place === undefined)
      throw new Violation(`K16: task ${task} is given an answer to request ${r}, which the journal does not have`);
    const request = decodeFileRequest(this.order[place]!.body)!;
    // of a read: what is there now, by a model that has taken all that was decided
    const due = request.op === FileOp.READ ? this.readNow(place) : this.answers[place];
    if (error !== 0 || due === undefined || mixBytes(0, body) !== mixBytes(0, due))
      throw new Violation(
        `K16: the answer to request ${r} of task ${task} (operation ${request.op}) is error ${error}, ` +
          `[${[...body].join(' ')}], not [${[...(due ?? [])].join(' ')}]`,
      );
    const key = `${task}#${r}`;
    const digests = this.given.get(key) ?? new Set();
    this.given.set(key, digests.add(mixBytes(0, body)));
  }

  private readNow(place: number): Uint8Array | undefined {
    const asked = this.order[place]!;
    // its file may be closed by now: the path is that of its task's last open before
    const opened = this.order
      .slice(0, place)
      .findLast((o) => o.task === asked.task && decodeFileRequest(o.body)!.op === FileOp.OPEN);
    const file = opened && this.model.files.get(decodeFileRequest(opened.body)!.name);
    const [offset = 0, bytes = 0] = decodeFileRequest(asked.body)!.segments;
    return file && Uint8Array.from(file.slice(offset, offset + bytes));
  }

  taken(task: number, life: number, r: number, body: Uint8Array): void {
    const key = `${task}#${r}`;
    const known = this.taken_.get(key);
    if (!known || this.supersedes(life, known.life)) this.taken_.set(key, { life, body });
  }

  takenBody(task: number, r: number): Uint8Array | undefined {
    return this.taken_.get(`${task}#${r}`)?.body;
  }

  atTheEnd(): void {
    for (const [key, { body }] of this.taken_)
      if (!this.given.get(key)?.has(mixBytes(0, body)))
        throw new Violation(`K16: a program took an answer to request ${key} that was never given`);
    const disk = this.disk();
    for (const [path, file] of this.model.files) {
      const is = disk.get(path);
      const differs =
        is?.length === file.length ? file.findIndex((b, i) => is[i] !== b) : Math.min(is?.length ?? 0, file.length);
      if (differs >= 0 && (is?.length !== file.length || differs < file.length))
        throw new Violation(
          `K16: ${path} has ${is?.length ?? 'no'} of ${file.length} bytes, and differs at ${differs}`,
        );
    }
    if (disk.size !== this.model.files.size)
      throw new Violation(`K16: the disk has ${disk.size} files of ${this.model.files.size}`);
  }
}
