/** Sends a conversation through the receiver and the exporter of OpenTelemetry's collector, and checks what they pass on. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';

import { initializeLogger } from '@livekit/agents';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';

import { agentKind } from '../../../crds/agent.ts';
import { SearchUnavailableError } from '../../../knowledge/search/search.ts';
import { systemClock } from '../../../platform/clock.ts';
import { openEgress, type TestEgress } from '../../support/open-egress.ts';
import { openTracing, type Tracing } from '../../../platform/telemetry/open-tracing.ts';
import { inSpan } from '../../../platform/telemetry/tracing.ts';
import { TextCall } from '../../../agent-tests/text/text-call.ts';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/free-port.ts';
import { isGenAi, violationsOf } from '../../support/gen-ai-conventions.ts';
import { startOtlpReceiver, type OtlpReceiver } from '../../support/otlp-receiver.ts';
import { testGoProgram } from '../../support/programs.ts';
import { startProviderServer, type ProviderServer } from '../../support/provider-server.ts';
import { keptLines } from './roles.ts';
import { OAuthTokens } from '../../../calls/mcp-client/oauth-tokens.ts';

let collector: ChildProcess;
let behind: OtlpReceiver;
let tracing: Tracing;
let provider: ProviderServer;
let egress: TestEgress;
let collectorLog = '';

beforeAll(async () => {
  const program = await testGoProgram('collector');
  behind = await startOtlpReceiver();
  const port = await freePort();
  collector = spawn(program, [`127.0.0.1:${port}`, behind.url], { stdio: ['ignore', 'ignore', 'pipe'] });
  collector.stderr?.setEncoding('utf8').on('data', (text: string) => (collectorLog += text));
  await eventually(() => expect(collectorLog).toContain('\tready\n'));
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', `http://127.0.0.1:${port}`);
  vi.stubEnv('OTEL_BSP_SCHEDULE_DELAY', '100');
  tracing = await openTracing({ env: process.env, role: 'test', version: '1.2.3', logger: keptLines().loggerOf('test') });
  initializeLogger({ pretty: false, level: 'silent' });
  provider = await startProviderServer();
  egress = openEgress({ allowCidrs: ['127.0.0.0/8'], allowedPorts: '1-65535' });
});
afterAll(async () => {
  await tracing.close();
  collector.kill('SIGTERM');
  if (collector.exitCode === null) await once(collector, 'exit');
  await behind.close();
  await provider.close();
  egress.close();
  vi.unstubAllEnvs();
});

it('comes through whole: one trace, valid spans, the version of the conventions', async () => {
  const llm = { provider: 'openai_compatible', model: 'test-model', baseURL: provider.url };
  const speech = { provider: 'openai_compatible', model: 'unused', baseURL: provider.url };
  const parsed = agentKind.spec.parse({ llm, speechToText: speech, textToSpeech: speech });
  const { suspend: _suspend, displayName: _name, knowledgeBaseRef: _ref, ...agent } = parsed;
  const unused = () => Promise.reject(new SearchUnavailableError('not asked'));
  const services = {
    keys: { read: unused },
    egress,
    defaults: [],
    env: {},
    tools: {
      search: { search: unused },
      mailer: { send: unused },
      calendar: { book: unused, freeTimes: unused } as never,
      tokens: new OAuthTokens({ clock: systemClock }),
    },
    clock: systemClock,
    logger: keptLines().loggerOf('test'),
  };
  await inSpan({ name: 'test', parent: 'none' }, async () => {
    const call = new TextCall({
      services,
      org: 'acme',
      config: {
        format: 1,
        name: 'receptionist',
        displayName: 'Receptionist',
        agent,
        systemPrompt: null,
        tools: [],
        knowledgeBase: null,
        versions: { secrets: {}, knowledgeBaseUid: null },
      },
      dynamicData: {},
    });
    await call.start();
    expect((await call.say('Hello?')).messages).toEqual(['I heard: Hello?']);
    provider.chat(() => ({ text: 'Goodbye.', toolCalls: [{ name: 'end_call' }] }));
    expect((await call.say('That is all.')).ended).toBe('agent_ended_call');
  });
  await expect.poll(() => behind.spans.map(({ name }) => name)).toContain('test');
  const spans = behind.spans.filter(isGenAi);
  expect(spans.flatMap((span) => violationsOf(span, { content: false }))).toEqual([]);
  expect(spans.map(({ name }) => name).toSorted()).toEqual([
    'chat test-model',
    'chat test-model',
    'execute_tool end_call',
    'invoke_agent receptionist',
    'invoke_agent receptionist',
  ]);
  expect(new Set(behind.spans.map(({ traceId }) => traceId)).size).toBe(1);
  expect(collectorLog).not.toMatch(/\t(WARN|ERROR)\t/);
});
