import { expect, it } from 'vitest';

import { similarName } from './similar-name.ts';

it.each([
  ['Agenttest', 'AgentTest'],
  ['AgentTests', 'AgentTest'],
  ['agent', 'Agent'],
  ['Toool', 'Tool'],
  ['Deployment', undefined],
  ['', undefined],
  ['A'.repeat(1_000), undefined],
])('that is meant by %s is %s', (name, meant) => {
  expect(similarName(name, ['Agent', 'Tool', 'AgentTest'])).toBe(meant);
});
