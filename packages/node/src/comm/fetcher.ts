/**
 * What a rank needs from the server before and while it runs: its program, the pages of its image, its input files. GET
 * without credentials, the capability in the query; everything is named by its hash and checked against it. Failures of
 * the network are tried again for as long as the task is here; refusals are final.
 */
import { Assembly, createHash } from '@mayfly/checkpoint';
import { MayflyError, type Assignment, type ErrorCode, type Manifest } from '@mayfly/wire';
import type { CommSeams } from './seams.ts';

const RETRY_MS = [100, 200, 500, 1000, 2000, 5000];
/** Pages of an image fetched at the same time, each alone. */
const PARALLEL = 6;
/** Up to so many pages are fetched alone. */
const FEW_PAGES = 3;
/** Pages of one run (8 MB), and runs fetched at the same time. */
const RUN_PAGES = 128;
const RUNS = 2;
/** Input files kept in memory for the next reader of the same node. */
const CACHE_BYTES = 64 * 1024 * 1024;

/** @throws MayflyError BAD_MODULE: every node will say so */
async function compiled(bytes: Uint8Array): Promise<WebAssembly.Module> {
  try {
    return await WebAssembly.compile(bytes as Uint8Array<ArrayBuffer>);
  } catch (e) {
    if (e instanceof WebAssembly.CompileError)
      throw new MayflyError(
        'BAD_MODULE',
        `the program is not a WebAssembly module that this engine takes: ${e.message}`,
      );
    throw e;
  }
}

export class Fetcher {
  private readonly programs = new Map<string, Promise<string | WebAssembly.Module>>();
  private readonly files = new Map<string, Uint8Array>();
  private cached = 0;

  constructor(
    private readonly server: string,
    private readonly seams: CommSeams,
    private readonly note: (text: string) => void = () => undefined,
  ) {}

  private url(path: string, capability: string): string {
    return `${this.server}${path}?cap=${encodeURIComponent(capability)}`;
  }

  /** @throws MayflyError when the server refuses, or `alive()` turned false. */
  private async get(url: string, alive: () => boolean, check?: (bytes: Uint8Array) => boolean): Promise<Uint8Array> {
    for (let attempt = 0; ; attempt++) {
      if (!alive()) throw new MayflyError('FENCED', 'the task has left this node');
      const answer = await this.seams.get(url).catch(() => undefined);
      if (answer?.status === 200) {
        if (!check || check(answer.bytes)) return answer.bytes;
        // A damaged copy on the way may pass; one on the server's disk will not.
        if (attempt >= 3) throw new MayflyError('BAD_REQUEST', `${new URL(url).pathname} does not match its hash`);
      } else if (
        answer &&
        answer.status >= 400 &&
        answer.status < 500 &&
        answer.status !== 429 &&
        answer.status !== 408
      ) {
        let code: ErrorCode = answer.status === 403 || answer.status === 401 ? 'FORBIDDEN' : 'NOT_FOUND';
        let message = `${new URL(url).pathname}: HTTP ${answer.status}`;
        try {
          const body = JSON.parse(new TextDecoder().decode(answer.bytes)) as { code?: ErrorCode; message?: string };
          code = body.code ?? code;
          message = body.message ?? message;
        } catch {
          // Not from our server, perhaps a proxy's page. The status is enough.
        }
        throw new MayflyError(code, message);
      }
      await new Promise<void>((resolve) =>
        this.seams.after(RETRY_MS[Math.min(attempt, RETRY_MS.length - 1)]!, resolve),
      );
    }
  }

  /**
   * A script, or a module that is compiled once for all ranks of this frame. What one of them asked for is refused, or
   * left, with that one only: the next asks for itself.
   */
  async program(a: Assignment, alive: () => boolean): Promise<string | WebAssembly.Module> {
    const hash = a.program.hash;
    for (let another; (another = this.programs.get(hash)) !== undefined;) {
      const program = await another.catch(() => undefined);
      if (program !== undefined) return program;
    }
    const script = (a.program.language as string) === 'typescript';
    const own = this.verified(`/data/program/${a.job}`, a.capability, hash, alive).then((b) =>
      script ? new TextDecoder().decode(b) : compiled(b),
    );
    this.programs.set(hash, own);
    own.catch(() => this.programs.delete(hash));
    return own;
  }

