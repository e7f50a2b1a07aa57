// Tries: a thrown revoked proxy of a function
// Stood for: even Array.isArray and typeof treat it unlike anything else
// Ends: failed PROGRAM_ERROR
import { console } from 'mayfly';
const { proxy, revoke } = Proxy.revocable(function () {}, {});
revoke();
console.log(proxy, [proxy], { proxy });
throw proxy;
