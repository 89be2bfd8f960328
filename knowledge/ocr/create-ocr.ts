/** Creates the reader of pages that the configuration names, with metrics, bounds and retries of passing failures. */
import { Histogram, type Registry } from 'prom-client';

import type { ModelOutcome } from '../model-outcome.ts';
import { backoffDelay } from '../../platform/backoff.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Egress } from '../../platform/egress/egress.ts';
import { retry } from '../../platform/retry.ts';
import { Semaphore } from '../../platform/semaphore.ts';
import { OcrError, type OcrProfile, type PageReader, type RecognisedPage } from './page-reader.ts';
import { tesseractReader } from './tesseract-reader.ts';
import { visionReader } from './vision-reader.ts';

export interface OcrOptions {
  readonly profile: OcrProfile | undefined;
  readonly egress: Pick<Egress, 'request'>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly registry?: Registry;
}

const ATTEMPTS = 3;
/** Longest delay that a server may ask for; beyond it, it is left alone. */
const LONGEST_DELAY_MS = 30_000;
const BACKOFF = { baseMs: 1_000, maxMs: LONGEST_DELAY_MS };

/** @returns undefined where no profile is configured: pages without text stay unread */
export function createOcr(options: OcrOptions): PageReader | undefined {
  const { profile, clock, registry } = options;
  // This happens without a profile, too: dashboards and alerts know every metric of a role.
  const seconds = registry && ocrMetrics(registry);
  if (profile === undefined) return undefined;
  const permits = new Semaphore(profile.concurrency);
  const attempt = readerOf(profile, options);
  const measured = async (png: Buffer, signal: AbortSignal | undefined): Promise<RecognisedPage> => {
    const startedAt = clock.monotonic();
    const observe = (outcome: ModelOutcome): void =>
      seconds?.observe({ provider: profile.provider, outcome }, (clock.monotonic() - startedAt) / 1000);
    try {
      const recognised = await attempt(png, signal);
      observe('answered');
      return recognised;
    } catch (error) {
      if (error instanceof OcrError) observe(error.outcome);
      throw error;
    }
  };
  return {
    maxPages: profile.maxPages,
    concurrency: profile.concurrency,
    documentTimeoutMs: profile.documentTimeoutMs,
    async read(png, signal) {
      const release = await permits.acquire(signal);
      try {
        return await retry(() => measured(png, signal), { delayMs, clock, signal });
      } finally {
        release();
      }
    },
  };
}

function readerOf(profile: OcrProfile, { egress, env, clock }: OcrOptions): PageReader['read'] {
  return profile.provider === 'tesseract' ? tesseractReader({ profile, env }) : visionReader({ profile, egress, env, clock });
}

function delayMs(error: unknown, failures: number): number | undefined {
  if (!(error instanceof OcrError) || !error.retryable || failures === ATTEMPTS) return undefined;
  const asked = error.retryAfterMs ?? 0;
  return asked > LONGEST_DELAY_MS ? undefined : Math.max(backoffDelay(failures, BACKOFF), asked);
}

function ocrMetrics(registry: Registry): Histogram<'provider' | 'outcome'> {
  return new Histogram({
    name: 'parley_ocr_page_seconds',
    help: 'Time for one attempt to recognise the text of one page; the outcome is answered, or why there is no text.',
    labelNames: ['provider', 'outcome'],
    buckets: [0.5, 1, 2.5, 5, 10, 20, 40, 60, 120],
    registers: [registry],
  });
}
