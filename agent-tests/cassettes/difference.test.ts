import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { testFolder } from '../../test/support/folders.ts';
import { Cassette, CassetteError, readCassette, type RecordedRequest } from './cassette.ts';
import { differenceFromNearest } from './difference.ts';

const tool = (name: string, description = '') => ({ type: 'function', function: { name, description } });
const request = (more: Partial<RecordedRequest> = {}, ...said: readonly string[]): RecordedRequest => ({
  provider: 'openai',
  model: 'm',
  temperature: 0,
  messages: [{ role: 'system', content: 'You sell bicycles.\nBe brief.' }, ...said.map((content) => ({ role: 'user', content }))],
  tools: [tool('find')],
  ...more,
});
const recorded = [request({}, 'hello'), request({}, 'hello', 'where is my order')].map((one) => ({
  request: one,
  answer: { stream: ['x'] },
}));
const difference = (wanted: RecordedRequest) => differenceFromNearest(wanted, recorded);

describe('a request that is not recorded', () => {
  it.each([
    [
      request({ messages: [{ role: 'system', content: 'You sell bicycles.\nBe rude.' }] }),
      /the system prompt has changed: it was "Be brief\." and is "Be rude\."/,
    ],
    [request({}, 'hello', 'where is my parcel'), /message 3 \(user\) has changed: it was "where is my order" and is "where is my parcel"/],
    [request({}, 'hello', 'where is my order', 'bye'), /message 4 \(user\) is new: "bye"/],
    [request({ temperature: 1 }, 'hello'), /temperature was 0 and is 1/],
    [request({ model: 'n' }, 'hello'), /model was "m" and is "n"/],
    [request({ tools: [tool('find', 'new'), tool('book')] }, 'hello'), /the tool find has changed; the tool book is new/],
    [request({ tools: [] }, 'hello'), /the tool find is gone/],
  ])('%# says what has changed', (wanted, message) => {
    expect(difference(wanted)).toMatch(message);
  });

  it('says where there is nothing to compare with', () => {
    expect(differenceFromNearest(request(), [])).toBe('nothing is recorded');
  });
});

describe('a cassette', () => {
  it('writes a prompt that comes again once', () => {
    const text = new Cassette({ recordedAt: 0, recordings: recorded }).toYaml('comment');
    expect(text.match(/You sell bicycles/g)).toHaveLength(1);
    expect(text).toContain('recordedAt: 1970-01-01T00:00:00.000Z');
  });

  it.each(['null', '{request: {provider: openai, model: m}}', 'text', '{request: {model: m}, answer: {refused: 400}}'])(
    'with the answer %s is refused by its place',
    async (answer) => {
      const folder = testFolder();
      const file = join(folder, 'broken.yaml');
      await writeFile(
        file,
        `format: 2\nrecordedAt: 2026-01-01T00:00:00Z\nanswers:\n  - {request: {model: m}, answer: {stream: [Hi]}}\n  - ${answer}\n`,
      );
      const failure = await readCassette(file).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(CassetteError);
      expect((failure as Error).message).toContain('answers[1]');
    },
  );
});
