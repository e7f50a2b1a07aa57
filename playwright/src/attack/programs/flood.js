// Tries: to fill the disk of the server by printing
// Stood for: endless output
// Ends: failed OUTPUT_LIMIT
import { print } from 'mayfly';
const line = 'x'.repeat(65_536);
for (;;) print(line);
