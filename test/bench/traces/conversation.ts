/** Prints the processor time of a turn, in milliseconds: `conversation.ts <address of the model> <turns>`. Conversations have twenty turns. */
import { initializeLogger } from '@livekit/agents';

import { TextCall } from '../../../agent-tests/text/text-call.ts';
import { agentKind } from '../../../crds/agent.ts';
import type { AgentRevisionConfig } from '../../../crds/agent-revision.ts';
import { systemClock } from '../../../platform/clock.ts';
import { openEgress } from '../../support/open-egress.ts';
import { createLogger } from '../../../platform/logging.ts';
import { openTracing } from '../../../platform/telemetry/open-tracing.ts';
import { inSpan } from '../../../platform/telemetry/tracing.ts';
import { ToolMocks } from '../../../voice/tools/tool-mocks.ts';
import { OAuthTokens } from '../../../calls/mcp-client/oauth-tokens.ts';

const TURNS_OF_A_CONVERSATION = 20;
const [baseURL = '', turns = '0'] = process.argv.slice(2);

initializeLogger({ pretty: false, level: 'silent' });
const logger = createLogger({ role: 'bench', level: 'silent' });
const tracing = await openTracing({ env: process.env, role: 'bench', logger });
const provider = { provider: 'openai_compatible', model: 'bench-model', baseURL };
const parsed = agentKind.spec.parse({ llm: provider, speechToText: provider, textToSpeech: provider });
const { suspend: _suspend, displayName: _name, knowledgeBaseRef: _ref, ...agent } = parsed;
const config: AgentRevisionConfig = {
  format: 1,
  name: 'bench',
  displayName: 'Bench',
  agent,
  systemPrompt: 'Be brief.',
  tools: [
    {
      name: 'look-up',
      functionName: 'look_up',
      spec: {
        type: 'Custom',
        custom: { function: { name: 'look_up', parameters: { type: 'object' } }, http: { url: 'https://unused.example', method: 'POST' } },
      },
    } as unknown as AgentRevisionConfig['tools'][number],
  ],
  knowledgeBase: null,
  versions: { secrets: {}, knowledgeBaseUid: null },
};
const unused = () => Promise.reject(new Error('not used'));
const services = {
  keys: { read: unused },
  egress: openEgress({ allowCidrs: ['127.0.0.0/8'], allowedPorts: '1-65535' }),
  defaults: [],
  env: {},
  tools: { search: { search: unused }, mailer: { send: unused }, calendar: {} as never, tokens: new OAuthTokens({ clock: systemClock }) },
  clock: systemClock,
  logger,
};

async function converse(count: number): Promise<void> {
  for (let left = count; left > 0; left -= TURNS_OF_A_CONVERSATION) {
    await inSpan({ name: 'call', parent: 'none' }, async () => {
      const mocks = new ToolMocks({ mocks: [{ name: 'look_up', type: 'Returns', returns: { state: 'shipped' } }], clock: systemClock });
      const call = new TextCall({ services, org: 'bench', config, dynamicData: {}, mocks });
      await call.start();
      for (let turn = 0; turn < Math.min(left, TURNS_OF_A_CONVERSATION); turn += 1) await call.say('Where is my order 42?');
      await call.close();
    });
  }
}

await converse(TURNS_OF_A_CONVERSATION);
const before = process.cpuUsage();
await converse(Number(turns));
await tracing.close();
const { user, system } = process.cpuUsage(before);
process.stdout.write(String((user + system) / 1_000 / Number(turns)));
process.exit(0);
