import { expect, it } from 'vitest';

import { agentLabel, chosenAgent } from './chosen-agent.ts';

const agent = (id: string) => ({ ai_agent_id: id, agent_name: id, required_dynamic_data: [] });

it('is the one of the link, else the first', () => {
  const agents = [agent('a'), agent('b')];
  expect(chosenAgent(agents, 'b')).toEqual({ agent: agent('b'), problem: undefined });
  expect(chosenAgent(agents, undefined)).toEqual({ agent: agent('a'), problem: undefined });
});

it('says so where the link names none that is there, and where there are none', () => {
  expect(chosenAgent([agent('a')], 'nobody').problem).toMatch(/no agent “nobody”/);
  expect(chosenAgent([], 'a')).toMatchObject({ agent: undefined, problem: expect.stringMatching(/no agents/) });
});

it('is called by its name, with its id where two have the same name', () => {
  const agents = [agent('a'), { ...agent('b'), agent_name: 'Front desk' }, { ...agent('c'), agent_name: 'Front desk' }];
  expect(agents.map((one) => agentLabel(one, agents))).toEqual(['a', 'Front desk (b)', 'Front desk (c)']);
});
