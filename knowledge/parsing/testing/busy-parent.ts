/** A process with a parser that never comes to an end: what is left of it when its parent is killed? */
import { systemClock } from '../../../platform/clock.ts';
import { ParserProcess } from '../parser-process.ts';

const child = new ParserProcess({ clock: systemClock, entry: new URL('./busy-child.ts', import.meta.url).pathname });
// What a parser's pipes don't do: keep this process alive.
setInterval(() => undefined, 1_000);
await child.next();
process.stdout.write('busy\n');
