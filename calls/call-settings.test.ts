import { expect, it } from 'vitest';

import { agentKind } from '../crds/index.ts';
import { anAgent } from '../test/support/builders.ts';
import { callSettingsOf, dynamicDataToBring } from './call-settings.ts';

it('a call need not bring what a lookup of the agent supplies', () => {
  const requiredDynamicData = ['who', 'plan'];
  const dynamicData = [{ name: 'crm', url: 'https://crm.example.com', response: [{ name: 'plan', path: '$.plan' }] }];
  const specOf = (fields: Record<string, unknown>) => agentKind.spec.parse(anAgent('a', 'acme', fields).spec);
  expect(dynamicDataToBring(specOf({ requiredDynamicData, dynamicData }))).toEqual(['who']);
  expect(dynamicDataToBring(specOf({ requiredDynamicData }))).toEqual(['who', 'plan']);
});

it.each([
  [{ mode: 'Never' }, { recordingEnabled: false, recordingRetentionMs: undefined }],
  [
    { mode: 'Always', retention: '36h' },
    { recordingEnabled: true, recordingRetentionMs: 129_600_000 },
  ],
])('a revision with the recording %o decides %o', (recording, expected) => {
  const agent = { llm: {}, call: { maxDuration: '30m' }, recording };
  expect(callSettingsOf({ displayName: 'A', agent, versions: {} })).toMatchObject(expected);
});
