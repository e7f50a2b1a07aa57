/** The parameters of a run in virtual time. Each has a name, a unit and a source; all are printed above the figures. */

export interface Parameter {
  readonly value: number;
  readonly unit: string;
  /** `paper`: from its text; `ours`: measured here; `guess`: a run with it halved and doubled shows what it matters. */
  readonly source: 'paper' | 'ours' | 'guess';
  readonly about: string;
}

const paper = (value: number, unit: string, about: string): Parameter => ({ value, unit, source: 'paper', about });
const ours = (value: number, unit: string, about: string): Parameter => ({ value, unit, source: 'ours', about });
const guess = (value: number, unit: string, about: string): Parameter => ({ value, unit, source: 'guess', about });

export const PARAMETERS = {
  ourBt: ours(4400, 'Mop/s', 'examples/nas-bt, class W, one rank, checkpointable WebAssembly, by its own count'),
  ourCg: ours(2700, 'Mop/s', 'examples/nas-cg, class A, one rank, checkpointable WebAssembly, by its own count'),
  slowdown: guess(40, '×', 'how much slower one process of the 2 GHz Opteron 248 is, two of which share a memory'),
  alone: guess(0.6, '×', 'the time that a rank computes if no other one shares the memory of its node'),
  spread: guess(1, '%', 'how much slower a rank may be than the fastest; the seed draws it for each rank'),
  memoryBt: guess(1200, 'MB', 'memory of all ranks of BT.B'),
  memoryCg: guess(1000, 'MB', 'memory of all ranks of CG.C'),
  imageBase: guess(5, 'MB', 'what an image has besides: code, libraries, buffers'),
  copyRate: guess(1000, 'MB/s', 'a rank stands still while its image is copied (the paper: while it forks)'),
  ethernet: paper(125, 'MB/s', 'Gigabit Ethernet, one card for each node, each direction'),
  ethernetLatency: guess(50, 'µs', 'one way, TCP over Gigabit Ethernet'),
  myrinet: paper(250, 'MB/s', 'Myri2000, one card for each node, each direction'),
  myrinetTcp: guess(180, 'MB/s', 'the same through TCP and the Ethernet emulation'),
  gmLatency: guess(10, 'µs', 'one way, Nemesis over GM'),
  myrinetTcpLatency: guess(60, 'µs', 'one way, TCP over the Ethernet emulation of Myri2000'),
  memoryLatency: guess(2, 'µs', 'one way, between the two ranks of a node'),
  memoryRate: guess(1000, 'MB/s', 'between the two ranks of a node'),
  daemonLatency: guess(40, 'µs', "Vcl: through the two daemons' UNIX sockets, in all"),
  daemonRate: guess(400, 'MB/s', "Vcl: the daemons' copies of a message, in all"),
  callCost: guess(3, 'µs', 'processor time of the sender for a message'),
  markerCost: guess(10, 'µs', 'from one marker that a process sends to its next'),
  gridBandwidth: paper(20, '×', 'less bandwidth between nodes of two sites ("up to 20 times faster")'),
  gridLatency: paper(100, '×', 'more latency between sites ("up to two orders of magnitude")'),
  commitMs: guess(5, 'ms', 'until the record of a wave is durable'),
  serverLogMs: guess(5, 'ms', 'until a part of the channel state is durable'),
} as const satisfies Record<string, Parameter>;

export type ParameterName = keyof typeof PARAMETERS;
export type Parameters = Readonly<Record<ParameterName, number>>;

export const DEFAULTS = Object.fromEntries(
  Object.entries(PARAMETERS).map(([name, { value }]) => [name, value]),
) as Parameters;

/** 1 MB/s in bytes/ms. */
export const MB_PER_S = 1000;
/** 1 µs in ms. */
export const US = 0.001;
