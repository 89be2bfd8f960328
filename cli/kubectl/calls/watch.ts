import { awakeClock } from '../../../platform/clock.ts';
import { pollUntil } from '../../../platform/poll-until.ts';
import type { Io } from '../io.ts';
import { toYaml, type Format } from '../../output.ts';
import { callsTable } from './print.ts';
import type { ListedCall } from './read.ts';

const EVERY_MS = 2_000;

/** Prints the calls, and each again when its state has changed, until Ctrl-C; as `kubectl get --watch` does. */
export async function watch(options: {
  readonly list: () => Promise<readonly ListedCall[]>;
  readonly format: Format;
  readonly io: Io;
}): Promise<void> {
  const { list, format, io } = options;
  const shown = new Map<string, string>();
  let first = true;
  const look = async (): Promise<void> => {
    const changed = (await list()).filter((call) => shown.get(call._id) !== markOf(call));
    for (const call of changed) shown.set(call._id, markOf(call));
    await print(changed, format, first, io);
    first = false;
  };
  await pollUntil(look, () => false, { everyMs: EVERY_MS, clock: awakeClock, signal: io.signal });
}

async function print(calls: readonly ListedCall[], format: Format, withHeader: boolean, io: Io): Promise<void> {
  if (format === 'json') for (const call of calls) io.out.write(`${JSON.stringify(call)}\n`);
  else if (format === 'yaml') for (const call of calls) io.out.write(`---\n${await toYaml(call)}`);
  else {
    const text = callsTable(calls, { wide: format === 'wide', now: io.now() });
    io.out.write(withHeader ? text : text.replace(/^.*\n/, ''));
  }
}

/** Returns a mark whose change is worth a new line. */
function markOf(call: ListedCall): string {
  return `${call.call_status} ${call.call_finish_reason ?? ''}`;
}
