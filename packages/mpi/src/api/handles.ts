/** Operations and error handlers of the API: the record is the layer's, the function stays here. */
import { ERRORS_ARE_FATAL, ERRORS_RETURN } from '../constants.ts';
import { ERR, fail } from '../errors.ts';
import { elementType, elements, type ElementArray } from '../datatypes.ts';
import * as bundles from '../bundle.ts';
import { reduction } from '../checks.ts';
import { releaseSpace } from '../layer.ts';
import { BUILTIN_OPS } from '../ops.ts';
import { combine } from '../schedule.ts';
import { insert } from '../handle-table.ts';
import { contextOf, Held } from './held.ts';
import { place } from './datatype.ts';
import type { Context, ErrorFunction } from './context.ts';
import type * as Mayfly from '../../types/mayfly.d.ts';

export class OpObject extends Held implements Mayfly.Op {
  constructor(
    context: Context,
    readonly handle: number,
    readonly name: string,
    readonly commutative: boolean,
  ) {
    super(context);
  }

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
  reduceLocal<A extends Mayfly.Buffer>(input: Mayfly.Of<A>, inout: Mayfly.Of<A>): void {
    const call = 'MPI_Reduce_local';
    contextOf(this).call(() => {
      const { layer } = contextOf(this);
      const b = bundles.bundle();
      try {
        const [x, y] = [
          place(contextOf(this), b, input, call, 0, 'the input'),
          place(contextOf(this), b, inout, call, 0, 'the result'),
        ];
        if (x.element !== y.element) fail(ERR.TYPE, call, 'the buffers have different element types');
        if (!x.element)
          return fail(ERR.TYPE, call, 'the datatype has elements of different types: no operation is for them');
        const [from, into] = [bundles.outgoing(layer, b, x.place), bundles.both(layer, b, y.place)];
        if (from.bytes !== into.bytes) fail(ERR.COUNT, call, `${from.bytes} bytes for ${into.bytes}`);
        reduction(layer, 0, this.handle, x.element.id, into.bytes, call);
        combine(layer, this.handle, x.element.id, from, into);
        bundles.unpackNow(layer, b);
      } finally {
        for (const space of b.spaces) releaseSpace(layer, space);
      }
    });
  }
  free(): void {
    contextOf(this).call(() => {
      if (this.handle <= BUILTIN_OPS.length) fail(ERR.OP, 'MPI_Op_free', `${this.name} is predefined`);
      if (!contextOf(this).layer.state.ops.rows.delete(this.handle))
        fail(ERR.OP, 'MPI_Op_free', 'the operation was freed before');
      contextOf(this).layer.opCallbacks.delete(this.handle);
    });
  }
}

export class ErrorHandlerObject extends Held implements Mayfly.ErrorHandler {
  constructor(
    context: Context,
    readonly handle: number,
    readonly name: string,
  ) {
    super(context);
  }

  /** The one that an object has. */
  static get(context: Context, handle: number): ErrorHandlerObject {
    const predefined: Record<number, string> = {
      [ERRORS_ARE_FATAL]: 'MPI_ERRORS_ARE_FATAL',
      [ERRORS_RETURN]: 'MPI_ERRORS_RETURN',
    };
    return new ErrorHandlerObject(
      context,
      handle,
      context.layer.state.errhandlers.rows.get(handle)?.name ?? predefined[handle] ?? 'user-defined error handler',
    );
  }
  static create(context: Context, fn: ErrorFunction): ErrorHandlerObject {
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
    if (this.handle > 3) contextOf(this).layer.state.errhandlers.rows.delete(this.handle);
  }
}
