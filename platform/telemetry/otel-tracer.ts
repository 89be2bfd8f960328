/** Traces with OpenTelemetry's SDK. Imported only where traces are enabled. */
import {
  context as contextApi,
  createTraceState,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Attributes as OtelAttributes,
  type Context,
  type Span as OtelSpan,
  type SpanContext,
} from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor, type ReadableSpan, type SpanExporter } from '@opentelemetry/sdk-trace-base';

import { awakeClock, withTimeout } from '../clock.ts';
import type { Logger } from '../logging.ts';
import { wantsContent } from './gen-ai/content.ts';
import { SCHEMA_URL } from './gen-ai/conventions.ts';
import { readTraceparent, writeTraceparent, type SpanReference, type TraceContext } from './trace-context.ts';
import type { Attributes, Span, SpanStart, Tracer } from './tracing.ts';

/** How long the shutdown waits for the last spans to be sent, in milliseconds. */
const CLOSE_MS = 3_000;
/** Most characters of an error's message. */
const LONGEST_MESSAGE = 256;

const kinds = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
} as const;

export interface TracerOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Role that names the service `parley-<role>` unless `OTEL_SERVICE_NAME` says another. */
  readonly role: string;
  readonly version?: string | undefined;
  readonly logger: Logger;
}

export function createTracer({ env, role, version, logger }: TracerOptions): Tracer {
  const protocol = env['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL'] ?? env['OTEL_EXPORTER_OTLP_PROTOCOL'] ?? '';
  if (!['', 'http/protobuf'].includes(protocol))
    logger.warn({ protocol }, 'sending traces as http/protobuf; ignoring OTEL_EXPORTER_OTLP_PROTOCOL');
  const named = resourceFromAttributes({
    'service.name': `parley-${role}`,
    'service.namespace': 'parley',
    ...(version !== undefined && { 'service.version': version }),
    'parley.role': role,
    'process.pid': process.pid,
  });
  const provider = new BasicTracerProvider({
    resource: named.merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(new OutageLog(new OTLPTraceExporter(), logger))],
  });
  const otel = provider.getTracer('parley', version, { schemaUrl: SCHEMA_URL });
  // The context manager is global for the process, so that libraries with their own spans find it, too.
  const contexts = new AsyncLocalStorageContextManager().enable();
  contextApi.setGlobalContextManager(contexts);

  const startSpan = ({ name, kind = 'internal', parent, startedAt, links = [], attributes = {} }: SpanStart): Span => {
    const base = parent === undefined ? contexts.active() : parent === 'none' ? ROOT_CONTEXT : otelContext(parent);
    const span = otel.startSpan(
      name,
      {
        kind: kinds[kind],
        attributes: mutable(attributes),
        links: links.flatMap((link) => linkTo(link)),
        ...(startedAt !== undefined && { startTime: startedAt }),
      },
      base,
    );
    return wrap(span, trace.setSpan(base, span));
  };

  const wrap = (span: OtelSpan, inside: Context): Span => {
    const spanContext = span.spanContext();
    return {
      context: handedOn(spanContext),
      reference: referenceTo(spanContext),
      set: (attributes: Attributes) => void span.setAttributes(mutable(attributes)),
      fail: (error) => {
        const { type, message } = describe(error);
        span.setAttribute('error.type', type);
        span.setStatus({ code: SpanStatusCode.ERROR, ...(message !== '' && { message }) });
      },
      end: (at) => span.end(at),
      run: (work) => contexts.with(inside, work),
    };
  };

  return {
    capturesContent: wantsContent(env),
    startSpan,
    current() {
      const spanContext = trace.getSpanContext(contexts.active());
      return spanContext && { context: handedOn(spanContext), reference: referenceTo(spanContext) };
    },
    continue: (context, work) => contexts.with(otelContext(context), work),
    outside: (work) => contexts.with(ROOT_CONTEXT, work),
    async close() {
      const sent = provider.shutdown().catch((err: unknown) => logger.debug({ err }, 'failed to send the last spans'));
      await withTimeout(awakeClock, CLOSE_MS, sent);
      contextApi.disable();
    },
  };
}

/** Copies the attributes, because the SDK's type asks for lists that may be changed. */
const mutable = (attributes: Attributes): OtelAttributes => ({ ...attributes }) as OtelAttributes;

function otelContext(context: TraceContext): Context {
  const spanContext = spanContextOf(context);
  return spanContext === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, spanContext);
}

function linkTo(context: TraceContext): { readonly context: SpanContext }[] {
  const spanContext = spanContextOf(context);
  return spanContext === undefined ? [] : [{ context: spanContext }];
}

function spanContextOf({ traceparent, tracestate }: TraceContext): SpanContext | undefined {
  const reference = readTraceparent(traceparent);
  if (reference === undefined) return undefined;
  const { traceId, spanId, sampled } = reference;
  return {
    traceId,
    spanId,
    traceFlags: sampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
    isRemote: true,
    ...(tracestate !== undefined && { traceState: createTraceState(tracestate) }),
  };
}

function referenceTo({ traceId, spanId, traceFlags }: SpanContext): SpanReference {
  return { traceId, spanId, sampled: (traceFlags & TraceFlags.SAMPLED) !== 0 };
}

function handedOn(spanContext: SpanContext): TraceContext {
  const tracestate = spanContext.traceState?.serialize();
  return {
    traceparent: writeTraceparent(referenceTo(spanContext)),
    ...(tracestate !== undefined && tracestate !== '' && { tracestate }),
  };
}

function describe(error: unknown): { readonly type: string; readonly message: string } {
  if (typeof error === 'string') return { type: error, message: '' };
  if (!(error instanceof Error)) return { type: 'unknown', message: '' };
  const { code } = error as { readonly code?: unknown };
  return {
    type: typeof code === 'string' || typeof code === 'number' ? String(code) : error.name,
    message: error.message.slice(0, LONGEST_MESSAGE),
  };
}

type Sent = Parameters<Parameters<SpanExporter['export']>[1]>[0];

/** Logs once that the collector takes no spans, and once that it does again. Spans that cannot be sent are dropped: nothing waits for them. */
class OutageLog implements SpanExporter {
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
