import { describe, expect, it } from 'vitest';

import { anAgent } from '../test/support/builders.ts';
import { agentKind, type AgentSpec } from './agent.ts';
import { agentRemarks, toolDataRemarks } from './agent-consistency.ts';
import { toolKind } from './tool.ts';

const agent = (fields: object): AgentSpec => agentKind.spec.parse({ ...anAgent('a').spec, ...fields });
const prompted = (fields: object): AgentSpec => agent({ llm: { provider: 'openai', model: 'm', ...fields } });

const found = (name: string, more: object = {}) => ({
  dynamicData: [{ name: 'crm', url: 'https://a.example', response: [{ name, path: '$.x' }], ...more }],
});
const remarks = (spec: AgentSpec, prompt?: string) => agentRemarks(spec, prompt).map(({ path, message }) => `${path} ${message}`);

describe('a name that nothing supplies', () => {
  it.each<[string, AgentSpec, string]>([
    ['the prompt', prompted({ systemPrompt: 'Speak to {{who}}.' }), 'spec.llm.systemPrompt'],
    ['the keywords', agent({ speechToText: { provider: 'deepgram', keywords: ['Aare', '{{who}}'] } }), 'spec.speechToText.keywords[1]'],
    ['the welcome message', agent({ welcomeMessage: 'Hello {{ who }}' }), 'spec.welcomeMessage'],
    [
      'the message to voicemail',
      agent({ call: { voicemailDetection: { message: 'Dear {{who}}' } } }),
      'spec.call.voicemailDetection.message',
    ],
    [
      'a later silence reminder',
      agent({ call: { silenceReminder: { reminders: [{ after: '5s' }, { after: '9s', message: '{{who}}?' }] } } }),
      'spec.call.silenceReminder.reminders[1].message',
    ],
    ['the silence reminder', agent({ call: { silenceReminder: { message: '{{who}}?' } } }), 'spec.call.silenceReminder.message'],
    [
      'what a datum means',
      agent(found('x', { response: [{ name: 'x', path: '$.x', context: 'Of {{who}}.' }] })),
      'spec.dynamicData[0].response[0].context',
    ],
    ['the address of a lookup', agent(found('x', { url: 'https://a.example/{{who}}' })), 'spec.dynamicData[0].url'],
    ['a header of a lookup', agent(found('x', { headers: [{ name: 'X', value: '{{who}}' }] })), 'spec.dynamicData[0].headers[0].value'],
    ['the query of a lookup', agent(found('x', { query: { q: '{{who}}' } })), 'spec.dynamicData[0].query.q'],
    ['the body of a lookup', agent(found('x', { method: 'POST', body: { a: ['{{who}}'] } })), 'spec.dynamicData[0].body.a[0]'],
    ['a lookup that wants what it finds itself', agent(found('who', { url: 'https://a.example/{{who}}' })), 'spec.dynamicData[0].url'],
  ])('is remarked on in %s', (_where, spec, path) => {
    expect(remarks(spec)).toEqual([
      expect.stringContaining(`${path} holds "{{who}}", which is empty unless the call brings it: list it in`),
    ]);
  });

  it('is remarked on in a prompt that a ConfigMap holds', () => {
    const spec = prompted({ systemPromptFrom: { configMapKeyRef: { name: 'c', key: 'k' } } });
    expect(remarks(spec, 'Speak to {{who}}.')).toEqual([expect.stringMatching(/^spec\.llm\.systemPromptFrom holds "{{who}}"/)]);
    expect(remarks(spec)).toEqual([]);
  });

  it('is none where each call has to bring it, or a lookup finds it, also for what is inside of it', () => {
    const texts = { welcomeMessage: '{{who}} {{who.name}}' };
    expect(remarks(agent({ ...texts, requiredDynamicData: ['who'] }))).toEqual([]);
    expect(remarks(agent({ ...texts, ...found('who') }))).toEqual([]);
    expect(remarks(agent({ ...found('x', { url: 'https://a.example/{{who}}' }), requiredDynamicData: ['who'] }))).toEqual([]);
  });

  it('is none of those that phone calls bring by themselves', () => {
    expect(remarks(agent({ welcomeMessage: '{{from_number}}', ...found('x', { url: 'https://a.example/{{to_number}}' }) }))).toEqual([]);
  });

  it('is compared with those that there are', () => {
    expect(remarks(agent({ welcomeMessage: 'Hello {{customer_nam}}', requiredDynamicData: ['customer_name'] }))).toEqual([
      expect.stringMatching(/did you mean "{{customer_name}}"\?$/),
    ]);
  });

  it('is remarked on in a tool, for the agent that has it', () => {
    const tool = toolKind.spec.parse({
      messages: { start: 'Yes, {{who}}.' },
      type: 'Custom',
      custom: {
        function: { name: 'f' },
        http: { url: 'https://a.example', runtimeParams: { customer: { required: true }, plan: { value: 'x' } } },
      },
    });
    expect(toolDataRemarks(tool, agent({})).map(({ path, message }) => `${path} ${message}`)).toEqual([
      expect.stringMatching(/^spec\.messages\.start holds "{{who}}"/),
      expect.stringMatching(
        /^spec\.custom\.http\.runtimeParams\.customer is taken from .*nothing is requested where the call doesn't bring "customer"/,
      ),
    ]);
    expect(toolDataRemarks(tool, agent({ ...found('who'), requiredDynamicData: ['customer'] }))).toEqual([]);
  });
});

