import { describe, expect, it } from 'vitest';

import { misnamedAs } from './misnamed.ts';

const metadata = { name: 'x' };
const right = { apiVersion: 'parley.dev/v1beta1', kind: 'AgentTest', metadata };

describe('a document that is meant for Parley', () => {
  it.each([
    [{ apiVersion: 'parley.dev/v1' }, 'apiVersion', 'there is no AgentTest in "parley.dev/v1": write parley.dev/v1beta1'],
    [{ apiVersion: 'parley.io/v1alpha1' }, 'apiVersion', 'there is no AgentTest in "parley.io/v1alpha1": write parley.dev/v1beta1'],
    [{ apiVersion: 'parly.dev/v1beta1' }, 'apiVersion', 'there is no AgentTest in "parly.dev/v1beta1": write parley.dev/v1beta1'],
    [{ apiVersion: 'v1alpha1' }, 'apiVersion', 'there is no AgentTest in "v1alpha1": write parley.dev/v1beta1'],
    [{ apiVersion: 1 }, 'apiVersion', 'there is no AgentTest in 1: write parley.dev/v1beta1'],
    [{ apiVersion: undefined }, 'apiVersion', 'is required: write parley.dev/v1beta1'],
    [{ kind: 'Agenttest' }, 'kind', 'there is no kind "Agenttest": write AgentTest'],
    [{ kind: 'Test' }, 'kind', expect.stringContaining('write one of Agent, Tool')],
    [{ kind: true }, 'kind', expect.stringContaining('there is no kind true')],
    [{ kind: 'Tools', apiVersion: undefined }, 'kind', 'there is no kind "Tools": write Tool'],
    [{ kind: undefined }, 'kind', expect.stringContaining('is required')],
    [{ kind: undefined, apiVersion: undefined, spec: { agentRefs: [], conversation: [] } }, 'kind', 'is required: AgentTest'],
    [{ metadata: undefined }, 'metadata.name', 'is required'],
    [{ metadata: { name: 7 } }, 'metadata.name', 'is 7, which is no text: put it in quotes'],
  ])('%# and would be refused by the API server says what to write', (change, path, message) => {
    expect(misnamedAs({ ...right, ...change })).toEqual({ path, message });
  });

  it.each([
    ['one that is right', right],
    ['an Agent of another group', { apiVersion: 'kagent.dev/v1alpha2', kind: 'Agent', metadata }],
    ['a Secret', { apiVersion: 'v1', kind: 'Secret', metadata }],
    ['values of a chart', { image: { tag: 'x' }, kind: 'DaemonSet' }],
    ['a text', 'hello'],
    ['nothing', null],
  ])('is not %s', (_what, document) => {
    expect(misnamedAs(document)).toBeUndefined();
  });
});
