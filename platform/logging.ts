import fs from 'node:fs';

import { pino, type DestinationStream, type Logger, type LoggerOptions } from 'pino';

import { SECRET_KEYS } from './secret-keys.ts';
import { currentSpan } from './telemetry/tracing.ts';

export type { Logger } from 'pino';

/** A line waits at most so many milliseconds for others: one system call for each would cost as much as all the rest of it. */
const GATHER_MS = 100;
/** This many characters go out at once. */
const GATHER_CHARACTERS = 4096;

/** Creates a logger that writes JSON lines to standard output with `level`, `time` (RFC 3339) and `role`. */
export function createLogger(options: {
  readonly role: string;
  readonly level: string;
  readonly destination?: DestinationStream;
  readonly hooks?: LoggerOptions['hooks'];
}): Logger {
  return pino(
    {
      level: options.level,
      base: { role: options.role },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: [...SECRET_KEYS].flatMap((key) => [key, `*.${key}`, `*.*.${key}`]), censor: '[redacted]' },
      mixin: spanFields,
      serializers: { err: pino.stdSerializers.err },
      ...(options.hooks && { hooks: options.hooks }),
    },
    options.destination ?? standardOutput(),
  );
}

/** Returns a logger of the same destination that changes the fields of each line. @param change takes a plain value, and gives another one */
export function childLogger(logger: Logger, change: (value: unknown) => unknown): Logger {
  const isError = (value: unknown): value is Error => value instanceof Error;
  return logger.child(
    {},
    {
      formatters: {
        log: (line) => Object.fromEntries(Object.entries(line).map(([name, value]) => [name, isError(value) ? value : change(value)])),
      },
      serializers: { err: (error: Error) => change({ ...pino.stdSerializers.err(error) }) },
    },
  );
}

/** Adds the current span; fields of the line itself win. The object is a new one each time, because it is filled with the line. */
function spanFields(): object {
  const span = currentSpan();
  return span === undefined ? {} : { traceId: span.traceId, spanId: span.spanId };
}

/** Gathers lines for a moment, and writes them when the process ends, whatever ends it but SIGKILL. It is idle while nothing is logged. */
function standardOutput(): DestinationStream {
  const output = pino.destination({ fd: 1, sync: false, minLength: GATHER_CHARACTERS });
  const write = output.write.bind(output);
  let due = false;
  output.write = (line) => {
    if (!due) {
      due = true;
      setTimeout(() => {
        due = false;
        output.flush();
      }, GATHER_MS).unref();
    }
    return write(line);
  };
  const flushSync = output.flushSync.bind(output);
  output.flushSync = () => unlessBroken(flushSync);
  return output;
}

/**
 * Keeps a process from never ending where the reader is gone. At its end a process writes the lines that wait; `sonic-boom` 4.2.1 takes
 * every error for one that passes, and tries for ever. So lines that it can't write count as written.
 */
function unlessBroken(flushSync: () => void): void {
  const { writeSync } = fs;
  fs.writeSync = ((fd: number, text: string | Buffer, ...more: []) => {
    try {
      return writeSync(fd, text as string, ...more);
    } catch (err) {
      const { code } = err as NodeJS.ErrnoException;
      if (code === 'EAGAIN' || code === 'EBUSY') throw err;
      return Buffer.byteLength(text);
    }
  }) as typeof fs.writeSync;
  try {
    flushSync();
  } finally {
    fs.writeSync = writeSync;
  }
}
