/** The examples as the fault tests run them: long enough on two slow cores that a fault meets them in the middle. */
export interface Workload {
  example: string;
  size: number;
  args: string[];
}

export const WORKLOADS: Workload[] = [
  { example: 'ring', size: 4, args: ['--laps', '800'] },
  { example: 'pi', size: 4, args: ['--intervals', '200000000', '--rounds', '600'] },
  { example: 'heat', size: 4, args: ['--points', '126', '--steps', '500', '--pictures', '4'] },
  { example: 'mandelbrot', size: 4, args: ['--width', '640', '--iterations', '6000'] },
  { example: 'sample-sort', size: 4, args: ['--keys', '50000', '--rounds', '20'] },
  { example: 'cg', size: 4, args: ['--matrix', '1138_bus.mtx', '--repeat', '1'] },
];
