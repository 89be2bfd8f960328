import { Writable } from 'node:stream';

import { expect, it } from 'vitest';

import type { CallView } from './call-api.ts';
import { jsonReporter, quietReporter, textReporter } from './reporter.ts';

function stream(isTTY = false) {
  let text = '';
  const writable = new Writable({
    write(chunk: Buffer, _encoding, done) {
      text += chunk.toString();
      done();
    },
  });
  return Object.assign(writable, { isTTY, columns: 40, read: () => text });
}

const turn = { eou: 510, stt: 120, llm_ttft: 90, tts_ttfb: 75, v2v: 1_240 };
const call: CallView = {
  _id: 'call_1',
  ai_agent_name: 'Receptionist',
  call_status: 'ended',
  call_finish_reason: 'user_ended_call',
  call_duration_seconds: 7.25,
  messages: [],
  turns: [turn, { ...turn, v2v: null }],
};
const said = { id: 'a', role: 'agent', text: 'Good morning.', final: true } as const;

it('separates the transcript from other events', () => {
  const [out, err] = [stream(), stream()];
  const reporter = textReporter({ out, err });
  reporter.called({ id: 'call_1', agentName: 'Receptionist' });
  reporter.line({ ...said, text: 'Good', final: false });
  reporter.line(said);
  reporter.line({ id: 'u', role: 'user', text: ' A table,\n please. ', final: true });
  reporter.result({ call, recording: '/tmp/call_1.ogg' });
  expect(err.read()).toBe('call call_1 to Receptionist\n');
  expect(out.read()).toBe(
    [
      'agent  Good morning.',
      'you    A table, please.',
      '',
      'ANSWER   END OF TURN   SPEECH TO TEXT   FIRST TOKEN   FIRST AUDIO   VOICE TO VOICE',
      '1        510 ms        120 ms           90 ms         75 ms         1.2 s',
      '2        510 ms        120 ms           90 ms         75 ms         –',
      'median   510 ms        120 ms           90 ms         75 ms         1.2 s',
      '',
      'call_1 ended: user_ended_call after 7.3 s',
      'recording: /tmp/call_1.ogg',
      '',
    ].join('\n'),
  );
});

it('a line grows on a terminal, within its width, and is written once', () => {
  const out = stream(true);
  const reporter = textReporter({ out, err: stream() });
  reporter.line({ ...said, text: 'word '.repeat(20), final: false });
  expect(out.read()).toHaveLength(39);
  reporter.line(said);
  expect(out.read().split('\u001B[2K').at(-1)).toBe('agent  Good morning.\n');
});

it('scripts get one object a line', () => {
  const out = stream();
  const reporter = jsonReporter({ out, err: stream() }, () => 0);
  reporter.line(said);
  reporter.result({ call, recording: undefined });
  const [first, second] = out
    .read()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as object);
  expect(first).toEqual({ type: 'transcript', at: '1970-01-01T00:00:00.000Z', ...said });
  expect(second).toMatchObject({ type: 'result', status: 'ended', reason: 'user_ended_call', duration_seconds: 7.25, recording: null });
});

it('who wants quiet gets the outcome', () => {
  const out = stream();
  const reporter = quietReporter({ out, err: stream() });
  reporter.note('x');
  reporter.line(said);
  reporter.result({
    call: { _id: call._id, ai_agent_name: 'Receptionist', call_status: 'ongoing', messages: [], turns: [] },
    recording: undefined,
  });
  expect(out.read()).toBe('call_1 ongoing\n');
});
