import { describe, expect, it } from 'vitest';

import { aTalk, begun, pauses, speaks, understood } from '../../test/support/talk.ts';
import type { ConversationSettings } from './state.ts';

const record = { name: 'end_call', arguments: {}, result: 'null', failed: false, beganAt: new Date(0), durationMs: 1 };

/** Starts a conversation in which the user has asked for something and the agent is saying "Goodbye then!". */
function leaving(change: Partial<ConversationSettings> = {}) {
  const talk = aTalk({ welcome: undefined, ...change });
  talk.at(0, begun, { type: 'turn', text: 'That is all.' });
  talk.says(100, 'Goodbye then!', 'end_call');
  talk.at(200, { type: 'ending', agent: 'desk' }, { type: 'ran', callId: 'end_call', output: undefined, record });
  talk.at(300, talk.heard(4));
  talk.done();
  return talk;
}

describe('a goodbye', () => {
  it('is heard to its end, and then the call is over', () => {
    const talk = leaving();
    talk.at(1_000, talk.heard(13));
    expect(talk.done()).toEqual([]);
    talk.at(1_100, talk.silent());
    expect(talk.done()).toEqual(['end: agent_ended_call']);
  });

  it('is called off by what the user says in it, which is answered', () => {
    const talk = leaving();
    talk.at(500, speaks(450));
    talk.at(1_300, pauses(700), understood('wait, one more question'));
    talk.at(2_000, talk.silent());
    expect(talk.done()).toEqual(['pausePlayout', 'cancelSpeech', 'resumePlayout', 'ask: wait, one more question']);
    expect(talk.history()).toEqual(['user: That is all.', 'agent: Good', 'call', 'user: wait, one more question']);
  });

  it('is called off by what the user says right after it', () => {
    const talk = leaving();
    talk.at(900, speaks(850));
    talk.at(1_000, talk.heard(13), talk.silent());
    expect(talk.done()).toEqual([]);
    talk.at(1_500, pauses(500), understood('wait'));
    talk.at(2_500);
    expect(talk.done()).toEqual(['ask: wait']);
  });

  it('is not called off by a noise', () => {
    const talk = leaving();
    talk.at(900, speaks(850));
    talk.at(1_000, talk.heard(13), talk.silent());
    talk.at(1_200, pauses(100), understood(''));
    expect(talk.done()).toEqual(['end: agent_ended_call']);
  });

  it('is called off once', () => {
    const talk = leaving();
    talk.at(500, { type: 'turn', text: 'wait' }, talk.silent());
    talk.says(600, 'Yes? Goodbye again!', 'end_call');
    talk.at(700, { type: 'ending', agent: 'desk' }, { type: 'ran', callId: 'end_call', output: undefined, record });
    talk.done();
    talk.at(800, { type: 'turn', text: 'wait' }, talk.silent());
    expect(talk.done()).toEqual(['cancelSpeech', 'end: agent_ended_call']);
  });

  it('that nobody may interrupt is answered when it is over', () => {
    const talk = leaving({ interruptions: { enabled: false, minSpeechMs: 500, minWords: 0 } });
    talk.at(500, { type: 'turn', text: 'wait' });
    expect(talk.done()).toEqual([]);
    talk.at(1_000, talk.heard(13), talk.silent());
    expect(talk.done()).toEqual(['ask: wait']);
  });

  it('takes no longer than twenty seconds', () => {
    const talk = leaving();
    talk.at(20_199);
    expect(talk.done()).toEqual([]);
    talk.at(20_200);
    expect(talk.done()).toEqual(['end: agent_ended_call']);
  });
});

describe('a provider of speech that works no more', () => {
  it.each([
    ['deaf', 'stt', 'speech_recognition_error'],
    ['mute', 'tts', 'native_platform_internal_error'],
  ] as const)('leaves the agent %s, and ends the call after what it has of its answer', (type, part, reason) => {
    const talk = aTalk({ welcome: undefined });
    talk.at(0, begun, { type: 'turn', text: 'Are you open?' });
    talk.at(50, { type: 'words', answer: talk.asked(), text: 'We are' });
    talk.done();
    const lost = { type, failure: { part, kind: 'unreachable', provider: 'openai' } } as const;
    talk.at(100, lost, lost);
    expect(talk.done()).toEqual(['cancelAnswer', 'sayNoMore', `end: ${reason}`]);
    talk.at(200, { type: 'turn', text: 'Hello?' });
    expect(talk.done()).not.toContain('ask: Hello?');
  });
});

describe('while it is not known whether a person listens', () => {
  it('a machine gets the message to its end, and no welcome, answer or apology', () => {
    const talk = aTalk();
    talk.at(0, { type: 'screening' }, begun, { type: 'turn', text: 'Leave a message after the tone.' });
    talk.at(5_000, { type: 'message', text: 'Please call us back.' });
    expect(talk.done()).toEqual(['say: Please call us back.', 'sayNoMore']);
    talk.at(6_000, speaks(6_000), { type: 'lasts' });
    talk.at(8_000, pauses(2_000), understood('to send your message press one'));
    talk.at(60_000, talk.heard(20), talk.silent());
    talk.at(90_000, { type: 'farewell', apology: 'I am sorry.' });
    expect(talk.done()).toEqual([]);
  });

  it('nothing is said, and then the welcome message and the answer', () => {
    const talk = aTalk();
    talk.at(0, { type: 'screening' }, begun, { type: 'turn', text: 'Who is calling?' });
    talk.at(10_000);
    expect(talk.done()).toEqual([]);
    talk.at(10_100, { type: 'screened' });
    expect(talk.done()).toEqual(['say: Hello, this is Harbour Bikes.', 'sayNoMore', 'ask: Who is calling?']);
  });
});
