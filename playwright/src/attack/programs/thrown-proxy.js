// Tries: a thrown proxy whose every trap throws another
// Stood for: instanceof asks a proxy for its prototype
// Ends: failed PROGRAM_ERROR
import { args } from 'mayfly';
const trap = () => {
  throw new Proxy({}, new Proxy({}, { get: () => trap }));
};
if (args.length < 0) console.log(1);
throw new Proxy(function () {}, new Proxy({}, { get: () => trap }));
