/** Uses `/mcp` with the official Python SDK, in both protocol versions. */
import { fileURLToPath } from 'node:url';

import { beforeAll, describe, expect, it } from 'vitest';

import { anAgentRequest } from '../../support/builders.ts';
import { unlimited } from '../../support/limits.ts';
import { testPython } from '../../support/programs.ts';
import { run } from '../../support/run.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { organization, startFacade } from './facade.ts';
import { registerLongCall } from './mcp-clients.ts';

const MCP = '2.3.0';
const perKey = { name: 'key', of: 'key', limit: { perSecond: 0.1, burst: 12 } } as const;

describe('the Python SDK', () => {
  const facade = suiteFixture(startFacade);
  const strict = suiteFixture(() => startFacade({ database: facade.database, limits: { ...unlimited, classes: [perKey] } }));
  const org = suiteFixture(() => organization(facade));
  let interpreter: string;

  beforeAll(async () => {
    interpreter = await testPython({ name: 'mcp', requirements: [`mcp==${MCP}`] });
  });

  it.each([
    ['2025-11-25', 'legacy'],
    ['2026-07-28', '2026-07-28'],
  ])('lists, calls, is refused and goes away over %s', async (version, mode) => {
    const { body: agent } = await org.call('POST', '/v2/ai-agents', anAgentRequest('Asked from Python'));
    const { body: revoked } = await org.call('POST', '/v1/api-keys', { name: 'revoked', permissions: ['agents:read'] });
    await org.call('POST', `/v1/api-keys/${revoked.key_id}/revoke`);
    // Each key has a limit of its own: what the other version left of a shared one would depend on the time between them.
    const { body: fresh } = await org.call('POST', '/v1/api-keys', { name: `limited ${version}`, permissions: ['agents:read'] });
    const call = await registerLongCall(facade, org.name, `call_01234567-89ab-7def-8123-${version.replaceAll('-', '')}0001`, 1_000);
    const given = {
      url: facade.url,
      strict: strict.url,
      mode,
      key: org.key,
      wrong: 'nonsense',
      revoked: revoked.api_key,
      fresh: fresh.api_key,
      agent: agent.ai_agent_id,
      call,
    };
    const script = fileURLToPath(new URL('mcp_client.py', import.meta.url));
    const { code, stdout, stderr } = await run(interpreter, [script, JSON.stringify(given)]);
    expect(code, stderr).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      tools: expect.arrayContaining(['list_agents', 'get_call', 'search_knowledge_base', 'create_test_run', 'explain_resource']),
      agent: 'Asked from Python',
      changes: [{ field: 'agent_name', from: 'Asked from Python', to: 'Other' }],
      unknown: [true, 'not_found (HTTP 404): AI agent not found'],
      resource: 'Asked from Python',
      no_such_tool: expect.stringContaining('there is no tool no_such_tool'),
      cancelled: true,
      messages: 1_000,
      side_by_side: Array.from({ length: 10 }, () => 'Asked from Python'),
      wrong: 'MCPError: unauthorized: this API key is not known',
      revoked: 'MCPError: unauthorized: this API key is revoked: use another one',
      limited: expect.stringMatching(/^rate_limited \(HTTP 429\): .*\nTry again in \d+ seconds\.$/),
    });
  });
});
