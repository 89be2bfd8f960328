import { describe, expect, it } from 'vitest';

import { describeSwitched } from './use-providers.ts';

type Spec = Parameters<typeof describeSwitched>[0];

const robot = {
  llm: { provider: 'openai', model: 'gpt-4o-mini' },
  speechToText: { provider: 'deepgram' },
  textToSpeech: { provider: 'elevenlabs' },
};
const real = { provider: 'openai', baseURL: 'https://api.openai.com/v1' };
const shown = (spec: object): string =>
  describeSwitched({ ...robot, ...spec } as Spec, { PARLEY_CALL_URL: 'http://127.0.0.1:1/call#key=k', PARLEY_BIN: '/x/bin' });

describe('what is said after a switch', () => {
  it('names the parts that are still offline, and proposes what works with the rest', () => {
    const text = shown({ llm: { ...real, model: 'gpt-4o' } });
    expect(text).toMatch(/language model +openai gpt-4o\n +speech to text +offline: .*\n +text to speech +offline: /);
    expect(text).toContain('The robot understands about fifty phrases');
    expect(text).toContain('parley chat receptionist');
    expect(text).toContain('http://127.0.0.1:1/call#key=k&agent=receptionist');
    expect(text).toContain('Back to the robot: parley dev --provider offline');
  });

  it('proposes no chat while the language model is offline: without the stack nothing takes its place', () => {
    const text = shown({ speechToText: real, textToSpeech: real });
    expect(text).toMatch(/language model +offline/);
    expect(text).not.toContain('parley chat');
    expect(text).toContain('--provider offline');
  });

  it('names no way back from the robot itself', () => {
    const text = shown({});
    expect(text.match(/offline/g)).toHaveLength(3);
    expect(text).not.toMatch(/Back to the robot|parley chat/);
  });
});
