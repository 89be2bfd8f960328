/** Starts a parser that never comes to an end, to see what is left of it when this process is killed. */
import { systemClock } from '../../../platform/clock.ts';
import { ParserProcess } from '../parser-process.ts';

const child = new ParserProcess({ clock: systemClock, entry: new URL('./busy-child.ts', import.meta.url).pathname });
// A parser's pipes don't keep this process alive, so a timer does.
setInterval(() => undefined, 1_000);
await child.next();
process.stdout.write('busy\n');
