/** Reports that it runs, and then spins without ever looking at its pipes. */
import { writeSync } from 'node:fs';

writeSync(3, `${JSON.stringify({ type: 'progress', done: 0, total: 1 })}\n`);
for (;;);
