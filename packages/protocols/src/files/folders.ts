/** What the file service looks up by path: names that are counted, and folders. Each question takes the same time. */

export class Counts {
  readonly #counts = new Map<string, number>();

  has(name: string): boolean {
    return this.#counts.has(name);
  }
  add(name: string): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }
  remove(name: string): void {
    const left = (this.#counts.get(name) ?? 0) - 1;
    if (left > 0) this.#counts.set(name, left);
    else this.#counts.delete(name);
  }
  clear(): void {
    this.#counts.clear();
  }
}

/** The folders that the paths of files imply, and those that were made (S9 of file-service.ts). */
export class Folders {
  readonly #files = new Counts();
  readonly #made = new Set<string>();

  get made(): ReadonlySet<string> {
    return this.#made;
  }
  isDirectory(path: string): boolean {
    return path === '' || this.#made.has(path) || this.has(path);
  }
  make(path: string): void {
    if (this.#made.has(path)) return;
    this.#made.add(path);
    this.add(path);
  }
  unmake(path: string): void {
    if (this.#made.delete(path)) this.remove(path);
  }
  /** These were made, and no others. */
  remake(paths: readonly string[]): void {
    for (const path of this.#made) this.unmake(path);
    for (const path of paths) this.make(path);
  }

  /** Something lies below this path. */
  has(path: string): boolean {
    return this.#files.has(path);
  }
  add(path: string): void {
    for (const folder of foldersOf(path)) this.#files.add(folder);
  }
  remove(path: string): void {
    for (const folder of foldersOf(path)) this.#files.remove(folder);
  }
}

function* foldersOf(path: string): Generator<string> {
  for (let i = path.indexOf('/'); i > 0; i = path.indexOf('/', i + 1)) yield path.slice(0, i);
}
