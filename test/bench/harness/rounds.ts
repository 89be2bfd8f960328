/** Makes contenders take turns (A B A B …), so that a machine that slows down slows all of them. */

export interface InterleaveOptions<N extends string, R> {
  /** Contenders in the order of their turns. */
  readonly contenders: Readonly<Record<N, (round: number) => Promise<R>>>;
  readonly rounds: number;
  /** Turns of each before the first that counts; 1 where absent. */
  readonly warmUps?: number;
  readonly onTurn?: (turn: { readonly contender: N; readonly round: number; readonly warmUp: boolean }) => void;
}

/** Returns the results of each contender, one per counted round, in order. */
export async function interleave<N extends string, R>(options: InterleaveOptions<N, R>): Promise<Record<N, R[]>> {
  const names = Object.keys(options.contenders) as N[];
  const results = Object.fromEntries(names.map((name) => [name, [] as R[]])) as Record<N, R[]>;
  const warmUps = options.warmUps ?? 1;
  for (let turn = -warmUps; turn < options.rounds; turn += 1) {
    for (const contender of names) {
      options.onTurn?.({ contender, round: turn, warmUp: turn < 0 });
      const result = await options.contenders[contender](turn);
      if (turn >= 0) results[contender].push(result);
    }
  }
  return results;
}

interface LoadOptions {
  /** Number of requests that are under way at any time. */
  readonly inFlight: number;
  /** Milliseconds after which no new request starts; those under way are waited for and count. */
  readonly durationMs: number;
  /** Makes one request; `index` counts from 0 over all lanes. A failure stops the load. */
  readonly request: (index: number) => Promise<void>;
}

export interface LoadResult {
  readonly requests: number;
  readonly elapsedMs: number;
  /** One latency per request. */
  readonly latenciesMs: readonly number[];
}

/** Runs a closed loop: each lane starts its next request when the last one was answered. */
export async function load(options: LoadOptions): Promise<LoadResult> {
  const latenciesMs: number[] = [];
  const startedAt = performance.now();
  let next = 0;
  const lane = async (): Promise<void> => {
    while (performance.now() - startedAt < options.durationMs) {
      const sentAt = performance.now();
      await options.request(next++);
      latenciesMs.push(performance.now() - sentAt);
    }
  };
  await Promise.all(Array.from({ length: options.inFlight }, lane));
  return { requests: latenciesMs.length, elapsedMs: performance.now() - startedAt, latenciesMs };
}

/** Calls `task` for each item with at most `inFlight` at once. The first failure is thrown when the others have ended. */
export async function forEachOf<T>(items: readonly T[], inFlight: number, task: (item: T, index: number) => Promise<void>): Promise<void> {
  let next = 0;
  let failure: { readonly error: unknown } | undefined;
  const lane = async (): Promise<void> => {
    while (failure === undefined && next < items.length) {
      const index = next++;
      try {
        await task(items[index] as T, index);
      } catch (error) {
        failure ??= { error };
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(inFlight, items.length) }, lane));
  if (failure !== undefined) throw failure.error;
}

/** Starts `task` `perSecond` times a second for `seconds`, whether or not earlier ones have ended (an open loop); resolves when all have. */
export async function paced(options: {
  readonly perSecond: number;
  readonly seconds: number;
  readonly task: (index: number) => Promise<void>;
}): Promise<void> {
  const total = Math.round(options.perSecond * options.seconds);
  const startedAt = performance.now();
  const running: Promise<void>[] = [];
  let failure: { readonly error: unknown } | undefined;
  for (let index = 0; index < total; index += 1) {
    const due = startedAt + (index * 1000) / options.perSecond;
    const early = due - performance.now();
    if (early > 0) await new Promise((resolve) => setTimeout(resolve, early));
    running.push(options.task(index).catch((error: unknown) => void (failure ??= { error })));
  }
  await Promise.all(running);
  if (failure !== undefined) throw failure.error;
}
