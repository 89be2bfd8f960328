import { megabytes } from '../../platform/megabytes.ts';

/** State of fetching or building one program. */
export interface BinaryProgress {
  readonly phase: 'queued' | 'downloading' | 'unpacking' | 'listing' | 'building' | 'waiting';
  /** Counts bytes while downloading, packages while building. */
  readonly done?: number;
  readonly total?: number | undefined;
  readonly elapsedMs?: number;
  readonly remainingMs?: number | undefined;
  /** A remark in words. */
  readonly note?: string;
}

/** Options that every source of a program gets in addition to the program. */
export interface Fetching {
  readonly onProgress?: ((progress: BinaryProgress) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Formats a duration as "2 min 05 s" or "7 s". */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  return `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, '0')} s`;
}

/** Describes the progress in one line. */
export function describeProgress(progress: BinaryProgress): string {
  const { phase, done, total, elapsedMs, remainingMs } = progress;
  const amount = (value: number): string => (phase === 'downloading' ? megabytes(value) : String(value));
  const parts: string[] = [phase];
  if (done !== undefined && total !== undefined && total > 0) parts.push(`${Math.min(100, Math.floor((done / total) * 100))} %`);
  if (done !== undefined)
    parts.push(
      `(${amount(done)}${total === undefined || total === 0 ? '' : ` of ${amount(total)}`}${phase === 'building' ? ' packages' : ''})`,
    );
  if (elapsedMs !== undefined) parts.push(`after ${duration(elapsedMs)}`);
  if (remainingMs !== undefined) parts.push(`about ${duration(remainingMs)} left`);
  if (progress.note !== undefined) parts.push(progress.note);
  return parts.join(' ');
}

/** Sums up builds that run one after another in one figure, each with its usual share of the time. */
export class BuildPlan {
  readonly #seconds = new Map<string, number>();
  readonly #fractions = new Map<string, number>();
  readonly #startedAt: number;
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#startedAt = now();
  }

  /** Records that `name` is to be built or is being built, and that `fraction` of it is done. */
  update(name: string, seconds: number, fraction: number): void {
    this.#seconds.set(name, seconds);
    this.#fractions.set(name, Math.max(this.#fractions.get(name) ?? 0, Math.min(1, fraction)));
  }

  /** Returns "built 2 of 5, 47 %, about 3 min 10 s left in all", or an empty text where a single program is built. */
  describe(): string {
    if (this.#seconds.size < 2) return '';
    const total = [...this.#seconds.values()].reduce((sum, seconds) => sum + seconds, 0);
    const done = [...this.#fractions].reduce((sum, [name, fraction]) => sum + fraction * (this.#seconds.get(name) ?? 0), 0);
    const finished = [...this.#fractions.values()].filter((fraction) => fraction === 1).length;
    const elapsedMs = this.#now() - this.#startedAt;
    const share = done / total;
    const left = share > 0.03 && share < 1 ? `, about ${duration((elapsedMs / share) * (1 - share))} left in all` : '';
    return `built ${finished} of ${this.#seconds.size}, ${Math.floor(share * 100)} %${left}`;
  }
}
