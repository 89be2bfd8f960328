import { describe, expect, it } from 'vitest';

import { aTalk, begun, heard, interim, lasts, pauses, silent, speaks, understood } from '../../test/support/talk.ts';
import type { ConversationSettings } from './state.ts';

/** Starts a conversation in which the agent says its welcome message, and the user has heard "Hello". */
function greeted(change: Partial<ConversationSettings> = {}) {
  const talk = aTalk(change);
  talk.at(0, begun);
  talk.at(400, heard(5));
  talk.done();
  return talk;
}

/** Starts a conversation in which the agent has said all of its welcome message. */
function waiting(change: Partial<ConversationSettings> = {}) {
  const talk = greeted(change);
  talk.at(900, heard(29), silent);
  return talk;
}

describe('sound while the agent speaks', () => {
  it('moves nothing where it is short, whatever silence follows', () => {
    const talk = greeted();
    talk.at(1_050, speaks(1_000));
    talk.at(1_700, pauses(450));
    talk.at(2_000, understood(''));
    talk.at(10_000);
    expect(talk.done()).toEqual([]);
  });

  it('pauses the agent where it is long, which goes on after two seconds without words', () => {
    const talk = greeted();
    talk.at(1_050, speaks(1_000));
    talk.at(1_500);
    expect(talk.done()).toEqual([]);
    talk.at(1_520, lasts);
    expect(talk.done()).toEqual(['pausePlayout']);
    talk.at(2_000, pauses(900));
    talk.at(3_999);
    expect(talk.done()).toEqual([]);
    talk.at(4_000);
    expect(talk.done()).toEqual(['resumePlayout']);
  });

  it('that shows that somebody listens pauses nothing once that is known, and then no longer', () => {
    const known = greeted();
    known.at(1_050, speaks(1_000));
    known.at(1_300, interim('uh-huh'));
    known.at(1_520, lasts);
    known.at(2_000, pauses(900), understood('Uh-huh.'));
    expect(known.done()).toEqual([]);
    const late = greeted();
    late.at(1_050, speaks(1_000));
    late.at(1_520, lasts);
    late.at(2_000, pauses(900));
    late.at(2_300, understood('Okay, right.'));
    expect(late.done()).toEqual(['pausePlayout', 'resumePlayout']);
  });

  it('is an interruption with words: what was heard stays, and the turn is answered', () => {
    const talk = greeted();
    talk.at(1_050, speaks(1_000));
    talk.at(1_520, lasts);
    talk.at(2_000, pauses(900));
    talk.at(2_300, understood('I have a question.'));
    talk.at(2_500);
    expect(talk.done()).toEqual(['pausePlayout', 'cancelSpeech', 'resumePlayout']);
    talk.at(2_520, silent);
    expect(talk.done()).toEqual(['ask: I have a question.']);
    expect(talk.history()).toEqual(['agent: Hello', 'user: I have a question.']);
  });

  it('is one, too, where its words are known when the user has gone on, and two coughs are none', () => {
    const talk = greeted();
    talk.at(1_050, speaks(1_000));
    talk.at(1_520, lasts);
    talk.at(1_860, pauses(600));
    talk.at(2_100, speaks(2_050));
    talk.at(2_200, understood('I have'));
    talk.at(3_000, pauses(700));
    talk.at(3_300, understood('two questions.'));
    talk.at(4_000);
    expect(talk.history().at(-1)).toBe('user: I have two questions.');
    const coughing = greeted();
    coughing.at(1_050, speaks(1_000));
    coughing.at(1_500, pauses(300));
    coughing.at(1_700, speaks(1_650));
    coughing.at(1_950, understood('Ah.'));
    coughing.at(2_200, pauses(300), understood('Ah no.'));
    expect(coughing.done()).toEqual([]);
  });

  it('needs as many words as the agent asks for, and stops it when they are there', () => {
    const talk = greeted({ interruptions: { enabled: true, minSpeechMs: 500, minWords: 2 } });
    talk.at(1_050, speaks(1_000));
    talk.at(1_520, lasts);
    talk.at(1_800, interim('wait'));
    expect(talk.done()).toEqual([]);
    talk.at(1_900, interim('wait please'));
    expect(talk.done()).toEqual(['pausePlayout']);
  });

  it('stops the agent when it is long enough, where the words were there before', () => {
    const talk = greeted({ interruptions: { enabled: true, minSpeechMs: 500, minWords: 2 } });
    talk.at(1_050, speaks(1_000));
    talk.at(1_300, interim('stop please'));
    expect(talk.done()).toEqual([]);
    talk.at(1_520, lasts);
    expect(talk.done()).toEqual(['pausePlayout']);
  });

  it('is not heard where the agent can not be interrupted', () => {
    const talk = greeted({ interruptions: { enabled: false, minSpeechMs: 500, minWords: 0 } });
    talk.at(1_050, speaks(1_000));
    talk.at(1_520, lasts);
    talk.at(2_000, pauses(900), understood('I have a question.'));
    talk.at(9_000, heard(29), silent);
    expect([talk.done(), talk.history()]).toEqual([[], ['agent: Hello, this is Harbour Bikes.']]);
  });
});

