/** Datatypes that are made of one basic type alone. */
import { DERIVED, elementType, type ElementType } from '../datatypes.ts';
import type { Layer } from '../layer.ts';
import type { TypeRecord } from './datatype-record.ts';
import { typeOf } from './datatype-table.ts';

/** The basic type of all elements; undefined: there are several, or none. */
export function uniform(layer: Layer, t: TypeRecord, call: string): ElementType | undefined {
  if (t.element < DERIVED) return elementType(t.element);
  const parts = t.contents.types.map((p) => uniform(layer, typeof p === 'number' ? typeOf(layer, p, call) : p, call));
  return parts.every((p) => p === parts[0]) ? parts[0] : undefined;
}
