/** A call is a part of the trace that it was registered in. */
import { dispose } from '@livekit/rtc-node';
import { afterAll, expect, it } from 'vitest';

import { readTraceparent } from '../../../platform/telemetry/trace-context.ts';
import { expectDocumented } from '../../support/documented-lines.ts';
import { eventually } from '../../support/eventually.ts';
import { startOtlpReceiver } from '../../support/otlp-receiver.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { openStage } from './stage.ts';

afterAll(dispose);
const collector = suiteFixture(startOtlpReceiver);
const stage = suiteFixture(() => openStage({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, PARLEY_VOICE_IDLE_PROCESSES: '1' }));

it('has a span for itself and one for each answer, and its events and its line are of the same trace', async () => {
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
  const secret = 'Never tell anybody about the badger.';
  const call = await stage.joined({ traceparent: `00-${traceId}-00f067aa0ba902b7-01`, systemPrompt: secret });
  await call.becomes({ status: 'ongoing' });
  await call.says('hello');
  await call.caller.hears('I heard: hello');
  await call.caller.leave();
  await call.becomes({ status: 'ended' });
  // The line is of the job that served the call: on a busy machine another may have been sent as well.
  const line = await eventually(() => call.lines().find(({ msg }) => msg === 'the call is over') ?? Promise.reject(new Error('no line')));
  const [span] = await collector.until((spans) => {
    expect(spans.map(({ name }) => name)).toContain('invoke_agent receptionist');
    const found = spans.filter(({ spanId }) => spanId === line['spanId']);
    expect(found).toHaveLength(1);
    return found;
  });
  expect(span).toMatchObject({
    name: 'call',
    traceId,
    parentSpanId: '00f067aa0ba902b7',
    attributes: { 'parley.call': call.id, 'parley.org': stage.org },
    resource: { 'service.name': 'parley-voice' },
  });
  const [turn] = await call.turns();
  const answered = collector.spans.find(
    ({ name, attributes }) => name.startsWith('invoke_agent') && attributes['parley.turn'] === turn?.seq,
  );
  expect(answered).toMatchObject({ traceId, parentSpanId: span?.spanId });
  const events = await stage.store.database.asOrganization(stage.org, async (transaction) => {
    const { rows } = await transaction.query<{ name: string; traceparent: string | null }>(
      'SELECT e.name, b.traceparent FROM parley.events e JOIN parley.event_bodies b USING (id) ORDER BY e.id',
    );
    return rows;
  });
  expect(events.map(({ name }) => name)).toEqual(expect.arrayContaining(['CallHandler.CallStarted', 'CallHandler.CallEnded']));
  for (const { traceparent } of events) expect(readTraceparent(traceparent)).toMatchObject({ traceId, sampled: true });
  expect(line).toMatchObject({ traceId });
  await expectDocumented(line);
  // The spans have neither the prompt nor the transcript.
  const all = JSON.stringify(collector.spans);
  for (const said of [secret, 'hello']) expect(all).not.toContain(said);
});