describe('the turn of the user', () => {
  it('is answered early, and the answer is said when the silence was long enough', () => {
    const talk = waiting();
    talk.at(2_050, speaks(2_000));
    talk.at(2_520, lasts);
    talk.at(3_000, pauses(900));
    talk.at(3_100, understood('Are you open?'));
    expect(talk.done()).toEqual(['pausePlayout', 'ask: Are you open?']);
    talk.says(3_200, 'Yes.');
    expect(talk.done()).toEqual([]);
    talk.at(3_400);
    expect(talk.done()).toEqual(['say: Yes.', 'sayNoMore', 'resumePlayout']);
  });

  it('goes on after a pause: one answer, to all of it', () => {
    const talk = waiting();
    talk.at(2_050, speaks(2_000));
    talk.at(2_400, pauses(350), understood('Are you'));
    talk.at(2_600, speaks(2_550));
    talk.at(2_900, pauses(300), understood('open today?'));
    talk.at(3_400);
    expect(talk.done()).toEqual(['ask: Are you', 'cancelAnswer', 'ask: Are you open today?']);
    expect(talk.history().at(-1)).toBe('user: Are you open today?');
  });

  it('waits for the end-of-turn detector, and for words that are being recognised', () => {
    const talk = waiting();
    talk.at(2_050, speaks(2_000));
    talk.at(2_400, pauses(350));
    talk.at(2_500, { type: 'turnEnds', afterMs: 2_000 }, understood('My number is'));
    talk.at(4_300);
    expect(talk.history()).toHaveLength(1);
    talk.at(4_350);
    expect(talk.history().at(-1)).toBe('user: My number is');
  });

  it('has the words as they are known where their last version does not come in five seconds', () => {
    const talk = waiting();
    talk.at(2_050, speaks(2_000));
    talk.at(2_300, interim('cancel my order'));
    talk.at(2_400, pauses(350));
    talk.at(7_400);
    expect(talk.history().at(-1)).toBe('user: cancel my order');
    talk.at(8_000, understood('Cancel my order, please.'));
    expect(talk.history().at(-1)).toBe('user: please.');
  });

  it('begins no earlier than what was written before it, however late its sound is noticed', () => {
    const talk = waiting();
    talk.at(2_000, { type: 'turn', text: '[pressed 1]' });
    talk.at(2_050, speaks(1_990));
    talk.at(2_600, pauses(500), understood('Hello?'));
    talk.at(3_200);
    expect(talk.times().slice(-2)).toEqual([2_000, 2_000]);
  });

  it('does not begin with a noise: it neither delays an answer nor gives it its time', () => {
    const talk = waiting();
    talk.at(2_000, { type: 'turn', text: 'Are you open?' });
    talk.at(2_150, speaks(2_100));
    talk.at(2_600, pauses(450));
    talk.at(2_700, understood(''));
    talk.says(2_700, 'Yes.');
    expect(talk.done()).toEqual(['ask: Are you open?', 'say: Yes.', 'sayNoMore']);
  });
});

describe('an interruption', () => {
  it('of as many words as it takes happens when the sound is long enough, also where the words came before', () => {
    const talk = greeted({ interruptions: { enabled: true, minSpeechMs: 500, minWords: 3 } });
    talk.at(1_050, speaks(1_000));
    talk.at(1_350, interim('please stop that'));
    expect(talk.done()).toEqual([]);
    talk.at(1_520, lasts);
    expect(talk.done()).toEqual(['pausePlayout']);
    talk.at(3_600, pauses(2_500));
    talk.at(5_600, understood('please stop that'));
    talk.at(5_700, silent);
    expect(talk.history().at(-1)).toBe('user: please stop that');
  });
});

describe('words that are known when the next ones are being said', () => {
  /** Makes a sound of this length, and another one in which the words of the first are understood. */
  const interrupted = (ms: number) => {
    const talk = greeted();
    talk.at(1_000 + ms + 250, speaks(1_000), ...(ms >= 500 ? [lasts] : []), pauses(ms));
    talk.at(1_000 + ms + 500, speaks(1_000 + ms + 450));
    talk.at(1_000 + ms + 600, understood('I have'));
    talk.at(1_000 + ms + 1_600, pauses(900), understood('two questions'));
    talk.at(1_000 + ms + 2_600, silent);
    return talk.history().at(-1);
  };

  it('count by the length of their own sound', () => {
    expect(interrupted(900)).toBe('user: I have two questions');
    expect(interrupted(300)).toBe('user: two questions');
  });
});

