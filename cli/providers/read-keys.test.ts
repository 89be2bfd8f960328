import { expect, it } from 'vitest';

import { forgetKeys, readKeys } from './read-keys.ts';

const valuesOf = async (...args: Parameters<typeof readKeys>) =>
  Object.fromEntries([...(await readKeys(...args))].map(([name, { value, from }]) => [name, `${value} of ${from}`]));

it("takes keys from the variables of the providers' own libraries, and asks for the others", async () => {
  const questions: string[] = [];
  const ask = async (question: string): Promise<string> => {
    questions.push(question);
    return ' typed\n';
  };
  const env = { OPENAI_API_KEY: ' sk-1\n', GOOGLE_API_KEY: 'g', GEMINI_API_KEY: '', DEEPGRAM_API_KEY: '  ' };
  expect(await valuesOf(['openai', 'google', 'deepgram', 'ollama', 'openai_compatible'], { env, ask })).toEqual({
    openai: 'sk-1 of OPENAI_API_KEY',
    google: 'g of GOOGLE_API_KEY',
    deepgram: 'typed of what was typed',
  });
  expect(questions).toEqual(['Key of Deepgram (console.deepgram.com), not shown while you type: ']);
});

it('says which variables are missing where nobody can be asked', async () => {
  await expect(readKeys(['openai', 'elevenlabs', 'ollama'], { env: {}, ask: undefined })).rejects.toMatchObject({
    message: expect.stringContaining('OpenAI, ElevenLabs'),
    cure: 'set OPENAI_API_KEY, ELEVENLABS_API_KEY, or run the command in a terminal',
  });
});

it('refuses what no header can carry, without showing it', async () => {
  for (const text of ['sk one two', 'sk-“quoted”', 'sk\u0000'])
    await expect(readKeys(['openai'], { env: { OPENAI_API_KEY: text }, ask: undefined })).rejects.toMatchObject({
      message: 'the key in OPENAI_API_KEY has spaces or letters that no key has',
    });
  await expect(readKeys(['openai'], { env: {}, ask: async () => '' })).rejects.toThrow('no key of OpenAI was typed');
});

it('forgets every key that no variable of Parley names', () => {
  const env: Record<string, string | undefined> = {
    OPENAI_API_KEY: 'a',
    GOOGLE_API_KEY: 'b',
    DEEPGRAM_API_KEY: 'c',
    PATH: '/bin',
    PARLEY_PROVIDERS: '[{"name": "openai", "apiKeyEnv": "OPENAI_API_KEY"}]',
  };
  forgetKeys(env);
  expect(Object.keys(env)).toEqual(['OPENAI_API_KEY', 'PATH', 'PARLEY_PROVIDERS']);
});
