// Tries: every way to the network that an engine has
// Stood for: a program that reaches an address can send it everything it knows
// Ends: done
import { COMM_WORLD as comm } from 'mayfly';
import { attempt, listener, server } from './canaries.js';
for (const url of [listener, server, listener.replace('http', 'ws')]) {
  for (const name of ['fetch', 'importScripts', 'open', 'navigate']) attempt(() => globalThis[name](url));
  for (const name of [
    'XMLHttpRequest',
    'WebSocket',
    'WebSocketStream',
    'EventSource',
    'WebTransport',
    'Request',
    'Image',
    'Audio',
    'Worker',
    'SharedWorker',
    'RTCPeerConnection',
    'FontFace',
    'Notification',
    'BroadcastChannel',
  ])
    attempt(() => {
      const o = new globalThis[name](url);
      attempt(() => {
        o.open('GET', url);
        o.send();
      });
      attempt(() => {
        o.src = url;
      });
      attempt(() => o.load());
      attempt(() => o.createDataChannel('x'));
      console.log('ESCAPED:', name);
    });
  attempt(() => globalThis.navigator.sendBeacon(url, 'x'));
  attempt(() => {
    globalThis.location.href = url;
  });
  attempt(() =>
    new globalThis.RTCPeerConnection({ iceServers: [{ urls: url.replace(/^\w+:\/\//, 'stun:') }] }).createOffer(),
  );
}
console.log('none', comm.rank);
