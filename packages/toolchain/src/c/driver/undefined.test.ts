import { expect, it } from 'vitest';
import { explainUndefined } from './undefined.ts';

it('a note for a missing function of C++ is about its name, not about the types of its result or arguments', () => {
  const line = (symbol: string): string => `wasm-ld: error: x.o: undefined symbol: ${symbol}\n`;
  const notes = (symbol: string): string => explainUndefined(line(symbol) + line('mine'), 'mpicxx');
  expect(notes('MPI_ABI_Datatype* type_of<int>()')).toBe('');
  expect(notes('send(MPI_ABI_Datatype*)')).toBe('');
  expect(notes('MPI_Nonsense(MPI_ABI_Comm*)')).toBe('mpicxx: note: MPI_Nonsense: mpi.h does not declare it\n');
  expect(notes('PMPI_Nonsense')).toBe('mpicxx: note: PMPI_Nonsense: mpi.h does not declare it\n');
  expect(notes('socket')).toBe('mpicxx: note: socket: a rank has no network but MPI\n');
});
