/** Schema pieces that several message families share. */
import { Type, type Static } from 'typebox';
import type { ImageId, Incarnation, JobId, NodeId, TaskId } from './ids.ts';

export const TaskIdSchema = Type.Unsafe<TaskId>(Type.Integer({ minimum: 0, maximum: 0xffff_ffff }));
export const IncarnationSchema = Type.Unsafe<Incarnation>(Type.Integer({ minimum: 0, maximum: 0xffff_fffe }));
export const CountSchema = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
export const JobIdSchema = Type.Unsafe<JobId>(Type.String({ pattern: '^[0-9a-z]{12}$' }));
export const NodeIdSchema = Type.Unsafe<NodeId>(Type.String({ pattern: '^[0-9a-z]{8,32}$' }));
export const ImageIdSchema = Type.Unsafe<ImageId>(Type.String({ pattern: '^[0-9a-z-]{1,64}$' }));
/** BLAKE3-256 of a page or of a program, hexadecimal. */
export const HashSchema = Type.String({ pattern: '^[0-9a-f]{64}$' });

/** Every error that crosses a border: a stable code of the registry in errors.ts, and a sentence with what to do. */
export const ErrorBody = Type.Object({
  code: Type.String({ maxLength: 64 }),
  message: Type.String({ maxLength: 65536 }),
});
export type ErrorBody = Static<typeof ErrorBody>;
