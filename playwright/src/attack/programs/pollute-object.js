// Tries: to be called by a setter or getter on Object.prototype, for any name that Node or the runtime uses
// Stood for: options and results are plain objects: reading or filling one involves Object.prototype
// Ends: failed PROGRAM_ERROR
import { COMM_WORLD as comm, SUM } from 'mayfly';
import { attempt, caught, hostileError } from './canaries.js';
const names = [
  'queryObjects',
  'get',
  'set',
  'value',
  'writable',
  'enumerable',
  'configurable',
  'then',
  'toJSON',
  'transfer',
  'flags',
  'fd',
  'env',
  'stdio',
  'cwd',
  'shell',
  'argv0',
  'execArgv',
  'eval',
  'filename',
  'cachedData',
  'importModuleDynamically',
  'require',
  'process',
  'getBuiltinModule',
  'prepareStackTrace',
  'stackTraceLimit',
  'call',
  'apply',
  'code',
  'errno',
  'syscall',
  'path',
  'dest',
  'info',
  'length',
  'size',
  'handle',
  'space',
  'offset',
  'bytes',
  'body',
  'header',
  'kind',
  'arrival',
  'abort',
  'stack',
  'message',
  'name',
  'mode',
  'word',
  'type',
  'task',
  'memory',
  'port',
  'why',
  'signal',
  'encoding',
  'highWaterMark',
  'objectMode',
  'colors',
  'depth',
  'customInspect',
  'showProxy',
  'maxArrayLength',
];
let taken = 0;
for (const name of names) {
  const set = function (v) {
    caught(v, name);
    caught(this, name);
    Object.defineProperty(this, name, { value: v, writable: true, configurable: true });
  };
  attempt(
    () => (
      Object.defineProperty(Object.prototype, name, {
        set,
        get() {
          caught(this, name);
        },
        configurable: true,
      }),
      taken++
    ),
  );
  attempt(() => (Object.prototype.__defineSetter__(name, set), taken++));
  attempt(() => {
    Object.prototype[name] = set;
    if ({}[name] === set) taken++;
  });
}
attempt(() => Object.setPrototypeOf(Object.prototype, new Proxy({}, { get: (t, k) => caught(t, k) })) && taken++);
console.log('taken', taken, 'sum', comm.allreduce(1, SUM));
throw hostileError();
