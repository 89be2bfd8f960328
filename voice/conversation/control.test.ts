import { describe, expect, it } from 'vitest';

import { aTalk, begun, heard, interim, lasts, pauses, silent, speaks, understood } from '../../test/support/talk.ts';
import type { ConversationEvent } from './events.ts';

const muted = (on: boolean): ConversationEvent => ({ type: 'muted', on });
const told = (text: string, interrupt = false): ConversationEvent => ({ type: 'told', text, interrupt });

/** Returns a talk whose welcome message was heard, and whose user has asked something. */
function asked() {
  const talk = aTalk();
  talk.at(0, begun, heard(33), silent);
  talk.at(1_000, speaks(1_000));
  talk.at(2_000, pauses(900), understood('What does it cost?'));
  talk.at(3_000);
  talk.done();
  return talk;
}

describe('words of a supervisor', () => {
  it('are said after what the agent says, and stand in the transcript as its words', () => {
    const talk = asked();
    talk.says(3_100, 'Nine hundred.');
    talk.at(3_200, talk.heard(4), told('A colleague joins us.'));
    expect(talk.done()).toEqual(['say: Nine hundred.', 'sayNoMore', 'say: A colleague joins us.', 'sayNoMore']);
    talk.at(4_000, heard(21, 5));
    expect(talk.history().slice(-2)).toEqual(['agent: ', 'agent: ']);
  });

  it('take the place of what the agent says or is about to answer where they interrupt', () => {
    const speaking = asked();
    speaking.says(3_100, 'Nine hundred.');
    speaking.at(3_200, speaking.heard(4));
    speaking.done();
    speaking.at(3_300, told('Wait, please.', true));
    expect(speaking.done()).toEqual(['cancelSpeech', 'say: Wait, please.', 'sayNoMore']);
    const thinking = asked();
    thinking.at(3_100, told('Wait, please.', true));
    expect(thinking.done()).toEqual(['cancelAnswer', 'say: Wait, please.', 'sayNoMore']);
    thinking.at(4_000, thinking.heard(13), thinking.silent());
    // The model isn't asked again about what the supervisor has answered.
    expect(thinking.done()).toEqual([]);
    expect(thinking.transcript().slice(-2)).toEqual(['1000 user: What does it cost?', '4000 agent: Wait, please.']);
  });
});

describe('a muted agent', () => {
  it('is silent at once, and answers nothing of what it still hears', () => {
    const talk = asked();
    talk.says(3_100, 'Nine hundred.');
    talk.at(3_200, talk.heard(4));
    talk.done();
    talk.at(3_300, muted(true));
    expect(talk.done()).toEqual(['cancelSpeech']);
    talk.at(3_400, talk.silent(), { type: 'announced', text: 'One moment.', answers: false, agent: 'desk' }, told('Hello.'), {
      type: 'ending',
      agent: 'desk',
    });
    talk.at(4_000, speaks(4_000));
    talk.at(4_600, lasts, interim('And what else?'));
    talk.at(5_000, pauses(900), understood('And what else?'));
    talk.at(60_000);
    expect(talk.done().filter((effect) => !effect.endsWith('Playout'))).toEqual([]);
    expect(talk.transcript().slice(-2)).toEqual(['3200 agent: Nine', '4000 user: And what else?']);
    talk.at(61_000, muted(false));
    talk.at(62_000);
    expect(talk.done()).toEqual([]);
    talk.at(63_000, { type: 'turn', text: 'Are you there?' });
    expect(talk.done()).toEqual(['ask: Are you there?']);
  });

  it('gives up an answer that it is about to give, and a goodbye that nobody has heard', () => {
    const answering = asked();
    answering.at(3_100, muted(true));
    expect(answering.done()).toEqual(['cancelAnswer']);
    answering.at(4_000, muted(false));
    expect(answering.done()).toEqual([]);
    const leaving = asked();
    leaving.says(3_100, 'Goodbye.', 'end_call');
    leaving.at(3_200, { type: 'ending', agent: 'desk' });
    leaving.at(3_300, leaving.heard(2), muted(true), leaving.silent());
    leaving.at(60_000);
    expect(leaving.done()).not.toContain('end: agent_ended_call');
  });

  it('neither asks whether the user is there nor ends the call for silence', () => {
    const talk = aTalk({ silence: { endAfterMs: 10_000, reminders: [{ afterMs: 5_000, text: 'Are you there?' }] } });
    talk.at(0, begun, heard(33), silent, muted(true));
    talk.at(60_000);
    expect(talk.done()).toEqual(['say: Hello, this is Harbour Bikes.', 'sayNoMore']);
    talk.at(61_000, muted(false));
    talk.at(67_000);
    expect(talk.done()).toEqual(['say: Are you there?', 'sayNoMore']);
  });

  it('says no farewell when the call ends', () => {
    const talk = asked();
    talk.at(3_100, muted(true), { type: 'farewell', apology: 'I am sorry.' });
    expect(talk.done()).toEqual(['cancelAnswer']);
  });
});

describe('a person in place of the agent', () => {
  it('stands in the transcript and in the history on its side, which the model sees with the next request', () => {
    const talk = asked();
    talk.at(3_100, muted(true));
    talk.at(6_000, { type: 'colleague', text: ' This is Ada. ', since: 4_000 }, { type: 'colleague', text: ' ', since: 5_000 });
    expect(talk.transcript().slice(-2)).toEqual(['1000 user: What does it cost?', '4000 agent: This is Ada.']);
    talk.at(7_000, muted(false));
    talk.done();
    talk.at(8_000, { type: 'turn', text: 'Thanks.' });
    expect(talk.done()).toEqual(['ask: Thanks.']);
    expect(talk.history().slice(-3)).toEqual(['user: What does it cost?', 'agent: This is Ada.', 'user: Thanks.']);
  });

  it('is placed after what was said before, also where it is heard late', () => {
    const talk = asked();
    talk.at(3_100, muted(true));
    talk.at(5_000, { type: 'turn', text: 'Hello?' });
    talk.at(6_000, { type: 'colleague', text: 'This is Ada.', since: 4_000 });
    expect(talk.times()).toEqual(talk.times().toSorted((one, other) => one - other));
  });
});
