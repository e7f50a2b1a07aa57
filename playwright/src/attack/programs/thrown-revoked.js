// Tries: a thrown revoked proxy of a function
// Stood for: Array.isArray and typeof treat it unlike any other value
// Ends: failed PROGRAM_ERROR
import { console } from 'mayfly';
const { proxy, revoke } = Proxy.revocable(function () {}, {});
revoke();
console.log(proxy, [proxy], { proxy });
throw proxy;
