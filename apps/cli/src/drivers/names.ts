/** The commands that build systems call, and the tool behind each. */
export const DRIVERS = {
  mpicc: 'mpicc',
  mpicxx: 'mpicxx',
  'mpic++': 'mpicxx',
  mpiCC: 'mpicxx',
  ar: 'ar',
  ranlib: 'ranlib',
  nm: 'nm',
  objdump: 'objdump',
  size: 'size',
  strip: 'strip',
} as const;

export type DriverName = keyof typeof DRIVERS;
export type Tool = (typeof DRIVERS)[DriverName];

export const isDriver = (name: string | undefined): name is DriverName =>
  name !== undefined && Object.hasOwn(DRIVERS, name);
