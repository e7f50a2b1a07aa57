// Bundled CommonJS modules call `require` for Node's own modules.
import { createRequire } from 'node:module';
export const require = createRequire(import.meta.url);
