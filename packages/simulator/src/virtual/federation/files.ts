/**
 * The three files of the paper's simulator: "The user has to provide three files: a topology file, an application file
 * and a timer file" (hc3i, section 5.1). Here they are JSON, with a unit in each name.
 */

/** Of a network: one way, and what one node sends or receives. */
export interface LinkSpec {
  readonly latencyUs: number;
  readonly bandwidthMbps: number;
}

/**
 * "The topology file specifies the number of clusters, the number of nodes in each cluster, the bandwidth and latency
 * in each cluster and between clusters (represented as a triangular matrix) and the federation MTBF".
 */
export interface TopologyFile {
  readonly clusters: readonly (LinkSpec & { readonly nodes: number })[];
  /** Row i: to the clusters before i. The first row is empty. */
  readonly between: readonly (readonly LinkSpec[])[];
  /** Without it nothing fails. */
  readonly mtbfHours?: number;
}

/**
 * "The application file contains, for each cluster, the mean computation time for each node, communication patterns
 * between computations (represented by probabilities between nodes) and the application total time."
 */
export interface ApplicationFile {
  readonly hours: number;
  readonly clusters: readonly {
    /** From one message of a node to its next, mean of an exponential distribution, s. */
    readonly computationS: number;
    /** By cluster: probability that a message goes to one of its nodes; all of them alike. */
    readonly to: readonly number[];
  }[];
}

/** "The timers file contains the delays for the protocol timers for each cluster". */
export interface TimersFile {
  /** By cluster: from a CLC to the next that no message forces; null: there are none. */
  readonly clusters: readonly { readonly clcMinutes: number | null }[];
  /** Null: no garbage collection. */
  readonly garbageHours: number | null;
}

export interface SimulationFiles {
  readonly topology: TopologyFile;
  readonly application: ApplicationFile;
  readonly timers: TimersFile;
}

type Json = Readonly<Record<string, unknown>>;

/** Checks what was read from files. @throws Error that names the file and the field */
export function checkFiles(topology: unknown, application: unknown, timers: unknown): SimulationFiles {
  const t = object(topology, 'topology');
  const clusters = list(t['clusters'], 'topology: clusters').map((c, i) => object(c, `topology: clusters[${i}]`));
  if (clusters.length < 1 || clusters.length > 64) throw new Error('topology: expected 1 to 64 clusters');
  const k = clusters.length;
  clusters.forEach((c, i) => {
    whole(c['nodes'], `topology: clusters[${i}].nodes`);
    link(c, `topology: clusters[${i}]`);
  });
  const between = rows(t['between'], k, 'topology: between');
  between.forEach((row, i) => {
    const links = list(row, `topology: between[${i}]`);
    if (links.length !== i) throw new Error(`topology: between[${i}] needs ${i} entries, one for each cluster before`);
    links.forEach((l, j) => link(object(l, `topology: between[${i}][${j}]`), `topology: between[${i}][${j}]`));
  });
  if (t['mtbfHours'] !== undefined) positive(t['mtbfHours'], 'topology: mtbfHours');
  const a = object(application, 'application');
  positive(a['hours'], 'application: hours');
  rows(a['clusters'], k, 'application: clusters').forEach((row, i) => {
    const c = object(row, `application: clusters[${i}]`);
    positive(c['computationS'], `application: clusters[${i}].computationS`);
    const to = rows(c['to'], k, `application: clusters[${i}].to`);
    const sum = to.reduce<number>((s, p) => s + probability(p, `application: clusters[${i}].to`), 0);
    if (Math.abs(sum - 1) > 1e-6) throw new Error(`application: clusters[${i}].to adds up to ${sum}, not to 1`);
  });
  const s = object(timers, 'timers');
  rows(s['clusters'], k, 'timers: clusters').forEach((row, i) => {
    const { clcMinutes } = object(row, `timers: clusters[${i}]`);
    if (clcMinutes !== null) positive(clcMinutes, `timers: clusters[${i}].clcMinutes`);
  });
  if (s['garbageHours'] !== null) positive(s['garbageHours'], 'timers: garbageHours');
  return { topology, application, timers } as SimulationFiles;
}

function object(x: unknown, what: string): Json {
  if (typeof x !== 'object' || x === null || Array.isArray(x)) throw new Error(`${what}: expected an object`);
  return x as Json;
}
function list(x: unknown, what: string): readonly unknown[] {
  if (!Array.isArray(x)) throw new Error(`${what}: expected a list`);
  return x;
}
function rows(x: unknown, clusters: number, what: string): readonly unknown[] {
  const all = list(x, what);
  if (all.length !== clusters) throw new Error(`${what} needs ${clusters} entries, one for each cluster`);
  return all;
}
function positive(x: unknown, what: string): number {
  if (typeof x !== 'number' || !(x > 0) || !Number.isFinite(x)) throw new Error(`${what}: expected a number above 0`);
  return x;
}
function whole(x: unknown, what: string): void {
  if (!Number.isSafeInteger(x) || positive(x, what) > 10_000) throw new Error(`${what}: expected 1 to 10000`);
}
function probability(x: unknown, what: string): number {
  if (typeof x !== 'number' || !(x >= 0) || x > 1) throw new Error(`${what}: expected probabilities`);
  return x;
}
function link(x: Json, what: string): void {
  positive(x['latencyUs'], `${what}.latencyUs`);
  positive(x['bandwidthMbps'], `${what}.bandwidthMbps`);
}
