import { expect, it } from 'vitest';

import { renameAgent } from './rename-agent.ts';

const renamed = (path: string, content: string) => renameAgent({ path, content }, 'help-desk', 'first-line');

it.each([
  ['the agent', 'metadata:\n  name: help-desk\n', 'metadata:\n  name: first-line\n'],
  ['a reference of a list', 'agentRefs:\n  - name: help-desk\n', 'agentRefs:\n  - name: first-line\n'],
  ['a longer name', '  name: help-desk-handbook\n', '  name: help-desk-handbook\n'],
  ['words of the prompt', '    You are the help-desk\n    name: help-desk too\n', '    You are the help-desk\n    name: help-desk too\n'],
])('%s', (_what, before, after) => {
  expect(renamed('manifests/agent.yaml', before)).toEqual({ path: 'manifests/agent.yaml', content: after });
});

it('renames commands of the page, and nothing in its sentences', () => {
  const page =
    'The help-desk.\n\n```sh\nparley chat help-desk . -t x\nparley kb add help-desk-handbook x\nkubectl get agent/help-desk\n```\n\nUse help-desk.\n';
  expect(renamed('README.md', page).content).toBe(
    'The help-desk.\n\n```sh\nparley chat first-line . -t x\nparley kb add help-desk-handbook x\nkubectl get agent/first-line\n```\n\nUse help-desk.\n',
  );
});

it('renames the files of recorded answers, which are found by the name of the agent', () => {
  const content = '# Answers of models to the test t of the agent help-desk. Written by parley test --record.\nname: help-desk\n';
  expect(renamed('tests/cassettes/t.help-desk.yaml', content)).toEqual({
    path: 'tests/cassettes/t.first-line.yaml',
    content: '# Answers of models to the test t of the agent first-line. Written by parley test --record.\nname: help-desk\n',
  });
});
