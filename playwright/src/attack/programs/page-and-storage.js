// Tries: the parent page, its storage, locks and channels, and the other tabs
// Stood for: a volunteer's page holds an identity and settings
// Ends: done
import { COMM_WORLD as comm } from 'mayfly';
import { attempt } from './canaries.js';
for (const name of ['parent', 'top', 'opener', 'frames', 'document', 'window', 'self', 'name', 'origin', 'clients'])
  attempt(() => {
    const w = globalThis[name];
    if (w !== globalThis && typeof w === 'object') {
      w.postMessage({ type: 'mayfly:dead', why: 'forged' }, '*');
      console.log('ESCAPED:', name);
    }
  });
for (const f of [
  () => localStorage.setItem('escaped', '1'),
  () => sessionStorage.setItem('escaped', '1'),
  () => indexedDB.open('escaped'),
  () => caches.open('escaped'),
  () => cookieStore.set('escaped', '1'),
  () => {
    document.cookie = 'escaped=1';
  },
  () => navigator.locks.request('escaped', () => 0),
  () => navigator.storage.getDirectory(),
  () => new BroadcastChannel('x').postMessage(1),
  () => postMessage({ type: 'broken', why: 'forged' }),
  () => dispatchEvent(new Event('message')),
  () => addEventListener('message', () => 0),
  () => close(),
])
  attempt(() => {
    f();
    console.log('ESCAPED:', String(f));
  });
console.log('none', comm.rank);
