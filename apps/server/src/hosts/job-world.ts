/** The output of one open job: what the host of the world has of it in memory. */
import { Compile } from 'typebox/compile';
import type { FileService } from '@mayfly/protocols';
import type { OpenOutput, TaskOutput } from '@mayfly/storage/ports';
import { ExitReport, MESSAGE_JSON, parseJson, type Incarnation, type TaskId } from '@mayfly/wire';
import type { SpawnPatience } from '../jobs/spawn-patience.ts';
import type { WorldOptions } from './world-listener.ts';

const exitReport = Compile(ExitReport);
const utf8 = new TextDecoder('utf-8', { fatal: true });

export interface Message {
  task: TaskId;
  incarnation: Incarnation;
  n: number;
  mode: number;
  body: Uint8Array;
}

export interface JobWorld {
  output: OpenOutput;
  limit: number;
  options: WorldOptions;
  /** O6. */
  stopped: boolean;
  /** Its files are closed. */
  released: boolean;
  /** O6: of a job without a log. */
  unwritten: Message[];
  /** A sync may have failed: the journal is written again before anything of it counts as durable. */
  doubtful: boolean;
  /** Bytes of all streams. */
  streams: number;
  failed: boolean;
  /** Those that have written since it was opened, or before. */
  tasks: Map<TaskId, TaskOutput>;
  service: FileService;
  durable: boolean;
  /** Spawns that were reported to the rest of the server. */
  told: number;
  /** O5: requests of each task whose records are durable. */
  answerable: Map<TaskId, number>;
  patience: SpawnPatience;
  /** Syncs under way: their files are closed when there is none. */
  syncs: Set<Promise<void>>;
  /** All is durable, and nothing is written any more. */
  closing: boolean;
  /** A second call waits for the first. */
  closed?: Promise<boolean>;
  committing: Promise<void> | undefined;
  compacting: Promise<void> | undefined;
}

export const totalOf = (o: JobWorld): number => o.streams + o.service.total;

export function readExit(body: Uint8Array): ExitReport {
  try {
    const report: unknown = parseJson(utf8.decode(body), MESSAGE_JSON);
    if (exitReport.Check(report)) return report;
  } catch {
    // Falls through: the node sent nonsense.
  }
  return { code: 255, abort: { code: 'PROGRAM_ERROR', message: 'The task ended with an invalid report.' } };
}
