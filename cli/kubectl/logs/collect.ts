/** Collects the lines of all sources that are about the agent, in the order of time. */
import { KubeError } from '../../../kube/index.ts';
import { aborted } from '../../../platform/aborted.ts';
import type { AboutAgent } from './about-agent.ts';
import { atLeast, parseLine, type Level, type LogLine } from './line.ts';
import type { LogSource, ReadLogsOptions } from './sources.ts';

export interface CollectOptions {
  readonly about: AboutAgent;
  readonly since: number | undefined;
  readonly level: Level;
  readonly signal: AbortSignal;
  /** Called for what could not be read. */
  readonly onProblem: (source: LogSource, error: KubeError) => void;
}

/** Returns everything that has been written so far. */
export async function collect(sources: readonly LogSource[], options: CollectOptions): Promise<readonly LogLine[]> {
  const all: LogLine[] = [];
  const keep = (source: LogSource, raw: string): void => {
    const line = parseLine(raw, { source: source.name, role: source.role });
    if (line !== undefined && line.time >= (options.since ?? 0)) all.push(line);
  };
  const common = { since: options.since, follow: false, signal: options.signal };
  await Promise.all(
    sources.map(async (source) => {
      if (source.restarted) await readAll(source, { ...common, previous: true }, keep, () => undefined);
      await readAll(source, common, keep, options.onProblem);
    }),
  );
  // Takes the lines in the order of time, so that a line says whose a call is as early as it did.
  const mine = all.sort(byTime).flatMap((line) => options.about.take(line));
  return mine.filter((line) => atLeast(line.level, options.level)).sort(byTime);
}

export interface FollowLogsOptions extends CollectOptions {
  readonly print: (line: LogLine) => void;
  /** Returns the sources as they are now: pods come and go. */
  readonly sources: () => Promise<readonly LogSource[]>;
  readonly every: (ms: number, task: () => void) => () => void;
}

/** Longest time that a line waits for those of other sources that were written before it, in milliseconds. */
const GATHER_MS = 400;
/** Time between two looks for new pods, in milliseconds. */
const LOOK_MS = 5_000;

/** Goes on until the signal aborts. */
export async function follow(options: FollowLogsOptions): Promise<void> {
  const { about, level, since, signal } = options;
  const waiting: LogLine[] = [];
  const reading = new Map<string, Promise<void>>();
  const flush = (): void => {
    for (const line of waiting.splice(0).sort(byTime)) {
      for (const one of about.take(line)) if (atLeast(one.level, level)) options.print(one);
    }
  };
  const places = new Map<string, LogPosition>();
  // A source whose stream has ended, as the API server ends it now and then, goes on where it was.
  const begin = (source: LogSource, from: number | undefined): void => {
    const place = places.get(source.name) ?? { time: from, lines: [] };
    places.set(source.name, place);
    const keep = (_: LogSource, raw: string): void => {
      const line = parseLine(raw, { source: source.name, role: source.role });
      if (line === undefined || !isBeyond(place, line)) return;
      places.set(source.name, after(places.get(source.name) ?? place, line));
      waiting.push(line);
    };
    reading.set(
      source.name,
      readAll(source, { since: place.time, follow: true, signal }, keep, options.onProblem).finally(() => reading.delete(source.name)),
    );
  };
  let looked = Date.now();
  for (const source of await options.sources()) begin(source, since);
  const look = async (): Promise<void> => {
    const from = looked;
    looked = Date.now();
    for (const source of await options.sources().catch(() => [])) if (!reading.has(source.name)) begin(source, from);
  };
  const stops = [options.every(GATHER_MS, flush), options.every(LOOK_MS, () => void look())];
  await aborted(signal);
  for (const stop of stops) stop();
  await Promise.all(reading.values());
  flush();
}

async function readAll(
  source: LogSource,
  options: ReadLogsOptions & { readonly previous?: boolean },
  keep: (source: LogSource, raw: string) => void,
  onProblem: (source: LogSource, error: KubeError) => void,
): Promise<void> {
  try {
    for await (const raw of source.read(options)) keep(source, raw);
  } catch (error) {
    if (options.signal.aborted) return;
    if (!(error instanceof KubeError)) throw error;
    onProblem(source, error);
  }
}

function byTime(a: LogLine, b: LogLine): number {
  return a.time - b.time;
}

/** Tells how far a source has been read. Logs are asked for by time alone, so the lines of the last millisecond belong to it. */
interface LogPosition {
  /** Milliseconds since the Unix epoch; the beginning where absent. */
  readonly time: number | undefined;
  /** Lines of that very millisecond that have been read, as they were written. */
  readonly lines: readonly string[];
}

function isBeyond({ time, lines }: LogPosition, line: LogLine): boolean {
  return time === undefined || line.time > time || (line.time === time && !lines.includes(line.raw));
}

/** Returns the position once the line has been read as well. Processes of one source may write a little out of order. */
function after(place: LogPosition, { time, raw }: LogLine): LogPosition {
  if (place.time !== undefined && time < place.time) return place;
  return { time, lines: time === place.time ? [...place.lines, raw] : [raw] };
}
