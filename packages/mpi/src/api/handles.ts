/** Operations and error handlers of the API: the record is the layer's, the function stays here. */
import { ERR, fail } from '../errors.ts';
import { elementType, elements, type ElementArray } from '../datatypes.ts';
import { BUILTIN_OPS } from '../ops.ts';
import { insert } from '../table.ts';
import type { Context } from './context.ts';
import type * as Mayfly from '../../types/mayfly.d.ts';

export class OpObject implements Mayfly.Op {
  constructor(
    private readonly context: Context,
    readonly handle: number,
    readonly name: string,
    readonly commutative: boolean,
  ) {}

  static create(context: Context, fn: (input: never, inout: never) => void, commute: boolean): OpObject {
    return context.call(() => {
      const call = 'MPI_Op_create';
      if (typeof fn !== 'function') fail(ERR.OP, call, 'the first argument is not a function');
      if (typeof commute !== 'boolean') fail(ERR.ARG, call, 'say whether it commutes (true or false)');
      const name = fn.name || 'user-defined operation';
      const handle = insert(context.layer.state.ops, { name, commute });
      const user = fn as unknown as (input: ElementArray, inout: ElementArray) => void;
      context.layer.opCallbacks.set(handle, (input, inout, typeId) => {
        const type = elementType(typeId);
        const a = elements(type, input);
        const b = elements(type, inout);
        user(a.array, b.array);
        if (b.copied) inout.set(new Uint8Array(b.array.buffer, b.array.byteOffset, b.array.byteLength));
      });
      return new OpObject(context, handle, name, commute);
    });
  }
  static of(op: unknown, call: string, comm: number): number {
    return op instanceof OpObject ? op.handle : fail(ERR.OP, call, 'the operation is not an Op', comm);
  }
  free(): void {
    this.context.call(() => {
      if (this.handle <= BUILTIN_OPS.length) fail(ERR.OP, 'MPI_Op_free', `${this.name} is predefined`);
      if (!this.context.layer.state.ops.rows.delete(this.handle)) fail(ERR.OP, 'MPI_Op_free', 'the operation was freed before');
      this.context.layer.opCallbacks.delete(this.handle);
    });
  }
}

export class ErrorHandlerObject implements Mayfly.ErrorHandler {
  constructor(
    private readonly context: Context,
    readonly handle: number,
    readonly name: string,
  ) {}

  static create(context: Context, fn: (comm: Mayfly.Comm, error: Mayfly.MPIError) => void): ErrorHandlerObject {
    return context.call(() => {
      if (typeof fn !== 'function') fail(ERR.ARG, 'MPI_Comm_create_errhandler', 'the argument is not a function');
      const name = fn.name || 'user-defined error handler';
      const handle = insert(context.layer.state.errhandlers, { name });
      context.errorCallbacks.set(handle, fn);
      return new ErrorHandlerObject(context, handle, name);
    });
  }
  /** Communicators that have it keep it (§9.3). */
  free(): void {
    if (this.handle > 3) this.context.layer.state.errhandlers.rows.delete(this.handle);
  }
}
