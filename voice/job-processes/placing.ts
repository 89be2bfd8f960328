/** Decides which process takes the next call, which takes no more, and how many are to be started. Pure. */

/** A process of calls, as the decisions see it. */
export interface ProcessState {
  readonly phase: 'starting' | 'ready' | 'retiring';
  /** True if it has answered lately. */
  readonly responsive: boolean;
  /** Number of live calls. */
  readonly calls: number;
  /** Number of calls since it began, live ones included. */
  readonly served: number;
  readonly rssBytes: number;
}

export interface PlacingLimits {
  readonly callsPerProcess: number;
  /** Number of processes with a free place that are kept ready. */
  readonly idleProcesses: number;
  /** Memory above which a process takes no more calls, and ends after its last. In bytes. */
  readonly memoryBytes: number;
  /** Number of calls after which it takes no more: what each leaves behind is not much, but adds up. */
  readonly maxServed: number;
}

export function isWorn({ served, rssBytes }: ProcessState, { memoryBytes, maxServed }: PlacingLimits): boolean {
  return served >= maxServed || rssBytes > memoryBytes;
}

const freePlaces = ({ phase, calls }: ProcessState, { callsPerProcess }: PlacingLimits): number =>
  phase === 'retiring' ? 0 : Math.max(0, callsPerProcess - calls);

/** Returns the process with the fewest calls: they share an event loop, and end together if it dies. The first of several. */
export function choosePlace<P extends ProcessState>(processes: readonly P[], limits: PlacingLimits): P | undefined {
  return openOf(processes, limits).toSorted((a, b) => a.calls - b.calls)[0];
}

/** Counts the calls that would find a place at once. */
export function placesIn(processes: readonly ProcessState[], limits: PlacingLimits): number {
  return openOf(processes, limits).reduce((sum, one) => sum + freePlaces(one, limits), 0);
}

function openOf<P extends ProcessState>(processes: readonly P[], limits: PlacingLimits): readonly P[] {
  return processes.filter((one) => one.phase === 'ready' && one.responsive && freePlaces(one, limits) > 0);
}

/**
 * Returns how many processes are to be started.
 * @param options.waiting calls without a process
 * @param options.arrivals calls that came lately: as many may come at once again
 * @param options.capacity calls that may come, beyond the live ones and those that wait
 */
export function processesToStart(
  processes: readonly ProcessState[],
  limits: PlacingLimits,
  { waiting, arrivals, capacity }: { readonly waiting: number; readonly arrivals: number; readonly capacity: number },
): number {
  const withPlaces = processes.map((one) => freePlaces(one, limits)).filter((places) => places > 0);
  const free = withPlaces.reduce((sum, places) => sum + places, 0);
  const wanted = waiting + Math.min(arrivals, capacity);
  const forCalls = Math.ceil(Math.max(0, wanted - free) / limits.callsPerProcess);
  const forIdle = free >= waiting + capacity ? 0 : limits.idleProcesses - withPlaces.length;
  return Math.max(0, forCalls, forIdle);
}

/**
 * Returns how many of those are started now: at once those that the waiting calls need, the others one after the other. None of the others
 * while calls begin on all processors.
 * @param options.waiting calls without a process
 * @param options.beginning calls that have one and are not in their rooms yet
 */
export function startsNow(
  toStart: number,
  processes: readonly ProcessState[],
  limits: PlacingLimits,
  { waiting, beginning, cores }: { readonly waiting: number; readonly beginning: number; readonly cores: number },
): number {
  const starting = processes.filter(({ phase }) => phase === 'starting').length;
  const unplaced = waiting - placesIn(processes, limits) - starting * limits.callsPerProcess;
  if (unplaced > 0) return Math.ceil(unplaced / limits.callsPerProcess);
  return starting > 0 || beginning >= cores ? 0 : Math.min(1, toStart);
}
