import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { anAgentRequest } from '../../support/builders.ts';
import { mcpClient, protocolVersions, textsOf } from './mcp-clients.ts';
import { organization, startFacade, type Facade, type TestOrganization } from './facade.ts';

let facade: Facade;
let org: TestOrganization;

beforeAll(async () => {
  facade = await startFacade();
  org = await organization(facade);
});
afterAll(() => facade.close());

describe.each(protocolVersions)('an assistant that speaks %s', (version) => {
  const connect = async (key = org.key) => mcpClient({ url: facade.url, key, version });

  it('lists tools with schemas and hints, and reads agents with them', async () => {
    const client = await connect();
    expect(client.getServerVersion()).toMatchObject({ name: 'parley' });
    const { tools } = await client.listTools();
    const listAgents = tools.find(({ name }) => name === 'list_agents');
    expect(listAgents).toMatchObject({ title: 'List agents', annotations: { readOnlyHint: true, openWorldHint: false } });
    const { body: agent } = await org.call('POST', '/v2/ai-agents', anAgentRequest('Read by an assistant'));
    const result = await client.callTool({ name: 'get_agent', arguments: { ai_agent_id: agent.ai_agent_id } });
    expect(result.isError).toBeFalsy();
    expect(result.structuredContent).toMatchObject({ ai_agent_id: agent.ai_agent_id, agent_name: 'Read by an assistant' });
    expect(JSON.parse(textsOf(result).at(-1) ?? '')).toEqual(result.structuredContent);
  });
});
