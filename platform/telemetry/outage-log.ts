import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-base';

import type { Logger } from '../logging.ts';

type Sent = Parameters<Parameters<SpanExporter['export']>[1]>[0];

/** Logs once that the collector takes no spans, and once that it does again. Spans that cannot be sent are dropped: nothing waits for them. */
export class OutageLog implements SpanExporter {
  readonly #exporter: SpanExporter;
  readonly #logger: Logger;
  #away = false;
  #dropped = 0;

  constructor(exporter: SpanExporter, logger: Logger) {
    this.#exporter = exporter;
    this.#logger = logger;
  }

  export(spans: ReadableSpan[], done: (sent: Sent) => void): void {
    this.#exporter.export(spans, (sent) => {
      if (sent.error === undefined) this.#taken();
      else this.#refused(spans.length, sent.error);
      done(sent);
    });
  }

  forceFlush(): Promise<void> {
    return this.#exporter.forceFlush?.() ?? Promise.resolve();
  }

  shutdown(): Promise<void> {
    return this.#exporter.shutdown();
  }

  #taken(): void {
    if (this.#away) this.#logger.info({ dropped: this.#dropped }, 'spans are sent again');
    this.#away = false;
    this.#dropped = 0;
  }

  #refused(spans: number, error: Error): void {
    this.#dropped += spans;
    if (!this.#away)
      this.#logger.warn(
        { cause: error.message },
        'failed to send spans; dropping them (check OTEL_EXPORTER_OTLP_ENDPOINT and the collector behind it)',
      );
    this.#away = true;
  }
}
