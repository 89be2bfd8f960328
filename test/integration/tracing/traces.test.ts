/** A collector gets one trace from the request over the resource, its reconcile, the event and the workflow to the receiver. */
import { randomBytes } from 'node:crypto';

import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

import { openTracing, type Tracing } from '../../../platform/telemetry/open-tracing.ts';
import { expectDocumented } from '../../support/documented-lines.ts';
import { eventually } from '../../support/eventually.ts';
import { startOtlpReceiver, type ReceivedSpan } from '../../support/otlp-receiver.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { startWebhookSink, type ReceivedWebhook, type WebhookSink } from '../../support/webhook-sink.ts';
import { kubectl, kubectlJson, organization, startFacade, type RestAnswer, type Facade, type TestOrganization } from '../api/facade.ts';
import { keptLines, knowledgeOf, linesOf, sharedSettings, startRoles, type KeptLine, type Roles } from './roles.ts';

const one = '/v1/public/webhook/subscription';
const collector = suiteFixture(startOtlpReceiver);
let tracing: Tracing;
let facade: Facade;
let ours: TestOrganization;
let roles: Roles;
let sink: WebhookSink;
let settings: Awaited<ReturnType<typeof sharedSettings>>;

beforeAll(async () => {
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', collector.url);
  vi.stubEnv('OTEL_EXPORTER_OTLP_HEADERS', 'x-tenant=parley');
  vi.stubEnv('OTEL_RESOURCE_ATTRIBUTES', 'deployment.environment.name=test');
  vi.stubEnv('OTEL_BSP_SCHEDULE_DELAY', '100');
  tracing = await openTracing({ env: process.env, role: 'test', version: '1.2.3', logger: keptLines().loggerOf('test') });
  settings = await sharedSettings();
  facade = await startFacade({ knowledge: knowledgeOf(settings.env) });
  ours = await organization(facade);
  const env = { ...settings.env, DATABASE_URL: facade.database.url, PARLEY_NAMESPACE: ours.name };
  [roles, sink] = await Promise.all([startRoles(env), startWebhookSink()]);
});
afterAll(async () => {
  await roles.stop();
  await facade.close();
  await sink.close();
  await tracing.close();
  await settings.remove();
  vi.unstubAllEnvs();
});

interface Caller {
  readonly traceId: string;
  readonly spanId: string;
  readonly headers: { readonly traceparent: string };
}

/** Makes a caller who sends requests with a trace of their own. */
function caller({ sampled = true } = {}): Caller {
  const [traceId, spanId] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')];
  return { traceId, spanId, headers: { traceparent: `00-${traceId}-${spanId}-${sampled ? '01' : '00'}` } };
}

const call = async (from: Caller, method: string, path: string, body?: unknown): Promise<RestAnswer> => {
  const answer = await ours.call(method, path, body, { headers: from.headers });
  expect(answer.status, answer.text).toBeLessThan(300);
  expect(answer.headers.get('x-trace-id')).toBe(from.traceId);
  return answer;
};

const subscribe = async (from: Caller, path: string, more: object = {}): Promise<string> => {
  const body = {
    name: `Hook ${path}`,
    url: sink.url(path),
    enable_signed_webhooks: true,
    request_timeout_ms: 30_000,
    retry_policy: { maxRetryAttempts: 0 },
    ...more,
  };
  return ((await call(from, 'POST', one, body)).body as { readonly id: string }).id;
};

const came = (path: string, count = 1): Promise<ReceivedWebhook> =>
  eventually(() => sink.received(path)[count - 1] ?? Promise.reject(new Error(`nothing has come to ${path}`)));

const annotationOf = async (name: string): Promise<unknown> => {
  const { metadata } = await kubectlJson<{ readonly metadata: { readonly annotations?: Record<string, string> } }>([
    'get',
    'webhooksubscription',
    name,
    `--namespace=${ours.name}`,
  ]);
  const text = metadata.annotations?.['parley.dev/trace'];
  return text === undefined ? undefined : JSON.parse(text);
};

