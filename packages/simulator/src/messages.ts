/**
 * Control and image messages between a simulated volunteer and the simulated server: the real ones without their
 * encoding.
 */
import type {
  ErrorBody,
  Heartbeat,
  Hello,
  Hold,
  ImageId,
  Incarnation,
  JobId,
  Manifest,
  NodeId,
  Position,
  TaskId,
  TaskReport,
} from '@mayfly/wire';
import type { SimImage } from './rank-host.ts';

export type ControlUp =
  | { type: 'hello'; hello: Hello }
  | { type: 'heartbeat'; heartbeat: Heartbeat }
  | { type: 'report'; report: TaskReport }
  | { type: 'goodbye'; reason: string };

export type ControlDown =
  | { type: 'welcome'; node: NodeId; drop: Hold[] }
  | {
      type: 'assign';
      job: JobId;
      task: TaskId;
      incarnation: Incarnation;
      position: Position;
      serial: number;
      image: SimImage | undefined;
      team: readonly TaskId[] | undefined;
      ended: readonly TaskId[] | undefined;
    }
  | { type: 'revoke'; job: JobId; task: TaskId; incarnation: Incarnation; error: ErrorBody }
  /** An image is wanted. */
  | { type: 'checkpoint'; task: TaskId; last?: boolean | undefined; atCall?: number | undefined };

export type ImageUp =
  | { type: 'offer'; task: TaskId; incarnation: Incarnation; manifest: Manifest; image: SimImage; near?: boolean }
  | { type: 'pages'; image: ImageId; pages: number[] }
  | { type: 'end'; image: ImageId };

export type ImageDown =
  | { type: 'need'; image: ImageId; pages: number[] }
  | { type: 'reply'; image: ImageId; reply: 'stored' | 'complete' | 'refused' };
