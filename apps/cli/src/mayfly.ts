/**
 * Where the process starts. A compiler driver is called hundreds of times in a build, so its way loads a few small
 * modules only; everything else is the command line of main.ts.
 */
import { isDriver } from './drivers/names.ts';

const [name, ...argv] = process.argv.slice(2);
if (isDriver(name)) await (await import('./drivers/driver.ts')).driver(name, argv);
else await import('./main.ts');
