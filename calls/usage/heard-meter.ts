/** Counts the audio that a provider of speech to text gets. */
import type { UsageMeter } from './usage-meter.ts';

export interface HeardMeter {
  /** Counts a request, or a connection. */
  request(): void;
  audio(milliseconds: number): void;
}

/** @param options.model empty for a provider that has no names for them */
export function heardMeter({
  meter,
  provider,
  model,
}: {
  readonly meter: Pick<UsageMeter, 'add'>;
  readonly provider: string;
  readonly model: string;
}): HeardMeter {
  const of = { kind: 'stt', purpose: 'conversation', provider, model } as const;
  return {
    request: () => meter.add(of, { requests: 1 }),
    audio: (audioMilliseconds) => meter.add(of, { audioMilliseconds }),
  };
}

/** Counts a request with all of its audio, which is paid for where it is answered, or given up from here. */
export async function countedTurn<T>(
  {
    counted,
    milliseconds,
    signal,
  }: { readonly counted: HeardMeter | undefined; readonly milliseconds: number; readonly signal: AbortSignal },
  ask: () => Promise<T>,
): Promise<T> {
  let answered = false;
  try {
    const answer = await ask();
    answered = true;
    return answer;
  } finally {
    if (answered || signal.aborted) {
      counted?.request();
      counted?.audio(milliseconds);
    }
  }
}
