/** Finds the first provider that answers: where one fails or is late, the next is asked. */
import type { Clock, Timer } from '../../platform/clock.ts';

export interface FirstAnswerOptions<P, A> {
  /** Providers in the order in which they are asked. */
  readonly providers: readonly P[];
  /** Resolves when the answer has begun; rejects, and lets go of everything, when the signal aborts. */
  readonly ask: (provider: P, signal: AbortSignal) => Promise<A>;
  /** Milliseconds without an answer after which the next provider is asked, too. */
  readonly lateMs: number;
  /** Asks another provider only where one is late, and none where all that were asked have failed. */
  readonly onlyLate?: boolean;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

export interface FirstAnswer<P, A> {
  readonly provider: P;
  readonly answer: A;
  /** Providers before it in the order, each with its failure; one without a failure was late. */
  readonly passed: readonly { readonly provider: P; readonly failure?: unknown }[];
}

/** @throws the failure of the first provider where none answers, or the signal's reason */
export function firstAnswer<P, A>({
  providers,
  ask,
  lateMs,
  onlyLate = false,
  clock,
  signal,
}: FirstAnswerOptions<P, A>): Promise<FirstAnswer<P, A>> {
  const { promise, resolve, reject } = Promise.withResolvers<FirstAnswer<P, A>>();
  const asked: { readonly provider: P; readonly cancel: AbortController; failure?: unknown }[] = [];
  let waiting = 0;
  let timer: Timer | undefined;
  const askNext = (): void => {
    timer?.cancel();
    const at = asked.length;
    const provider = providers[at]!;
    const attempt: (typeof asked)[number] = { provider, cancel: new AbortController() };
    asked.push(attempt);
    waiting += 1;
    if (asked.length < providers.length) timer = clock.after(lateMs, askNext);
    const answered = (answer: A): void => {
      // It answered at the same moment as the first.
      if (attempt.cancel.signal.aborted) return;
      timer?.cancel();
      for (const other of asked) if (other !== attempt) other.cancel.abort();
      resolve({ provider, answer, passed: asked.slice(0, at) });
    };
    const failed = (failure: unknown): void => {
      attempt.failure = failure;
      waiting -= 1;
      if (waiting > 0) return;
      if (!signal.aborted && !onlyLate && asked.length < providers.length) return askNext();
      timer?.cancel();
      reject(signal.aborted ? signal.reason : asked[0]!.failure);
    };
    void ask(provider, AbortSignal.any([signal, attempt.cancel.signal])).then(answered, failed);
  };
  askNext();
  return promise;
}