describe('a noise', () => {
  it('of which nobody says that it had no words keeps no place for what the user says after the agent', () => {
    const talk = waiting();
    talk.at(2_000, { type: 'turn', text: 'Are you open?' });
    talk.at(2_150, speaks(2_100));
    talk.at(2_600, pauses(450));
    talk.says(2_700, 'Yes, we are.');
    talk.at(3_000, talk.heard(4));
    // The word says no more than that somebody listens.
    talk.at(3_550, speaks(3_500));
    talk.at(4_000, pauses(400), understood('uh-huh'));
    talk.at(4_500, talk.heard(12), talk.silent());
    talk.at(5_050, speaks(5_000));
    talk.at(6_000, pauses(900), understood('And tomorrow?'));
    talk.at(7_000);
    expect(talk.transcript()).toEqual([
      '400 agent: Hello, this is Harbour Bikes.',
      '2000 user: Are you open?',
      '3000 agent: Yes, we are.',
      '5000 user: And tomorrow?',
    ]);
  });
});

describe('an apology', () => {
  const deaf = { type: 'deaf', failure: { part: 'stt', kind: 'unreachable', provider: 'some' } } as const;
  const farewell = { type: 'farewell', apology: 'I am sorry.' } as const;

  it('is said at once, also where speech to text fails while the user speaks', () => {
    const talk = waiting();
    talk.at(2_050, speaks(2_000));
    talk.at(2_500, lasts, interim('I would like'));
    talk.at(3_000, deaf, farewell);
    expect(talk.done()).toEqual(['pausePlayout', 'end: speech_recognition_error', 'resumePlayout', 'say: I am sorry.', 'sayNoMore']);
  });

  it('comes after what there is of an answer', () => {
    const talk = waiting();
    talk.at(2_000, { type: 'turn', text: 'Are you open?' });
    talk.done();
    talk.at(2_100, { type: 'words', answer: 'answer-5', text: 'Yes, we are. And ' }, deaf, farewell);
    expect(talk.done()).toEqual([
      'say: Yes, we are. And ',
      'cancelAnswer',
      'sayNoMore',
      'end: speech_recognition_error',
      'say: I am sorry.',
      'sayNoMore',
    ]);
  });

  it('is not held up by what the user says', () => {
    const talk = waiting();
    talk.at(2_000, deaf, farewell);
    talk.done();
    talk.at(2_150, speaks(2_100));
    talk.at(2_600, lasts);
    expect(talk.done()).toEqual([]);
  });
});

describe('a silence', () => {
  const silence = { endAfterMs: 10_000, reminders: [{ afterMs: 5_000, text: 'Are you still there?' }] };

  it('is broken once by a question, and then ends the call', () => {
    const talk = waiting({ silence });
    talk.at(5_899);
    expect(talk.done()).toEqual([]);
    talk.at(5_900);
    expect(talk.done()).toEqual(['say: Are you still there?', 'sayNoMore']);
    talk.at(6_900, { type: 'heard', speech: 3, characters: 20 }, { type: 'silent', speech: 3 });
    talk.at(11_900);
    expect(talk.done()).toEqual(['end: inactivity_timeout']);
  });

  it('is broken by each of several, whose own time is none of it, and by the first again after a sound of the user', () => {
    const reminders = [
      { afterMs: 2_000, text: 'One.' },
      { afterMs: 5_000, text: 'Two.' },
    ];
    const talk = waiting({ silence: { endAfterMs: 6_000, reminders } });
    const from = 900;
    talk.at(from + 2_000);
    expect(talk.done()).toEqual(['say: One.', 'sayNoMore']);
    talk.at(from + 4_000, { type: 'heard', speech: 3, characters: 4 }, { type: 'silent', speech: 3 });
    talk.at(from + 6_999);
    expect(talk.done()).toEqual([]);
    talk.at(from + 7_000);
    expect(talk.done()).toEqual(['say: Two.', 'sayNoMore']);
    talk.at(from + 8_000, { type: 'heard', speech: 5, characters: 4 }, { type: 'silent', speech: 5 });
    talk.at(from + 8_500, { type: 'key' });
    talk.at(from + 10_499);
    expect(talk.done()).toEqual([]);
    talk.at(from + 10_500);
    expect(talk.done()).toEqual(['say: One.', 'sayNoMore']);
  });

  it('begins anew with every sound of the user', () => {
    const talk = waiting({ silence: { ...silence, reminders: [] } });
    talk.at(10_000, speaks(9_950));
    talk.at(10_300, pauses(300), understood(''));
    talk.at(20_299);
    expect(talk.done()).toEqual([]);
    talk.at(20_300);
    expect(talk.done()).toEqual(['end: inactivity_timeout']);
  });
});
