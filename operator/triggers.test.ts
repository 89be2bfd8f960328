import { describe, expect, it } from 'vitest';

import type { Agent, KnowledgeBase, PhoneNumber, Tool } from '../crds/index.ts';
import type { Change, KubeObject, Stored } from '../kube/index.ts';
import { storedObject } from '../test/support/arbitrary-things.ts';
import { referenceIndex, type ParleyObject } from './references/references-of.ts';
import { displayNameOf } from './references/cluster-snapshot.ts';
import { displayNameKey, INDEXES, type Informers } from './informers.ts';
import type { Trigger } from './runtime/controller.ts';
import { Triggers } from './triggers.ts';

const speech = { speechToText: { provider: 'deepgram' }, textToSpeech: { provider: 'elevenlabs' } };
const agent = (name: string, llm: object = {}, rest: object = {}) =>
  storedObject('Agent', name, { llm: { model: 'm', ...llm }, ...speech, ...rest });
const tool = (name: string, functionName: string, agents: readonly string[], secret?: string) =>
  storedObject('Tool', name, {
    agentRefs: agents.map((each) => ({ name: each })),
    type: 'Custom',
    custom: {
      function: { name: functionName },
      http: {
        url: 'https://a.example.com',
        ...(secret === undefined ? {} : { headers: [{ name: 'x', valueFrom: { secretKeyRef: { name: secret, key: 'k' } } }] }),
      },
    },
  });

const objects: readonly ParleyObject[] = [
  agent('plain'),
  agent('keyed', { apiKeySecretRef: { name: 'keys', key: 'k' } }),
  agent('prompted', { systemPromptFrom: { configMapKeyRef: { name: 'texts', key: 'k' } } }, { knowledgeBaseRef: { name: 'faq' } }),
  tool('find-1', 'find', ['plain'], 'keys'),
  tool('find-2', 'find', ['plain', 'keyed']),
  tool('send', 'send', ['plain']),
  storedObject('PhoneNumber', 'front', { number: '+15550100', type: 'Native', inboundAgentRef: { name: 'plain' } }),
  storedObject('PhoneNumber', 'rival', { number: '+15550100', type: 'Native' }, { namespace: 'globex' }),
  storedObject('KnowledgeBase', 'faq', { displayName: 'Answers' }),
  storedObject('KnowledgeBase', 'other', { displayName: 'Answers' }),
  storedObject('WebhookSubscription', 'hook', { url: 'https://h.example.com', signing: { mode: 'Generated' } }),
  agent('elsewhere', { apiKeySecretRef: { name: 'other-keys', key: 'k' } }),
  agent('desk', {}, { handoffs: [{ agentRef: { name: 'plain' }, when: 'it suits' }] }),
];

/** A cache that is never started: a list with the operator's own indexes. */
function cacheOf(kind: string): unknown {
  const items = objects.filter((object) => object.kind === kind);
  const byIndex = (index: string, value: string): readonly ParleyObject[] =>
    items.filter((object) => {
      if (index === INDEXES.references) return referenceIndex(object).includes(value);
      if (index === INDEXES.namespace) return object.metadata.namespace === value;
      if (index === INDEXES.number) return (object as PhoneNumber).spec.number === value;
      return displayNameKey(object.metadata.namespace, displayNameOf(object as KnowledgeBase)) === value;
    });
  return { cache: { byIndex } };
}

const informers = {
  Agent: cacheOf('Agent'),
  Tool: cacheOf('Tool'),
  PhoneNumber: cacheOf('PhoneNumber'),
  KnowledgeBase: cacheOf('KnowledgeBase'),
  WebhookSubscription: cacheOf('WebhookSubscription'),
  AgentTest: cacheOf('AgentTest'),
} as Informers;
const triggers = new Triggers(informers);
const data = (name: string): KubeObject => ({ apiVersion: 'v1', kind: 'PartialObjectMetadata', metadata: { namespace: 'acme', name } });
const named = (list: readonly Trigger[]): readonly string[] => [...new Set(list.map(({ kind, key }) => `${kind}/${key}`))].sort();
const find = <T extends ParleyObject>(kind: string, name: string): Stored<T> =>
  objects.find((object) => object.kind === kind && object.metadata.name === name) as Stored<T>;
const change = <T>(type: Change<T>['type'], object: T, previous?: T): Change<T> => ({
  type,
  object,
  initial: false,
  ...(previous === undefined ? {} : { previous }),
});

describe('what is reconciled', () => {
  it('after a Secret: what names it, and the agents of the tools that do', () => {
    expect(named(triggers.onData('Secret', data('keys')))).toEqual(['Agent/acme/keyed', 'Agent/acme/plain', 'Tool/acme/find-1']);
    expect(named(triggers.onData('Secret', data('webhooksubscription-hook')))).toEqual(['WebhookSubscription/acme/hook']);
    expect(named(triggers.onData('Secret', data('unused')))).toEqual([]);
  });

  it('after a ConfigMap: what names it, but nothing that names a Secret of that name', () => {
    expect(named(triggers.onData('ConfigMap', data('texts')))).toEqual(['Agent/acme/prompted']);
    expect(named(triggers.onData('ConfigMap', data('keys')))).toEqual([]);
  });

  it('after an agent that comes or goes: what names it; after a change of it: nothing', () => {
    const plain = find<Agent>('Agent', 'plain');
    expect(named(triggers.onAgent(change('added', plain)))).toEqual([
      'Agent/acme/desk',
      'PhoneNumber/acme/front',
      'Tool/acme/find-1',
      'Tool/acme/find-2',
      'Tool/acme/send',
    ]);
    expect(named(triggers.onAgent(change('modified', plain, plain)))).toEqual([]);
  });

  it('after a tool: its agents and its rivals; after a change of its status: nothing', () => {
    const findOne = find<Tool>('Tool', 'find-1');
    expect(named(triggers.onTool(change('deleted', findOne)))).toEqual(['Agent/acme/plain', 'Tool/acme/find-2']);
    expect(named(triggers.onTool(change('modified', findOne, findOne)))).toEqual([]);
    const renamed = { ...tool('find-1', 'send', ['keyed']), metadata: { ...findOne.metadata, generation: 2 } } as Stored<Tool>;
    expect(named(triggers.onTool(change('modified', renamed, findOne)))).toEqual([
      'Agent/acme/keyed',
      'Agent/acme/plain',
      'Tool/acme/find-2',
      'Tool/acme/send',
    ]);
  });

  it('after a phone number or a display name: the others that want it', () => {
    expect(named(triggers.onPhoneNumber(change('deleted', find<PhoneNumber>('PhoneNumber', 'front'))))).toEqual([
      'PhoneNumber/globex/rival',
    ]);
    const faq = find<KnowledgeBase>('KnowledgeBase', 'faq');
    expect(named(triggers.onKnowledgeBase(change('deleted', faq)))).toEqual(['Agent/acme/prompted', 'KnowledgeBase/acme/other']);
    const renamed = { ...faq, spec: { ...faq.spec, displayName: 'Else' } };
    expect(named(triggers.onKnowledgeBase(change('modified', renamed, faq)))).toEqual(['KnowledgeBase/acme/other']);
  });

  it('after a namespace became an organisation: all that is in it, and who shares its numbers', () => {
    expect(named(triggers.onOrganization('globex'))).toEqual(['PhoneNumber/acme/front', 'PhoneNumber/globex/rival']);
  });
});
