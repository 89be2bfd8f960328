/** A child that reads one file and ends. Started and watched by ParserProcess. */
import { asFailure, parse } from './parse.ts';
import { lineWriter, sealNetwork } from './block-sink.ts';
import type { ParserTask } from '../messages.ts';

const send = lineWriter(3);

function fail(error: unknown, extension = 'file'): never {
  const failure = asFailure(error, extension);
  const detail = failure.cause instanceof Error ? `${failure.cause.name}: ${failure.cause.message}`.slice(0, 300) : undefined;
  send({ type: 'failure', code: failure.code, message: failure.message, ...(detail === undefined ? {} : { detail }) });
  // Timers and streams of a library must not keep a finished child.
  process.exit(0);
}

sealNetwork();
// A Ctrl-C reaches the whole group: the parent decides what becomes of its children.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
process.on('uncaughtException', (error) => fail(error));
process.on('unhandledRejection', (error) => fail(error));

const parts: Buffer[] = [];
for await (const part of process.stdin) parts.push(part as Buffer);
const bytes = Buffer.concat(parts.splice(0));
const lineEnd = bytes.indexOf(0x0a);
// The parent went away, or has no file for this child.
if (lineEnd < 0) process.exit(0);

const task = JSON.parse(bytes.toString('utf8', 0, lineEnd)) as ParserTask;
try {
  await parse({ ...task, content: bytes.subarray(lineEnd + 1) }, send);
} catch (error) {
  fail(error, task.extension);
}
process.exit(0);
