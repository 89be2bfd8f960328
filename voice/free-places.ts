/** Decides how many more calls a voice server can take now and welcome in time. Pure. */

export interface PlaceFacts {
  /** Most calls that it takes. */
  readonly capacity: number;
  /** Calls that are live or accepted. */
  readonly live: number;
  /** Live calls without a process. */
  readonly waiting: number;
  /** Live calls that are not in their rooms yet; those that wait included. */
  readonly beginning: number;
  /** Free places in processes that are ready. */
  readonly readyPlaces: number;
  readonly callsPerProcess: number;
  /** Time that a process took to start lately, in milliseconds. */
  readonly startMs: number;
  readonly cores: number;
  /** Longest time that a caller may wait, in milliseconds. */
  readonly withinMs: number;
}

export interface FreePlaces {
  readonly free: number;
  /** True if it may have more calls, but not before some that begin now have begun. */
  readonly starting: boolean;
}

/** Processor time from accepting a call to its welcome message, in milliseconds: docs/adr/0045-calls-share-processes.md. */
const BEGIN_CPU_MS = 800;

export function freePlaces(facts: PlaceFacts): FreePlaces {
  const { capacity, live, waiting, beginning, readyPlaces, callsPerProcess, startMs, cores, withinMs } = facts;
  const left = Math.max(0, capacity - live);
  // Processes start one after the other in the worst case: they need the processors that the calls need, too.
  const inProcesses = readyPlaces - waiting + Math.floor(withinMs / startMs) * callsPerProcess;
  const onProcessors = Math.floor((withinMs * cores) / BEGIN_CPU_MS) - beginning;
  // A call that begins alone is always taken: nothing would be quicker elsewhere.
  const inTime = Math.max(beginning === 0 ? 1 : 0, Math.min(inProcesses, onProcessors));
  const free = Math.min(left, inTime);
  return { free, starting: free < left };
}
