/** Collects traces for tests: takes OTLP over HTTP as protobuf, and keeps the spans. */
import { gunzipSync } from 'node:zlib';

import protobuf from 'protobufjs';

import { eventually } from './eventually.ts';
import { Servers, whole } from './http-servers.ts';

export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Id of the parent; empty for the first span of its trace. */
  readonly parentSpanId: string;
  readonly name: string;
  /** Kind as OTLP numbers it: 1 internal, 2 server, 3 client, 4 producer, 5 consumer. */
  readonly kind: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  /** Code of the status, 2 for a span that failed. */
  readonly statusCode: number;
  readonly resource: Readonly<Record<string, unknown>>;
  /** Schema of the conventions that the span's scope names. */
  readonly schemaUrl: string;
  /** Start in milliseconds since the epoch. */
  readonly startedAt: number;
  readonly endedAt: number;
}

export interface OtlpReceiver {
  /** Value for `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  readonly url: string;
  readonly spans: readonly ReceivedSpan[];
  /** Requests, as they came. */
  readonly requests: readonly { readonly path: string; readonly headers: Readonly<Record<string, string | string[] | undefined>> }[];
  /** Waits until the spans satisfy `check`, which throws until they do. @returns its result */
  until<T>(check: (spans: readonly ReceivedSpan[]) => T): Promise<T>;
  close(): Promise<void>;
}

/** Only the fields that are looked at are defined, by their numbers. Source: opentelemetry-proto, trace/v1/trace.proto. */
const definitions = `
syntax = "proto3";
message Request { repeated ResourceSpans resource_spans = 1; }
message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
message Resource { repeated KeyValue attributes = 1; }
message ScopeSpans { repeated Span spans = 2; string schema_url = 3; }
message Span {
  bytes trace_id = 1; bytes span_id = 2; bytes parent_span_id = 4; string name = 5; int32 kind = 6;
  fixed64 start_time_unix_nano = 7; fixed64 end_time_unix_nano = 8;
  repeated KeyValue attributes = 9; repeated Link links = 13; Status status = 15;
}
message Link { bytes trace_id = 1; bytes span_id = 2; }
message Status { string message = 2; int32 code = 3; }
message KeyValue { string key = 1; AnyValue value = 2; }
message AnyValue { oneof value { string string_value = 1; bool bool_value = 2; int64 int_value = 3; double double_value = 4; ArrayValue array_value = 5; } }
message ArrayValue { repeated AnyValue values = 1; }
`;

interface Decoded {
  readonly resourceSpans: readonly {
    readonly resource?: { readonly attributes: readonly KeyValue[] };
    readonly scopeSpans: readonly { readonly spans: readonly DecodedSpan[]; readonly schemaUrl: string }[];
  }[];
}
interface KeyValue {
  readonly key: string;
  readonly value?: AnyValue;
}
type AnyValue = Readonly<Record<string, unknown>>;
interface DecodedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly name: string;
  readonly kind: number;
  /** Start in nanoseconds, which numbers of JavaScript have to some hundreds. */
  readonly startTimeUnixNano: number;
  readonly endTimeUnixNano: number;
  readonly attributes: readonly KeyValue[];
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly status?: { readonly code: number };
}

export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const type = protobuf.parse(definitions).root.lookupType('Request');
  const spans: ReceivedSpan[] = [];
  const requests: OtlpReceiver['requests'][number][] = [];
  const servers = new Servers();
  const { port } = await servers.http(
    whole(({ url = '', headers }, response, raw) => {
      requests.push({ path: url, headers });
      const body = headers['content-encoding'] === 'gzip' ? gunzipSync(raw) : raw;
      const options = { bytes: String, longs: Number, defaults: true, arrays: true };
      const decoded = type.toObject(type.decode(body), options) as unknown as Decoded;
      spans.push(...decoded.resourceSpans.flatMap(toSpans));
      response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
    }),
  );
  return {
    url: `http://127.0.0.1:${port}`,
    spans,
    requests,
    until: (check) => eventually(() => check(spans)),
    close: () => servers.stop(),
  };
}

function toSpans({ resource, scopeSpans }: Decoded['resourceSpans'][number]): readonly ReceivedSpan[] {
  const about = valuesOf(resource?.attributes ?? []);
  return scopeSpans.flatMap(({ spans, schemaUrl }) =>
    spans.map(({ traceId, spanId, parentSpanId, name, kind, attributes, links, status, startTimeUnixNano, endTimeUnixNano }) => ({
      traceId: hex(traceId),
      spanId: hex(spanId),
      parentSpanId: hex(parentSpanId),
      name,
      kind,
      attributes: valuesOf(attributes),
      links: links.map((link) => ({ traceId: hex(link.traceId), spanId: hex(link.spanId) })),
      statusCode: status?.code ?? 0,
      resource: about,
      schemaUrl,
      startedAt: startTimeUnixNano / 1e6,
      endedAt: endTimeUnixNano / 1e6,
    })),
  );
}

const hex = (base64: string): string => Buffer.from(base64, 'base64').toString('hex');

function valuesOf(attributes: readonly KeyValue[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(attributes.map(({ key, value = {} }) => [key, valueOf(value)]));
}

function valueOf(value: AnyValue): unknown {
  const kind = Object.keys(value).find((name) => name.endsWith('Value'));
  if (kind === undefined) return undefined;
  return kind === 'arrayValue' ? (value[kind] as { readonly values: readonly AnyValue[] }).values.map(valueOf) : value[kind];
}