const inTrace = ({ traceId }: Caller): readonly ReceivedSpan[] => collector.spans.filter((span) => span.traceId === traceId);

/** Waits for the span of this name in a trace, and checks what it has to do with the others. */
async function spanOf(from: Caller, name: string | RegExp): Promise<ReceivedSpan> {
  return eventually(() => {
    const found = inTrace(from).find((span) => (typeof name === 'string' ? span.name === name : name.test(span.name)));
    return (
      found ??
      Promise.reject(
        new Error(
          `no span ${name} among ${inTrace(from)
            .map((span) => span.name)
            .join(', ')}`,
        ),
      )
    );
  });
}

describe('a trace', () => {
  it('goes from the request over the reconcile and the event to the receiver, and every line of a log names it', async () => {
    const from = caller();
    const id = await subscribe(from, '/whole');
    await eventually(() => spanOf(from, 'reconcile WebhookSubscription'));
    await call(from, 'POST', `${one}/${id}/test`);
    const received = await came('/whole');

    const made = await spanOf(from, `POST ${one}`);
    expect(made).toMatchObject({
      kind: 2,
      parentSpanId: from.spanId,
      attributes: { 'http.request.method': 'POST', 'http.route': one, 'http.response.status_code': 201, 'parley.org': ours.name },
      resource: { 'service.name': 'parley-test', 'service.version': '1.2.3', 'deployment.environment.name': 'test' },
    });
    // These are the steps of the request, and of the reconcile that follows it.
    expect(
      inTrace(from)
        .filter(({ parentSpanId }) => parentSpanId === made.spanId)
        .map(({ name }) => name),
    ).toEqual(expect.arrayContaining(['auth', 'kubernetes']));
    const status = await spanOf(from, 'apply status');
    // The generation may be reconciled again, without a status to write.
    const reconcile = await eventually(
      () => inTrace(from).find(({ spanId }) => spanId === status.parentSpanId) ?? Promise.reject(new Error('the status has no reconcile')),
    );
    expect(reconcile.name).toBe('reconcile WebhookSubscription');
    expect(reconcile).toMatchObject({ kind: 5, attributes: { 'parley.name': id, 'parley.generation': 1 } });
    const ofRequest = new Set(
      inTrace(from)
        .filter((span) => span.parentSpanId === made.spanId || span === made)
        .map(({ spanId }) => spanId),
    );
    expect(ofRequest).toContain(reconcile.parentSpanId);

    const delivery = await spanOf(from, 'deliver Webhook.Test');
    const fired = await spanOf(from, /^POST .*\/test$/);
    expect(delivery).toMatchObject({
      kind: 3,
      attributes: { 'http.response.status_code': 200, 'server.address': '127.0.0.1', 'parley.attempt': 1 },
    });
    const ofFiring = new Set(
      inTrace(from)
        .filter((span) => span.parentSpanId === fired.spanId || span === fired)
        .map(({ spanId }) => spanId),
    );
    expect(ofFiring).toContain(delivery.parentSpanId);
    expect(received.headers['traceparent']).toBe(`00-${from.traceId}-${delivery.spanId}-01`);

    await eventually(() => {
      const lines: readonly KeptLine[] = [...roles.lines(), ...linesOf(facade.log())].filter((line) => line['traceId'] === from.traceId);
      expect(new Set(lines.map(({ msg }) => msg))).toEqual(new Set(['request', 'reconcile', 'delivery']));
      expect(lines.find(({ msg }) => msg === 'delivery')).toMatchObject({ spanId: delivery.spanId });
    });
    expect(collector.requests[0]).toMatchObject({ path: '/v1/traces', headers: { 'x-tenant': 'parley' } });
  });

  it('goes on through the workflow that tries a delivery again', async () => {
    const from = caller();
    sink.behave('/again', 503);
    const id = await subscribe(from, '/again', {
      retry_policy: { retryStrategy: 'FIXED_DELAY', maxRetryDelayMs: 1_200, maxRetryAttempts: 3 },
    });
    await call(from, 'POST', `${one}/${id}/test`);
    const first = await came('/again');
    sink.behave('/again', 200);
    const second = await came('/again', 2);
    await spanOf(from, 'StartWorkflow:deliverWithRetries');
    const activity = await spanOf(from, 'RunActivity:deliver');
    // Each attempt to start it has a span: the answer to the first may have been lost.
    const starts = inTrace(from).filter(({ name }) => name === 'StartWorkflow:deliverWithRetries');
    expect(starts.map(({ spanId }) => spanId)).toContain(activity.parentSpanId);
    await collector.until(() =>
      expect(inTrace(from).filter(({ name }) => name === 'deliver Webhook.Test').length).toBeGreaterThanOrEqual(2),
    );
    const attempts = inTrace(from).filter(({ name }) => name === 'deliver Webhook.Test');
    expect(attempts.find(({ attributes }) => attributes['parley.attempt'] === 1)).toMatchObject({
      statusCode: 2,
      attributes: { 'error.type': 'http_status', 'http.response.status_code': 503 },
    });
    for (const { headers } of [first, second])
      expect(attempts.map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`)).toContain(headers['traceparent']);
    expect(first.headers['traceparent']).not.toBe(second.headers['traceparent']);
  });

  it('goes on through the ingestion of a document, to its event', async () => {
    const from = caller();
    const bases = '/api/v1/knowledge-bases';
    const base = ((await call(from, 'POST', bases, { name: 'Manuals' })).body as { readonly id: string }).id;
    await subscribe(from, '/read', { events: ['KnowledgeBase.DocumentCompleted'] });
    const form = new FormData();
    form.append('file', new Blob(['Reset the device by holding both buttons.']), 'manual.txt');
    await call(from, 'POST', `${bases}/${base}/documents/file`, form);
    const received = await came('/read');
    const started = await spanOf(from, 'StartWorkflow:ingestDocument');
    await spanOf(from, 'RunActivity:ingestInOnePass');
    // Others receive it, too.
    await collector.until(() => {
      const delivery = inTrace(from).find(({ spanId }) => received.headers['traceparent'] === `00-${from.traceId}-${spanId}-01`);
      expect(delivery).toMatchObject({ name: 'deliver KnowledgeBase.DocumentCompleted' });
      // The parent is the one pass, or the last of the stages that a document goes through where the pass takes too long.
      const completed = inTrace(from).find(({ spanId }) => spanId === delivery?.parentSpanId);
      expect(completed).toMatchObject({
        name: expect.stringMatching(/^RunActivity:(ingestInOnePass|completeDocument)$/),
        parentSpanId: started.spanId,
        statusCode: 0,
      });
    });
  });

  it('is written into the resource only when its spec changes, and means nothing once somebody else has changed it', async () => {
    const from = caller();
    const id = await subscribe(from, '/noted');
    const noted = await annotationOf(id);
    expect(noted).toMatchObject({ generation: 1, traceparent: expect.stringContaining(from.traceId) });
    const versionOf = async (): Promise<unknown> =>
      (
        await kubectlJson<{ readonly spec: unknown; readonly metadata: { readonly managedFields: unknown } }>([
          'get',
          'webhooksubscription',
          id,
          `--namespace=${ours.name}`,
        ])
      ).metadata.managedFields;
    await spanOf(from, 'apply status');
    const before = await versionOf();
    // The same change comes again, in the course of another request: nothing is written.
    await call(caller(), 'PATCH', `${one}/${id}`, { url: sink.url('/noted') });
    expect(await annotationOf(id)).toEqual(noted);
    expect(await versionOf()).toEqual(before);
    const changing = caller();
    await call(changing, 'PATCH', `${one}/${id}`, { url: sink.url('/moved') });
    expect(await annotationOf(id)).toMatchObject({ generation: 2, traceparent: expect.stringContaining(changing.traceId) });
    expect(await spanOf(changing, 'reconcile WebhookSubscription')).toMatchObject({ attributes: { 'parley.generation': 2 } });
    // A change from elsewhere has no part in it.
    await kubectl([
      'patch',
      'webhooksubscription',
      id,
      `--namespace=${ours.name}`,
      '--type=merge',
      `--patch={"spec":{"url":"${sink.url('/else')}"}}`,
    ]);
    const other = await eventually(() => {
      const found = collector.spans.find(({ attributes }) => attributes['parley.name'] === id && attributes['parley.generation'] === 3);
      return found ?? Promise.reject(new Error('no reconcile of the third generation'));
    });
    expect([from.traceId, changing.traceId]).not.toContain(other.traceId);
    expect(other).toMatchObject({ name: 'reconcile WebhookSubscription', parentSpanId: '' });
  });

  it('that its caller does not want to be seen leaves no span and no note', async () => {
    const from = caller({ sampled: false });
    const id = await subscribe(from, '/unseen');
    expect(await annotationOf(id)).toBeUndefined();
    await call(from, 'POST', `${one}/${id}/test`);
    // Its receiver doesn't keep it either.
    const { headers } = await came('/unseen');
    expect(headers['traceparent']).toMatch(new RegExp(`^00-${from.traceId}-[0-9a-f]{16}-00$`));
    const seen = caller();
    await call(seen, 'GET', `${one}/${id}`);
    await spanOf(seen, /^GET /);
    expect(inTrace(from)).toEqual([]);
  });
});

describe('the lines of what has happened', () => {
  it('are as the page about logs says: one for each, with these fields and no others', async () => {
    const path = '/logged';
    sink.behave(path, 500);
    const id = await subscribe(caller(), path);
    await ours.call('POST', `${one}/${id}/test`);
    await came(path);
    await ours.call('GET', `${one}/absent`);
    await facade.call('GET', '/v2/ai-agents');
    const all = (): readonly KeptLine[] => [...linesOf(facade.log()), ...roles.lines()];
    const given = await eventually(
      () => all().find((line) => line.msg === 'delivery' && line['subscription'] === id) ?? Promise.reject(new Error('no line')),
    );
    expect(given).toMatchObject({
      level: 'error',
      outcome: 'failed',
      state: 'failed',
      status: 500,
      attempt: 1,
      host: `127.0.0.1:${sink.port}`,
    });
    const wide = all().filter(({ msg }) => ['request', 'reconcile', 'delivery', 'ingestion'].includes(msg));
    expect(new Set(wide.map(({ msg }) => msg))).toEqual(new Set(['request', 'reconcile', 'delivery', 'ingestion']));
    for (const line of wide) await expectDocumented(line);
    // An attempt has one line, wherever it was made.
    const attempts = wide.filter(({ msg }) => msg === 'delivery').map((line) => `${String(line['delivery'])} ${String(line['attempt'])}`);
    expect(attempts).toEqual([...new Set(attempts)]);
    expect(attempts.length).toBeGreaterThanOrEqual(sink.received().length);
    const ingested = wide.filter(({ msg }) => msg === 'ingestion');
    expect(ingested).toHaveLength(1);
    expect(ingested[0]).toMatchObject({ level: 'info', outcome: 'completed', source: 'file', chunks: 1, org: ours.name });
    // A role at rest says nothing at a level that is shown.
    for (const line of wide) if (line.msg === 'reconcile' && line['outcome'] === 'unchanged') expect(line.level).toBe('debug');
    const text = JSON.stringify(all());
    for (const secret of [ours.key, 'Reset the device', path]) expect(text).not.toContain(secret);
  });
});