describe('what has no effect', () => {
  const analysis = (item: object) => ({ postCallAnalysis: [{ name: 'topic', type: 'String', ...item }] });
  const canary = (more: object) => ({ release: { canary: { percent: 10, ...more } } });
  it.each<[string, object, string, RegExp]>([
    ['a body with GET', found('x', { body: {} }), 'spec.dynamicData[0].body', /no effect with GET/],
    ['a lookup of nothing', found('x', { response: undefined }), 'spec.dynamicData[0]', /takes nothing/],
    ['single braces in a lookup', found('x', { url: 'https://a.example/{who}' }), 'spec.dynamicData[0].url', /written "{{who}}"$/],
    [
      'a pronunciation that no voice takes',
      {
        speech: {
          replacements: [
            { written: 'x', spoken: 'ex' },
            { written: 'Aare', spoken: 'Aare', ipa: 'ˈaːrə' },
          ],
        },
        textToSpeech: { provider: 'cartesia', fallbacks: [{ provider: 'azure' }] },
      },
      'spec.speech.replacements[1].ipa',
      /^has no effect with cartesia,/,
    ],
    [
      'a speed that the voice does not have',
      { textToSpeech: { provider: 'cartesia', model: 'sonic-2', speed: '1.2' } },
      'spec.textToSpeech.speed',
      /cartesia with the model sonic-2$/,
    ],
    [
      'a message to voicemail that is not recognised',
      { call: { voicemailDetection: { mode: 'Never', message: 'x' } } },
      'spec.call.voicemailDetection.message',
      /not recognised$/,
    ],
    [
      'reminders of an agent that never asks',
      { call: { silenceReminder: { mode: 'Never', reminders: [{ after: '5s' }] } } },
      'spec.call.silenceReminder.reminders',
      /never asks/,
    ],
    [
      'a reminder after the end',
      { call: { endAfterSilence: '20s', silenceReminder: { reminders: [{ after: '5s' }, { after: '20s' }] } } },
      'spec.call.silenceReminder.reminders[1].after',
      /ends after a silence of 20s$/,
    ],
    [
      'stop words of an agent that finishes',
      { interruptions: { mode: 'Never', stopWords: ['stop'] } },
      'spec.interruptions.stopWords',
      /nothing interrupts/,
    ],
    [
      'acknowledgements to an agent that finishes',
      { interruptions: { mode: 'Never', acknowledgements: ['yes'] } },
      'spec.interruptions.acknowledgements',
      /nothing interrupts/,
    ],
    [
      'keywords that the recogniser does not take',
      { speechToText: { provider: 'cartesia', keywords: ['Aare'] } },
      'spec.speechToText.keywords',
      /cartesia with the model ink-whisper$/,
    ],
    [
      'a temperature that the voice does not have',
      { textToSpeech: { provider: 'cartesia', temperature: '1' } },
      'spec.textToSpeech.temperature',
      /cartesia/,
    ],
    [
      'how long recordings are kept that there are none of',
      { recording: { mode: 'Never', retention: '24h' } },
      'spec.recording.retention',
      /not recorded/,
    ],
    [
      'a reminder that is never said',
      { call: { silenceReminder: { mode: 'Never', message: 'x' } } },
      'spec.call.silenceReminder.message',
      /never asks/,
    ],
    [
      'an example that is no choice',
      analysis({ type: 'Enum', choices: ['a'], examples: ['a', 'b'] }),
      'spec.postCallAnalysis[0].examples[1]',
      /none of the choices/,
    ],
    [
      'a canary of a pinned agent',
      { release: { pin: { revision: 'a'.repeat(64) }, canary: { percent: 10 } } },
      'spec.release.canary',
      /while pin is set/,
    ],
    ['a deadline before the end', canary({ for: '2h', deadline: '1h' }), 'spec.release.canary.deadline', /serves longer/],
  ])('is remarked on: %s', (_what, fields, path, message) => {
    expect(agentRemarks(agent(fields))).toEqual([{ path, message: expect.stringMatching(message) }]);
  });

  it('is nothing in an agent as people write it', () => {
    expect(
      remarks(
        agent({
          ...found('x', { method: 'POST', body: {} }),
          ...analysis({ type: 'Enum', choices: ['a'], examples: ['a'] }),
          ...canary({}),
        }),
      ),
    ).toEqual([]);
  });
});
