/**
 * Defines OpenTelemetry's own variables that an installation is likely to set. Its packages read them, and all others that it defines,
 * from the environment; here they are checked, shown by `parley config`, and given a place in the chart.
 */
import { z } from 'zod';

const httpAddress = z
  .url({ protocol: /^https?$/, error: 'must be an http:// or https:// address, e.g. http://collector:4318' })
  .regex(/^[^@]*$/, 'must be without user and password: use OTEL_EXPORTER_OTLP_HEADERS');

export const telemetryFields = {
  OTEL_EXPORTER_OTLP_ENDPOINT: httpAddress
    .optional()
    .describe(
      'The collector that traces are sent to, e.g. http://collector:4318: OTLP over HTTP, to /v1/traces below it. Without one nothing is traced.',
    ),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: httpAddress.optional().describe('The same, for traces alone, with the path.'),
  OTEL_EXPORTER_OTLP_HEADERS: z
    .string()
    .optional()
    .describe('Headers for the collector, name=value, separated by commas, such as its credentials.')
    .meta({ secret: true }),
  OTEL_SERVICE_NAME: z.string().optional().describe('Name of the service in traces; `parley-<role>` where absent.'),
  OTEL_RESOURCE_ATTRIBUTES: z
    .string()
    .optional()
    .describe('Further attributes of the process in traces: name=value, separated by commas, e.g. deployment.environment.name=production.'),
  OTEL_TRACES_SAMPLER: z
    .enum(['always_on', 'always_off', 'traceidratio', 'parentbased_always_on', 'parentbased_always_off', 'parentbased_traceidratio'])
    .default('parentbased_always_on')
    .describe('Which traces are kept. The `parentbased` ones follow the decision of the caller.'),
  OTEL_TRACES_SAMPLER_ARG: z
    .string()
    .regex(/^(0(\.[0-9]+)?|1(\.0+)?)$/, 'must be a number from 0 to 1')
    .optional()
    .describe('For the two that end with `ratio`: the share of traces, from 0 to 1.'),
  OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: z
    .enum(['true', 'false', 'span_only', 'span_and_event', 'event_only', 'no_content'])
    .default('false')
    .describe(
      'Whether spans have what was said: messages, and arguments and results of tools, with secrets masked. `span_only` and `span_and_event` mean `true`, the others `false`.',
    ),
  OTEL_SDK_DISABLED: z.enum(['true', 'false']).default('false').describe('Disables traces, whatever else is set.'),
} as const;
