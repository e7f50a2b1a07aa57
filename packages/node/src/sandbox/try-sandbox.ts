/**
 * What protects this machine from the programs that it runs: `mayfly volunteer --check`. Each layer is started alone
 * and tried from inside; then all of them together, as jobs run.
 */
import { chmodSync, mkdtempSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { ATTEMPTS, type Attempt, type Attempts, type Targets } from './attempts.ts';
import { Inbox } from './channel.ts';
import { checked } from './message-checks.ts';
import { chooseSandbox, deathOf, endChild, spawnChild, type Sandbox, type SandboxChoice } from './launch.ts';
import { treeOf } from './memory.ts';

const LIMIT_MS = 30_000;

export interface Layer {
  name: string;
  there: boolean;
  /** What was found, or what is missing. */
  found: string;
}

export interface Check {
  /** undefined: worker threads of the volunteer's own process. */
  sandbox: Sandbox | undefined;
  layers: Layer[];
  /** With all layers together, as jobs run here; undefined: nothing stands around them, and nothing was tried. */
  attempts: Attempts | undefined;
  /** What to install or to change to get more. */
  advice: string[];
  /** No attempt got through. */
  tight: boolean;
}

/** What the kernel reports about the process, from outside. */
interface Facts {
  seccomp: boolean;
  capabilities: boolean;
  uid: number | undefined;
  nice: number;
  /** Namespaces that the volunteer is not in; undefined: the kernel does not tell. */
  namespaces: string[] | undefined;
}

export interface Probed {
  attempts: Attempts;
  facts: Facts | undefined;
}

/** Runs the attempts in a process that is started like a job's. */
export async function probe(sandbox: Sandbox, disarmed: boolean): Promise<Probed> {
  const folder = mkdtempSync(join(tmpdir(), 'mayfly-check-'));
  // For anybody: that a file is another user's is not what is tried.
  chmodSync(folder, 0o777);
  const secretFile = join(folder, 'secret');
  writeFileSync(secretFile, 'secret', { mode: 0o644 });
  const listener = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
  await new Promise((resolve) => listener.once('listening', resolve));
  const spawned = await spawnChild(sandbox);
  try {
    const { child, pipe } = spawned;
    return await new Promise<Probed>((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`no answer within ${LIMIT_MS / 1000} s`)), LIMIT_MS);
      child.once('close', (code, signal) => reject(new Error(deathOf(code, signal, spawned.lastWords()))));
      const inbox = new Inbox(
        (head, body) => {
          const m = checked(head, body);
          if (m?.type !== 'probed') return;
          clearTimeout(late);
          resolve({
            attempts: Object.fromEntries(ATTEMPTS.map((name) => [name, m.attempts[name] ?? null])) as Attempts,
            facts: factsOf(child.pid!),
          });
        },
        (why) => reject(new Error(why)),
      );
      pipe.on('data', (chunk: Uint8Array) => inbox.push(chunk));
      const targets: Targets = {
        secretFile,
        newFile: join(folder, 'new'),
        volunteer: process.pid,
        port: (listener.address() as AddressInfo).port,
        program: sandbox.layers.kind === 'bwrap' ? '/mayfly/node' : process.execPath,
        environment: [],
      };
      spawned.send({ type: 'probe', targets, disarmed, rankFlags: spawned.rankFlags });
    });
  } finally {
    endChild(spawned);
    listener.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function factsOf(pid: number): Facts | undefined {
  // Below bubblewrap, its own helper and the first process of the namespace, Node is the last.
  const node = treeOf(pid)?.at(-1);
  if (node === undefined) return undefined;
  const status = readFileSync(`/proc/${node}/status`, 'utf8');
  const of = (name: string): string => new RegExp(`^${name}:\\s*(\\S+)`, 'm').exec(status)?.[1] ?? '';
  return {
    seccomp: of('Seccomp') === '2',
    capabilities: !/^0*$/.test(of('CapEff')),
    uid: Number(of('Uid')),
    nice: getPriority(node),
    namespaces: namespacesOf(node),
  };
}

function namespacesOf(pid: number): string[] | undefined {
  try {
    return ['user', 'pid', 'mnt', 'ipc', 'uts', 'cgroup', 'net'].filter(
      (name) => readlinkSync(`/proc/${pid}/ns/${name}`) !== readlinkSync(`/proc/self/ns/${name}`),
    );
  } catch {
    return undefined; // Some systems hide them.
  }
}

const PERMISSION: readonly Attempt[] = [
  'read a file',
  'write a file',
  'start a program',
  'start a thread without limits',
  'load an addon',
  "get Node's internals",
  'open the inspector',
  'open a database file',
  'use WASI',
];
const FILES: readonly Attempt[] = ['read a file', 'write a file', 'open a database file'];
const PROCESSES: readonly Attempt[] = ['signal the volunteer', 'see other processes'];
const NETWORK: readonly Attempt[] = ['connect to another address'];
const CALLS: readonly Attempt[] = ['start a program', 'listen for connections'];

const layer = (name: string, { attempts }: Probed, of: readonly Attempt[], more = true, missing = ''): Layer => {
  const open = of.filter((a) => attempts[a] === null);
  const found = open.length > 0 ? `got through: ${open.join(', ')}` : more ? `denied: ${of.join(', ')}` : missing;
  return { name, there: open.length === 0 && more, found };
};

/** @throws when what is asked for does not work here */
export async function checkSandbox(choice: SandboxChoice, folder: string, nice?: number): Promise<Check> {
  if (choice === 'none')
    return {
      sandbox: undefined,
      layers: [],
      attempts: undefined,
      advice: ["leave out '--sandbox none'"],
      tight: false,
    };
  const sandbox = await chooseSandbox(choice, folder, nice);
  const whole = await probe(sandbox, true);
  const { layers: chosen } = sandbox;
  const about = [
    `nice ${whole.facts?.nice ?? chosen.nice}`,
    'no environment',
    'no descriptors of the volunteer',
    ...(whole.facts && process.getuid?.() === 0 ? [`user ${whole.facts.uid}`] : []),
  ];
  const layers: Layer[] = [
    {
      name: 'a process of its own',
      there: whole.attempts["see the volunteer's environment"] !== null,
      found: about.join(', '),
    },
  ];
  const permission = await probe({ ...sandbox, layers: { ...chosen, kind: 'process', permission: true } }, false);
  layers.push(layer(`Node's permission model (${process.version})`, permission, PERMISSION));
  layers.push(layer("Node's permission model: network", permission, NETWORK));
  if (chosen.kind === 'bwrap') {
    const wrapped = await probe({ ...sandbox, layers: { ...chosen, permission: false } }, false);
    const namespaces = wrapped.facts?.namespaces;
    if (namespaces)
      layers.push({
        name: 'bubblewrap: namespaces',
        there: namespaces.length > 0,
        found: `its own: ${namespaces.join(', ')}`,
      });
    layers.push(layer('bubblewrap: files', wrapped, FILES));
    layers.push(
      layer('bubblewrap: processes', wrapped, PROCESSES, !wrapped.facts?.capabilities, 'the process has capabilities'),
    );
    layers.push(
      layer(
        'bubblewrap: network',
        wrapped,
        NETWORK,
        chosen.ownNetwork,
        'no network namespace; connections are denied by the filter of system calls alone',
      ),
    );
    layers.push(
      layer(
        'seccomp: system calls',
        wrapped,
        CALLS,
        wrapped.facts?.seccomp ?? false,
        `no filter for this processor (${process.arch})`,
      ),
    );
  } else layers.push({ name: 'bubblewrap', there: false, found: sandbox.missing[0] ?? 'not asked for' });
  const tight = ATTEMPTS.every((name) => whole.attempts[name] !== null);
  return { sandbox, layers, attempts: whole.attempts, advice: adviceFor(sandbox, whole.attempts), tight };
}

function adviceFor(sandbox: Sandbox, attempts: Attempts): string[] {
  const advice = sandbox.missing.map((m) => m[0]!.toUpperCase() + m.slice(1));
  if (sandbox.layers.kind === 'process' && attempts['connect to another address'] === null) {
    if (process.platform !== 'linux') advice.push('Node 25 and newer denies the network, too: install it');
    advice.push("the option --browser runs jobs in a browser's sandbox, on every system");
  }
  return advice;
}
