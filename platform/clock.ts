/** A source of time. Everything that waits or stamps takes one, so that tests own the time. */
export interface Clock {
  /** Wall-clock time in milliseconds since the Unix epoch; may jump. */
  now(): number;
  /** Milliseconds since some fixed point; never jumps. Durations and leases use it. */
  monotonic(): number;
  /** Calls `callback` once after `ms` milliseconds. The handle's `cancel` is idempotent. */
  after(ms: number, callback: () => void): Timer;
}

export interface Timer {
  cancel(): void;
}

/** Node's clock. Its timers do not keep the process alive. */
export const systemClock: Clock = clockOf({ awake: false });

/** This clock's timers keep the process alive: a command uses it that has nothing else to do than to wait. */
export const awakeClock: Clock = clockOf({ awake: true });

/**
 * Makes a clock whose timers let what has arrived go first. Node calls those that are due before it reads from sockets: after a second in
 * which the process stood still, a timeout of half a second would pass over the answer that lies there.
 */
function clockOf({ awake }: { readonly awake: boolean }): Clock {
  return {
    now: () => Date.now(),
    monotonic: () => performance.now(),
    after(ms, callback) {
      let read: NodeJS.Immediate | undefined;
      const timeout = setTimeout(() => void (read = setImmediate(callback)), ms);
      if (!awake) timeout.unref();
      return {
        cancel() {
          clearTimeout(timeout);
          clearImmediate(read);
        },
      };
    },
  };
}

/** Resolves after `ms` milliseconds, or rejects with the signal's reason as soon as it aborts. */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
    const onAbort = (): void => {
      timer.cancel();
      reject(signal?.reason);
    };
    const timer = clock.after(ms, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    });
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

/** Returns the result of `work`, or undefined once `ms` milliseconds have passed; `work` itself goes on. */
export async function withTimeout<T>(clock: Clock, ms: number, work: Promise<T>): Promise<T | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>();
  const timer = clock.after(ms, () => resolve(undefined));
  try {
    return await Promise.race([work, late]);
  } finally {
    timer.cancel();
  }
}