  private async verified(path: string, capability: string, hash: string, alive: () => boolean): Promise<Uint8Array> {
    const of = await createHash();
    return this.get(this.url(path, capability), alive, (b) => of(b) === hash);
  }

  async file(a: Assignment, path: string, alive: () => boolean): Promise<Uint8Array> {
    const entry = a.files.find((f) => f.path === path);
    if (!entry) throw new MayflyError('NOT_FOUND', `no input file ${path}`);
    const kept = this.files.get(entry.hash);
    if (kept) return kept;
    const bytes = await this.verified(`/data/files/${a.job}/${entry.hash}`, a.capability, entry.hash, alive);
    if (this.cached + bytes.length <= CACHE_BYTES && !this.files.has(entry.hash)) {
      this.files.set(entry.hash, bytes);
      this.cached += bytes.length;
    }
    return bytes;
  }

  /** Sections of an image: pages from the local store where it has them, the others from the server. */
  async image(
    a: Assignment,
    manifest: Manifest,
    local: ((hash: string) => Promise<Uint8Array | undefined>) | undefined,
    alive: () => boolean,
  ): Promise<Map<string, Uint8Array<ArrayBuffer>>> {
    if (manifest.program !== a.program.hash)
      throw new MayflyError('BAD_REQUEST', `image ${manifest.image} was written by another build of the program`);
    const assembly = new Assembly(manifest, await createHash());
    const missing = new Set(assembly.pages);
    const each = async (over: Iterator<string>, fetch: (name: string) => Promise<void>): Promise<void> => {
      for (let n = over.next(); !n.done; n = over.next()) await fetch(n.value);
    };
    const inParallel = (
      names: Iterable<string>,
      ways: number,
      fetch: (name: string) => Promise<void>,
    ): Promise<unknown> => {
      const over = names[Symbol.iterator]();
      return Promise.all(Array.from({ length: ways }, () => each(over, fetch)));
    };
    if (local)
      await inParallel([...missing], PARALLEL, async (name) => {
        const page = await local(name);
        if (page && assembly.place(name, page)) missing.delete(name);
      });
    if (missing.size > FEW_PAGES) await this.runs(a, manifest, assembly, missing, alive);
    const at = new Map(assembly.pages.map((name, i) => [name, i]));
    await inParallel([...missing], PARALLEL, async (name) => {
      await this.get(this.pages(a, manifest, at.get(name)!, 1), alive, (b) => assembly.place(name, b));
    });
    return assembly.sections();
  }

  private pages(a: Assignment, { image }: Manifest, from: number, count: number): string {
    const pages = this.url(`/data/images/${a.job}/${a.task}/${image}/pages`, a.capability);
    return `${pages}&from=${from}&count=${count}`;
  }

  /**
   * Pages in long runs: a request for each would be a round trip for each. Tried once; whatever does not come this way
   * is asked for alone.
   */
  private async runs(
    a: Assignment,
    manifest: Manifest,
    assembly: Assembly,
    missing: Set<string>,
    alive: () => boolean,
  ): Promise<void> {
    let from = 0;
    const one = async (): Promise<void> => {
      while (from < assembly.pages.length && alive()) {
        const names = assembly.pages.slice(from, from + RUN_PAGES);
        const url = this.pages(a, manifest, from, names.length);
        from += names.length;
        if (!names.some((name) => missing.has(name))) continue;
        const answer = await this.seams.get(url).catch(() => undefined);
        if (answer?.status !== 200)
          return this.note(
            `pages of image ${manifest.image} are fetched one by one: HTTP ${answer?.status ?? 'failed'}`,
          );
        let at = 0;
        for (const name of names) {
          const length = assembly.length(name);
          if (assembly.place(name, answer.bytes.subarray(at, at + length))) missing.delete(name);
          at += length;
        }
      }
    };
    await Promise.all(Array.from({ length: RUNS }, one));
  }
}
