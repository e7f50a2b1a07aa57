// Tries: process, require, module, Buffer, global and everything else of Node, under every name
// Stood for: names that a new version of Node adds
// Ends: done
import { COMM_WORLD as comm } from 'mayfly';
import { attempt, caught, withGlobal } from './canaries.js';
for (const name of [
  'process',
  'req' + 'uire',
  'module',
  'exports',
  'Buffer',
  'global',
  'root',
  'GLOBAL',
  '__filename',
  '__dirname',
  'internalBinding',
  'primordials',
  'gc',
  'navigator',
  'sqlite',
  'fetch',
  'Storage',
  'localStorage',
  'self',
  'globalThis',
  'navigation',
  'crypto',
  'performance',
  'WebAssembly',
  'inspector',
  'ShadowRealm',
])
  caught(
    attempt(() => globalThis[name]),
    name,
  );
for (let o = globalThis; o; o = Object.getPrototypeOf(o))
  for (const key of Reflect.ownKeys(o))
    if (key !== '__mayfly') {
      const v = attempt(() => o[key]);
      if (v !== globalThis && typeof v === 'object') caught(v, key);
    }
attempt(() =>
  withGlobal(
    (function () {
      return this;
    })() ?? {},
  ),
);
attempt(() =>
  withGlobal(
    (() => {
      'use strict';
      return globalThis.constructor.constructor('return this')();
    })(),
  ),
);
console.log('none', comm.rank);
