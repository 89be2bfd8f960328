import { expect, it } from 'vitest';

import { agentKind } from '../crds/index.ts';
import { anAgent } from '../test/support/builders.ts';
import { callSettingsOf, dynamicDataToBring } from './call-settings.ts';

it('a call need not bring what a lookup of the agent supplies', () => {
  const llm = { provider: 'openai', model: 'm', requiredDynamicData: ['who', 'plan'] };
  const dynamicData = [{ name: 'crm', url: 'https://crm.example.com', response: [{ name: 'plan', path: '$.plan' }] }];
  const specOf = (fields: Record<string, unknown>) => agentKind.spec.parse(anAgent('a', 'acme', fields).spec);
  expect(dynamicDataToBring(specOf({ llm, dynamicData }))).toEqual(['who']);
  expect(dynamicDataToBring(specOf({ llm }))).toEqual(['who', 'plan']);
});

it.each([
  [{ enabled: false }, { recordingEnabled: false, recordingRetentionDays: undefined }],
  [
    { enabled: true, retentionDays: 30 },
    { recordingEnabled: true, recordingRetentionDays: 30 },
  ],
])('a revision with the recording %o decides %o', (recording, expected) => {
  const agent = { llm: {}, call: { maxDuration: '30m' }, recording };
  expect(callSettingsOf({ displayName: 'A', agent, versions: {} })).toMatchObject(expected);
});
