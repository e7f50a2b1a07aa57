/** mpi.h is what the tables say. Write it anew: npx vitest run packages/libmpi/test/abi/header.test.ts -u */
import { expect, test } from 'vitest';
import { headerText } from '../../src/abi/header.ts';

test('include/mpi.h is current', async () => {
  await expect(headerText()).toMatchFileSnapshot('../../include/mpi.h');
});
